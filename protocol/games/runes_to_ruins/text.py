"""Runes to Ruins in text, for people and language models."""

from protocol.games import runes_to_ruins as words
from protocol.games.runes_to_ruins import drawing, notation, rules_page
from protocol.text import Drawing, GameText

TEXT = GameText(
    actions={"symbol": words.ChooseSymbol, "round": words.PlayRound},
    view=words.RunesView,
    event=words.RunesEvent,
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
