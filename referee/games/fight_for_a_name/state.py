"""State of a match of The Fight For a Name between two windows, facts derived from it, and the host's secrets.

A seat knows every field of its own `FightSeat` except `income`, which it learns when the round ends. `history`,
`white` and `claims` hold what all seats know. Secrets are drawn, or set by the host and checked; their constraints
are in docs/games/fight_for_a_name.md.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from itertools import chain, combinations, filterfalse
from operator import attrgetter, eq
from random import Random
from typing import Literal, TypeVar, get_args

from msgspec import Struct

from protocol.games.fight_for_a_name import (
    Banner,
    Claim,
    FightOptions,
    FightSetup,
    HexKey,
    Move,
    Pillar,
    Puzzle,
    Reveal,
    RoundResult,
    SeatKey,
    Title,
    Visit,
)
from protocol.games.fight_for_a_name.board import COLOURS, HEXES, PILLARS, START, TITLES
from referee.rules import BadSetupError, choice, sample, shuffle

MadeT = TypeVar("MadeT")

SEATS = 13
SEAT_KEYS: tuple[SeatKey, ...] = get_args(SeatKey)
NUMBER: dict[str, int] = {name: number for number, name in enumerate(HEXES, 1)}
"""Number of each hex; other places have no number."""
FEW = 5
"""Highest number of seats on the board in the final phase (R6)."""
NUMBERS = 8
SHOWN = 6
"""Number of titles that a pillar shows."""
SHOWN_AT = 5
"""Number of pillars that show each title."""
LARGEST = 50
SUMMANDS = (3, 4, 5)
"""Possible counts of numbers that make up the target of a drawn puzzle."""

Phase = Literal["challenge", "move", "pillar", "token_vote", "elimination_vote", "justice", "over"]
Amounts = dict[HexKey, int]
"""Amount per hex, above 0 only, ascending by number. Views share these dicts, so a change makes a new dict."""


class FightSeat(Struct, frozen=True, kw_only=True, gc=False):
    """State of one seat."""

    position: str | None = START
    """Place on the board, or None if the seat has a title."""
    mp: int = 0
    income: int = 0
    """MP from Start and from gifts in this round, paid when the round ends."""
    crests: dict[Title, int] = {}
    """Round in which each crest was first received (R12)."""
    strengths: Amounts = {}
    spent: Amounts = {}
    """MP spent on hexes by landing and reinforcing."""
    reached: tuple[int, ...] = ()
    """Numbers of the hexes on which a move of this seat ended, ascending (R6)."""
    visits: tuple[Visit, ...] = ()
    moves: tuple[Move, ...] = ()
    barred: int | None = None
    """Seat that this one may not give MP in its next move (R5)."""


class FightState(Struct, frozen=True, kw_only=True, gc=False):
    """State of a match."""

    options: FightOptions
    setup: FightSetup
    phase: Phase = "challenge"
    round: int = 0
    challenge: tuple[int, ...] = ()
    """Seats by their rank in the timed game, best first (R7)."""
    players: tuple[FightSeat, ...] = (FightSeat(),) * SEATS
    visitors: tuple[int, ...] = ()
    """Seats for which the window `pillar` is open."""
    history: tuple[RoundResult, ...] = ()
    white: tuple[int, ...] = ()
    """Numbers of the white hexes, ascending."""
    claims: dict[Title, Claim] = {}
    """Claims by title, in alphabetical order."""
    gifts: dict[str, int] = {}
    """MP that each seat receives as gifts in this round."""
    candidates: tuple[int, ...] = ()
    """Seats that may be named in the open vote."""
    voted_token: int | None = None
    eliminated: int | None = None
    revealed: Reveal | None = None


def of_each(players: tuple[FightSeat, ...], made: Callable[[FightSeat], MadeT]) -> list[MadeT]:
    """Return `made(player)` for each player, indexed by seat.

    `made` is called once per distinct object, because idle seats share one.
    """
    known: dict[int, MadeT] = {}
    found = []
    for player in players:
        key = id(player)
        if key not in known:
            known[key] = made(player)
        found.append(known[key])
    return found


def on_board(state: FightState) -> tuple[int, ...]:
    """Return the seats without a title."""
    return tuple(seat for seat, player in enumerate(state.players) if player.position is not None)


def in_final_phase(state: FightState) -> bool:
    """Return whether moves may reinforce (R6)."""
    return SEATS - len(state.claims) <= FEW


def winners(state: FightState) -> tuple[int, ...]:
    """Return the seats that claimed a title in the first round with a claim (R9)."""
    claims = state.claims.values()
    first = min(map(attrgetter("round"), claims), default=None)
    return tuple(sorted([claim.seat for claim in claims if claim.round == first]))


def title_of(state: FightState, seat: int) -> Title | None:
    """Return the seat's title, or None."""
    return next((title for title, claim in state.claims.items() if claim.seat == seat), None)


def raised(amounts: Amounts, name: HexKey, by: int) -> Amounts:
    """Return the amounts with `by` added on one hex."""
    if not by:
        return amounts
    if name in amounts:
        return {**amounts, name: amounts[name] + by}
    after = {**amounts, name: by}
    return {each: after[each] for each in sorted(after, key=NUMBER.__getitem__)} if amounts else after


def without(amounts: Amounts, names: Collection[HexKey]) -> Amounts:
    """Return the amounts without the given hexes."""
    return {name: amount for name, amount in amounts.items() if name not in names}


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
