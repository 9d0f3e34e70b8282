"""Hive Mind in text, for people and language models."""

from protocol.games import hive_mind as words
from protocol.games.hive_mind import drawing, notation, rules_page
from protocol.text import Drawing, GameText

TEXT = GameText(
    actions={
        "round": words.Round,
        "scores": words.Scores,
        "give_token": words.GiveToken,
        "break_tie": words.BreakTie,
    },
    view=words.HiveMindView,
    event=words.HiveMindEvent,
    drawing=Drawing(drawing.board, drawing.words),
    read=notation.read,
    ask=notation.ask,
    say=notation.say,
    words=notation.words,
    forms=notation.forms,
    examples=notation.examples,
    if_nothing=notation.if_nothing,
    rules=rules_page.page,
    fields=rules_page.fields,
)
