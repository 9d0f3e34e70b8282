"""Pointing in text, for people and language models."""

from protocol.games import pointing as words
from protocol.games.pointing import drawing, notation, rules_page
from protocol.text import Drawing, GameText

TEXT = GameText(
    actions={"point": words.Point, "vote": words.Vote},
    view=words.PointingView,
    event=words.PointingEvent,
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
