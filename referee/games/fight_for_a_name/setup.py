"""The host's secrets: drawing and validation. Their constraints are in docs/games/fight_for_a_name.md."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain, combinations, filterfalse
from operator import attrgetter, eq
from random import Random

from protocol.games.fight_for_a_name import Banner, FightSetup, Pillar, Puzzle, Title
from protocol.games.fight_for_a_name.board import COLOURS, HEXES, PILLARS, TITLES
from referee.rules import BadSetupError, choice, sample, shuffle

NUMBERS = 8
SHOWN = 6
"""Number of titles that a pillar shows."""
SHOWN_AT = 5
"""Number of pillars that show each title."""
LARGEST = 50
SUMMANDS = (3, 4, 5)
"""Possible counts of numbers that make up the target of a drawn puzzle."""


def drawn_setup(rng: Random) -> FightSetup:
    """Draw a setup at random."""
    colours = list(COLOURS) * 6
    shuffle(rng, colours)
    return FightSetup(
        colours=dict(zip(HEXES, colours, strict=True)),
        titles=drawn_titles(rng),
        pillars=dict(zip(PILLARS, drawn_pillars(rng), strict=True)),
        challenge=_drawn_puzzle(rng),
    )


def drawn_titles(rng: Random) -> dict[Title, Banner]:
    """Draw banners so that every colour is the body of two titles and the parting of two others."""
    bodies, partings = list(COLOURS) * 2, list(COLOURS) * 2
    shuffle(rng, bodies)
    while any(map(eq, bodies, partings)):
        shuffle(rng, partings)
    banners: dict[Title, Banner] = {}
    for title, body, parting in zip(TITLES, bodies, partings, strict=True):
        banners[title] = Banner(body=body, parting=parting)
    return banners


def drawn_pillars(rng: Random) -> list[tuple[Title, ...]]:
    """Draw the titles that each pillar shows: no two pillars the same six, every title at five pillars."""
    while True:
        shown = _shown_by_pillars(rng)
        if len(set(map(frozenset, shown))) == len(PILLARS):
            return shown


def _shown_by_pillars(rng: Random) -> list[tuple[Title, ...]]:
    """Draw six titles per pillar; a title that every remaining pillar has to show is always included."""
    left = dict.fromkeys(TITLES, SHOWN_AT)
    shown = []
    for pillars_left in range(len(PILLARS), 0, -1):
        titles = [title for title, count in left.items() if count == pillars_left]
        others = [title for title, count in left.items() if 0 < count < pillars_left]
        titles += sample(rng, others, SHOWN - len(titles))
        shuffle(rng, titles)
        for title in titles:
            left[title] -= 1
        shown.append(tuple(titles))
    shuffle(rng, shown)
    return shown


def _drawn_puzzle(rng: Random) -> Puzzle:
    numbers = rng.sample(range(1, LARGEST + 1), NUMBERS)
    return Puzzle(numbers=tuple(numbers), target=sum(sample(rng, numbers, choice(rng, SUMMANDS))))


def checked_setup(setup: FightSetup) -> FightSetup:
    """Return `setup` with its keys in canonical order. Raise BadSetupError if it is invalid."""
    _check_keys(setup.colours, HEXES, "setup.colours")
    _check_counts(setup.colours.values(), COLOURS, 6, "setup.colours", "hexes")
    _check_keys(setup.titles, TITLES, "setup.titles")
    _check_banners(setup.titles)
    _check_keys(setup.pillars, PILLARS, "setup.pillars")
    _check_pillars(setup.pillars)
    _check_puzzle(setup.challenge)
    return FightSetup(
        colours={name: setup.colours[name] for name in HEXES},
        titles={title: setup.titles[title] for title in TITLES},
        pillars={pillar: setup.pillars[pillar] for pillar in PILLARS},
        challenge=setup.challenge,
    )


def _check_keys(given: Iterable[str], wanted: tuple[str, ...], place: str) -> None:
    present = set(given)
    if missing := list(filterfalse(present.__contains__, wanted)):
        raise BadSetupError(f"{place}: {len(present)} of {len(wanted)}; there is no {', '.join(missing)}")


def _check_counts(given: Iterable[str], wanted: Iterable[str], count: int, place: str, what: str) -> None:
    counts = Counter(given)
    for key in wanted:
        if counts[key] != count:
            raise BadSetupError(f"{place}: {key} has {counts[key]} {what}; each has {count}")


def _check_banners(titles: dict[Title, Banner]) -> None:
    for title, banner in titles.items():
        if banner.body == banner.parting:
            raise BadSetupError(f"setup.titles.{title}: body and parting are both {banner.body}; they differ")
    _check_counts(map(attrgetter("body"), titles.values()), COLOURS, 2, "setup.titles", "bodies")
    _check_counts(map(attrgetter("parting"), titles.values()), COLOURS, 2, "setup.titles", "partings")


def _check_pillars(pillars: dict[Pillar, tuple[Title, ...]]) -> None:
    for pillar, titles in pillars.items():
        if len(titles) != SHOWN or len(set(titles)) != SHOWN:
            what = f"{len(titles)} titles, {len(set(titles))} of them different"
            raise BadSetupError(f"setup.pillars.{pillar}: {what}; a pillar shows {SHOWN} different ones")
    shown = chain.from_iterable(pillars.values())
    _check_counts(shown, TITLES, SHOWN_AT, "setup.pillars", "pillars")
    for one, other in combinations(pillars, 2):
        if set(pillars[one]) == set(pillars[other]):
            raise BadSetupError(f"setup.pillars.{other}: the same {SHOWN} titles as {one}; no two show the same")


def _check_puzzle(puzzle: Puzzle) -> None:
    different = len(set(puzzle.numbers))
    if len(puzzle.numbers) != NUMBERS or different != NUMBERS:
        what = f"{len(puzzle.numbers)} numbers, {different} of them different"
        raise BadSetupError(f"setup.challenge.numbers: {what}; there are {NUMBERS} different ones")
    sums: set[int] = set()
    for number in puzzle.numbers:
        sums |= {number, *(number + so_far for so_far in sums)}
    if puzzle.target not in sums:
        raise BadSetupError(f"setup.challenge.target: {puzzle.target} is the sum of none of the numbers")
