"""The Fight For a Name in text, for people and language models."""

from protocol.games import fight_for_a_name as words
from protocol.games.fight_for_a_name import drawing, notation, rules_page
from protocol.text import Drawing, GameText

TEXT = GameText(
    actions={
        "challenge": words.Pick,
        "move": words.Move,
        "pillar": words.Ask,
        "token_vote": words.Vote,
        "elimination_vote": words.Vote,
        "justice": words.Vote,
    },
    view=words.FightView,
    event=words.FightEvent,
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
