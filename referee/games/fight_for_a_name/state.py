"""A match of The Fight For a Name between two windows, and what can be read off it.

All that a player's own fields hold is known to its seat at any time; what a round brings it that it has not been
told yet waits in `income`. What all were told is in `history` and `claims`.
"""

from collections.abc import Callable, Collection
from typing import Literal, TypeVar, get_args

from msgspec import Struct

from protocol.games.fight_board import HEXES, START
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

MadeT = TypeVar("MadeT")

SEATS = 13
SEAT_KEYS: tuple[SeatKey, ...] = get_args(SeatKey)
NUMBER: dict[str, int] = {name: number for number, name in enumerate(HEXES, 1)}
"""Hex to its number. Other places have none."""
FEW = 5
"""With so few seats on the board the final phase begins (R6)."""

Phase = Literal["challenge", "move", "pillar", "token_vote", "elimination_vote", "justice", "over"]
Amounts = dict[HexKey, int]
"""Hex to amount, above 0 only, ascending by number. Views show it as it stands: a change makes a new one."""


class Player(Struct, frozen=True, kw_only=True, gc=False):
    """One seat."""

    position: str | None = START
    """None: it has a title."""
    mp: int = 0
    income: int = 0
    """What it will be given at the end of this round."""
    crests: dict[Title, int] = {}
    """Crest to the round in which it was got first (R12)."""
    strengths: Amounts = {}
    spent: Amounts = {}
    """MP spent on hexes by landing and reinforcing."""
    reached: tuple[int, ...] = ()
    """Numbers of the hexes on which a move of its ended, ascending (R6)."""
    visits: tuple[Visit, ...] = ()
    moves: tuple[Move, ...] = ()
    barred: int | None = None
    """The seat it may give nothing in its next move (R5)."""


class FightState(Struct, frozen=True, kw_only=True, gc=False):
    """The whole match."""

    options: FightOptions
    setup: FightSetup
    phase: Phase = "challenge"
    round: int = 0
    challenge: tuple[int, ...] = ()
    """Seats by their rank in the timed game, best first (R7)."""
    players: tuple[Player, ...] = (Player(),) * SEATS
    visitors: tuple[int, ...] = ()
    """The seats that the window `pillar` is open to."""
    history: tuple[RoundResult, ...] = ()
    white: tuple[int, ...] = ()
    """Numbers of the white hexes, ascending."""
    claims: dict[Title, Claim] = {}
    """In alphabetical order."""
    gifts: dict[str, int] = {}
    """Seat to the MP it is given in this round."""
    candidates: tuple[int, ...] = ()
    """Those who may be named in the vote that is open."""
    voted_token: int | None = None
    eliminated: int | None = None
    revealed: Reveal | None = None


def of_each(players: tuple[Player, ...], made: Callable[[Player], MadeT]) -> list[MadeT]:
    """What is made of each player: once of one that seats share, as those that did alike so far do, idle ones."""
    known: dict[int, MadeT] = {}
    found = []
    for player in players:
        key = id(player)
        if key not in known:
            known[key] = made(player)
        found.append(known[key])
    return found


def on_board(state: FightState) -> tuple[int, ...]:
    """The seats without a title."""
    return tuple(seat for seat, player in enumerate(state.players) if player.position is not None)


def in_final_phase(state: FightState) -> bool:
    """Whether moves may reinforce (R6)."""
    return SEATS - len(state.claims) <= FEW


def winners(state: FightState) -> tuple[int, ...]:
    """The seats that claimed a title in the first round in which anyone did (R9)."""
    first = min((claim.round for claim in state.claims.values()), default=None)
    return tuple(sorted(claim.seat for claim in state.claims.values() if claim.round == first))


def title_of(state: FightState, seat: int) -> Title | None:
    """The seat's title, if it has one."""
    return next((title for title, claim in state.claims.items() if claim.seat == seat), None)


def raised(amounts: Amounts, name: HexKey, by: int) -> Amounts:
    """The amounts with more on one hex."""
    if not by:
        return amounts
    if name in amounts:
        return {**amounts, name: amounts[name] + by}
    after = {**amounts, name: by}
    return {each: after[each] for each in sorted(after, key=NUMBER.__getitem__)} if amounts else after


def without(amounts: Amounts, names: Collection[HexKey]) -> Amounts:
    """The amounts with nothing on these hexes."""
    return {name: amount for name, amount in amounts.items() if name not in names}
