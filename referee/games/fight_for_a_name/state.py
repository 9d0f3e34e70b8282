"""State of a match of The Fight For a Name between two windows, and facts derived from it.

A seat knows every field of its own `FightSeat` except `income`, which it learns when the round ends. `history`,
`white` and `claims` hold what all seats know.
"""

from collections.abc import Callable, Collection
from operator import attrgetter
from typing import Literal, TypeVar, get_args

from msgspec import Struct

from protocol.games.fight_for_a_name import (
    Claim,
    FightOptions,
    FightSetup,
    HexKey,
    Move,
    Reveal,
    RoundResult,
    SeatKey,
    Title,
    Visit,
)
from protocol.games.fight_for_a_name.board import HEXES, START

MadeT = TypeVar("MadeT")

SEATS = 13
SEAT_KEYS: tuple[SeatKey, ...] = get_args(SeatKey)
NUMBER: dict[str, int] = {name: number for number, name in enumerate(HEXES, 1)}
"""Number of each hex; other places have no number."""
FEW = 5
"""Highest number of seats on the board in the final phase (R6)."""

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
