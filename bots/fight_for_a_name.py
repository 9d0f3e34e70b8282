"""Choices that bots of The Fight For a Name share: all except moves, and the distance to a banner.

They rest on the possible banners: for each title the pairs of colours (body, parting) that fit the answers of
visits. The fact that every colour is the body of two titles and the parting of two is not used.
"""

from collections import Counter
from collections.abc import Callable, Collection
from itertools import combinations, permutations
from random import Random

from bots.kit import Window
from protocol.games.fight_for_a_name import Ask, Colour, FightView, Move, Pick, Title, Visit, Vote
from protocol.games.fight_for_a_name.board import COLOURS, START, Path, visits
from protocol.words import Action

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


CRESTS_WANTED = 3
PROGRESS = (1.0, 0.33, 0.1, 0.0)
"""Value of a banner, by the number of its missing hexes."""
STEP_COST = 0.004
START_WORTH = 0.02
PILLAR_MP = 4
"""Movement points from Start to a pillar."""


def decided(window: Window[FightView], moved: Callable[[Window[FightView]], Path]) -> Action:
    """Return the action for any window; `moved` returns the path of a move without a title."""
    view = window.view
    match window.name:
        case "challenge":
            return Pick(pick=solution(view.numbers, view.target))
        case "move":
            return given(view) if view.title is not None else Move(path=moved(window))
        case "pillar":
            return questions(view)
        case _:
            others = [seat for seat in view.candidates or () if seat != view.seat]
            return Vote(seat=window.rng.choice(others) if others else None)


def way_to_pillar(view: FightView, rng: Random) -> Path | None:
    """Return the shortest way to a pillar, () to wait for one, or None if no more crests are wanted."""
    if not wants_crest(view):
        return None
    position, mp = view.position or START, view.mp or 0
    visited = {visit.pillar for visit in view.visits}
    ways = sorted(visits(position, mp, visited), key=lambda way: (len(way[1]), rng.random()))
    if ways:
        return ways[0][1]
    return () if position == START and mp < PILLAR_MP else None


def solution(numbers: Collection[int], target: int) -> tuple[int, ...]:
    """Return positions of numbers that add up to the target; () if there are none."""
    values = list(numbers)
    for size in range(1, len(values) + 1):
        for pick in combinations(range(len(values)), size):
            if sum(values[at] for at in pick) == target:
                return pick
    return ()


def given(view: FightView) -> Move:
    """Return a gift of one MP to a seat on the board, which costs a seat with a title nothing."""
    seats = [seat for seat in view.positions if int(seat) != view.barred]
    return Move(give={seats[view.round % len(seats)]: 1}) if seats else Move()


def wants_crest(view: FightView) -> bool:
    """Return True if one more crest is wanted and enough rounds are left to use it."""
    open_crests = [title for title in view.crests if title not in view.claims]
    return len(open_crests) < CRESTS_WANTED and view.round <= view.rounds // 2 + 1


def missing(pair: tuple[str, str], colours: Counter[str]) -> int:
    """Return the number of hexes that a banner of these colours lacks."""
    return sum(max(0, need - colours[colour]) for colour, need in zip(pair, NEED.values(), strict=True))


def questions(view: FightView) -> Ask:
    """Take the best-known new crest, and ask about the others, own crests first, with likely colours."""
    titles = view.visits[-1].titles
    left = pairs_left(view)
    taken = {*view.crests, *view.claims}
    fresh: list[Title] = [title for title in titles if title not in taken] or list(titles)
    crest = min(fresh, key=lambda title: len(left.get(title, ALL)))
    others: list[Title] = [title for title in titles if title != crest]
    rest = sorted(others, key=lambda title: _wish(view, title, left))
    body, parting, other, one, two = rest[:5]
    ruled_out = set(COLOURS).difference(*left.get(other, ALL))
    return Ask(
        body=(body, likeliest(left.get(body) or ALL, 0)),
        parting=(parting, likeliest(left.get(parting) or ALL, 1)),
        other=(other, min(ruled_out or COLOURS)),
        neither=(one, two),
        crest=crest,
    )


def _wish(view: FightView, title: str, left: dict[str, Pairs]) -> tuple[bool, bool, int]:
    """Return a sort key: own crests first, then the least known titles; claimed titles last."""
    return title in view.claims, title not in view.crests, -len(left.get(title, ALL))
