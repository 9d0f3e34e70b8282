"""Plays Pointing by worlds: who may point at whom, and what each answer brings if seats repeat themselves.

In round 1 all others are alike, and it points at any. Then it asks whether they may keep their targets. It draws
worlds that fit the first map. In round 2 it takes the answer that does best with what it would learn from the next
map. In round 3 it keeps the worlds whose second map, had all others pointed where they pointed before, is the one
that was shown. How much likelier that map is so than by chance says how far to trust these worlds. In the rest of
the worlds all others point anew, at anybody. What counts is the place at the end.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from random import Random
from statistics import fmean

from msgspec.structs import replace

from bots.kit import Window, run
from bots.pointing_sections import Fate, fates
from protocol.codec import encode
from protocol.games.pointing import Point, PointingView, Vote
from protocol.games.pointing_map import anonymous, connect
from referee.games import GAMES

RULES = GAMES["pointing"]
SECOND_ROUND = 2
TRIED = 400
"""Worlds that are compared with the second map."""
WEIGHED = 150
"""Worlds in which answers are tried out, of those in which all repeat themselves, and of the others."""
REPEAT = 0.7
"""How likely it is thought at first that the others keep their targets."""

Targets = tuple[int | None, ...]
"""By seat: where it points."""


def decide(window: Window[PointingView]) -> Point | Vote:
    """What does best over the worlds."""
    view, luck = window.view, window.luck
    assert view.seat is not None  # noqa: S101 - a window is open for it
    others = [seat for seat in range(view.seats) if seat != view.seat]
    if window.name == "vote":
        return Vote(seat=luck.choice([seat for seat in view.tied if seat != view.seat]))
    if view.round == 1:
        return Point(target=luck.choice(others))
    unused = [seat for seat in others if seat not in view.targets]
    # Seats that it never pointed at are all alike to it.
    answers = [*dict.fromkeys([*view.targets, None, *luck.sample(unused, min(1, len(unused)))])]
    worths = second(view, luck, answers) if view.round == SECOND_ROUND else third(view, luck, answers)
    return Point(target=max(answers, key=lambda answer: worths[answer]))


def second(view: PointingView, luck: Random, answers: Sequence[int | None]) -> dict[int | None, float]:
    """What each answer of round 2 is worth: the mean place at the end."""
    seat = view.seat or 0
    first = [world[0] for world in worlds(view, luck, 1, WEIGHED)]
    worths: dict[int | None, float] = {}
    for answer in answers:
        by_map: dict[bytes, list[list[Targets]]] = {}
        for targets in first:
            then = with_answer(targets, seat, answer)
            by_map.setdefault(drawing(then), []).append([targets, then])
        last = dict.fromkeys([*answers, answer])
        repeated = [
            max(fmean(place([*world, with_answer(world[0], seat, each)], seat) for world in like) for each in last)
            * len(like)
            for like in by_map.values()
        ]
        changed = [
            place([targets, with_answer(anew(view, luck), seat, answer), anew(view, luck)], seat)
            for targets in first
        ]
        worths[answer] = REPEAT * sum(repeated) / len(first) + (1 - REPEAT) * fmean(changed)
    return worths


def third(view: PointingView, luck: Random, answers: Sequence[int | None]) -> dict[int | None, float]:
    """The same for round 3."""
    seat, shown = view.seat or 0, encode(view.maps[1])
    first = [world[0] for world in worlds(view, luck, 1, TRIED)]
    second = [with_answer(targets, seat, view.targets[1]) for targets in first]
    like = [world for world in zip(first, second, strict=True) if drawing(world[1]) == shown]
    by_chance = sum(drawing(with_answer(anew(view, luck), seat, view.targets[1])) == shown for _ in first)
    trust = REPEAT * len(like) / (REPEAT * len(like) + (1 - REPEAT) * (by_chance + 1))
    changed = [(world, anew(view, luck)) for world in worlds(view, luck, 2, WEIGHED)]
    worths: dict[int | None, float] = {}
    for answer in answers:
        repeated = [place([*world, with_answer(world[0], seat, answer)], seat) for world in like[:WEIGHED]]
        others = [place([*world, with_answer(then, seat, answer)], seat) for world, then in changed]
        worths[answer] = trust * fmean(repeated or [0.0]) + (1 - trust) * fmean(others)
    return worths


def worlds(view: PointingView, luck: Random, rounds: int, number: int) -> Iterator[list[Targets]]:
    """Who may have pointed at whom in the first rounds, by their maps alone."""
    known = replace(view, round=rounds + 1, maps=view.maps[:rounds], targets=view.targets[:rounds])
    for state in islice(RULES.worlds(known, (), view.seat or 0, luck), number):
        yield [each.pointed for each in state.rounds]


def anew(view: PointingView, luck: Random) -> Targets:
    """A round in which all point at anybody."""
    return tuple((seat + luck.randrange(1, view.seats)) % view.seats for seat in range(view.seats))


def with_answer(targets: Targets, seat: int, answer: int | None) -> Targets:
    """These targets, with this answer as the seat's own."""
    return (*targets[:seat], answer, *targets[seat + 1 :])


@lru_cache(maxsize=4096)
def drawing(targets: Targets) -> bytes:
    """The map that all would be shown."""
    return encode(anonymous(connect(targets)))


@lru_cache(maxsize=4096)
def _fates(targets: Targets) -> list[Fate]:
    return fates(targets)


def place(rounds: Sequence[Targets], seat: int) -> float:
    """The share of the other seats that have fewer points at the end, equals as a half."""
    found = [_fates(targets) for targets in rounds]
    totals: list[int] = []
    for each in zip(*found, strict=True):
        nodes = sum(fate.node for fate in each)
        total = sum(fate.points for fate in each) + (3 - 2 * nodes if nodes else 0)
        totals.append(total + all(fate.is_end for fate in each) - 2 * all(fate.is_start for fate in each))
    behind = sum(1.0 if total < totals[seat] else 0.5 for total in totals if total <= totals[seat]) - 0.5
    return behind / (len(totals) - 1)


if __name__ == "__main__":
    run(decide)
