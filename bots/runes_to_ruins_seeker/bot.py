"""Plays Runes to Ruins by drawing symbols that fit all answers, and asking the questions that divide them best.

It investigates one seat at a time. From all symbols that fit the answers about that seat it draws some hundreds.
It spends its insight on the vision `pattern`, in each position on the group that divides them most evenly, then on
cheaper questions, and adds beliefs that cost little mantra to check. Each round it guesses the symbol that it drew
most often. Its own symbol is random, so that it cannot be predicted.
"""

from collections import Counter

from bots.kit import Window, run
from bots.runes_to_ruins import asked, believed, clues, fitting, target_of, vote_of
from protocol.games.runes_to_ruins import ChooseSymbol, PlayRound, RunesView
from protocol.games.runes_to_ruins.runes import NAMES

WALKS, STEPS = 5, 900


def decide(window: Window[RunesView]) -> ChooseSymbol | PlayRound | None:
    """Return questions, beliefs and a guess about one seat."""
    view, rng = window.view, window.rng
    if window.name == "symbol":
        return None
    vote = vote_of(view)
    target = target_of(view)
    if target is None:
        return PlayRound(votes=vote)
    drawn = fitting(clues(view, target), rng, walks=WALKS, steps=STEPS)
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
