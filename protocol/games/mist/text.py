"""Mist in text, for people and language models."""

from protocol.games import mist as words
from protocol.games.mist import drawing, notation, rules_page
from protocol.text import Drawing, GameText

TEXT = GameText(
    actions={"first": words.ChooseFirst, "turn": words.Turn},
    view=words.MistView,
    event=words.MistEvent,
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
