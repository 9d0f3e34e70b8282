"""Plays Runes to Ruins by keeping symbols that fit all answers, and asking what splits them best.

It goes after one seat at a time. Of all symbols that fit what it was told of that seat it draws some hundreds, and
spends its insight on the vision `pattern`, in each position on the group that divides them most evenly, then on
cheaper questions; beliefs that it may check for little mantra come on top. Each round it guesses the symbol that
it drew most often. Its own symbol is drawn: nothing about it can be foreseen.
"""

from collections import Counter

from bots.kit import Window, run
from bots.runes_clues import clues
from bots.runes_questions import asked, believed, target_of, vote_of
from bots.runes_symbols import fitting
from protocol.games.runes import NAMES
from protocol.games.runes_to_ruins import ChooseSymbol, PlayRound, RunesView

WALKS, STEPS = 5, 900


def decide(window: Window[RunesView]) -> ChooseSymbol | PlayRound | None:
    """Questions, beliefs and a guess about one seat."""
    view, luck = window.view, window.luck
    if window.name == "symbol":
        return None
    vote = vote_of(view)
    target = target_of(view)
    if target is None:
        return PlayRound(votes=vote)
    drawn = fitting(clues(view, target), luck, walks=WALKS, steps=STEPS)
    insight = view.insight or 0
    visions, spent = asked(view, target, drawn, insight)
    return PlayRound(
        votes=vote,
        visions=visions,
        learned=tuple(believed(view, target, drawn, spare=insight - spent > 0)),
        guesses=(tuple(NAMES[rune] for rune in Counter(drawn).most_common(1)[0][0]),),
    )


if __name__ == "__main__":
    run(decide)
