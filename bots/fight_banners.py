"""Possible banners in The Fight For a Name: for each title the pairs of colours that fit the answers of visits.

A pair is (body, parting). The fact that every colour is the body of two titles and the parting of two is not used.
"""

from itertools import permutations

from protocol.games.fight_board import COLOURS
from protocol.games.fight_for_a_name import Colour, FightView, Visit

Pairs = tuple[tuple[Colour, Colour], ...]
ALL: Pairs = tuple(permutations(COLOURS, 2))
NEED = {"body": 1, "parting": 2}
"""Number of hexes of each colour that a banner needs."""


def pairs_left(view: FightView) -> dict[str, Pairs]:
    """Return the pairs that fit all answers, by title; titles without an answer are absent."""
    left: dict[str, Pairs] = {}
    for visit in view.visits:
        if visit.asked is not None and visit.answer is not None:
            _narrow(left, visit)
    return left


def _narrow(left: dict[str, Pairs], visit: Visit) -> None:
    asked, answer = visit.asked, visit.answer
    assert asked is not None  # noqa: S101 - `pairs_left` checks this
    assert answer is not None  # noqa: S101
    title, colour = asked.body
    left[title] = tuple(p for p in left.get(title, ALL) if (p[0] == colour) is answer.body)
    title, colour = asked.parting
    left[title] = tuple(p for p in left.get(title, ALL) if (p[1] == colour) is answer.parting)
    title, _ = asked.other
    left[title] = tuple(p for p in left.get(title, ALL) if answer.other not in p)
    for title in asked.neither:
        left[title] = tuple(p for p in left.get(title, ALL) if not set(answer.neither) & set(p))


def likeliest(pairs: Pairs, part: int) -> Colour:
    """Return the colour that most of the pairs have as body (0) or parting (1)."""
    return max(COLOURS, key=lambda colour: sum(pair[part] == colour for pair in pairs))
