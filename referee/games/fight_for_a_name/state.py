"""A match of The Fight For a Name between two windows, and what can be read off it.

All that a player's own fields hold is known to its seat at any time; what a round brings it that it has not been
told yet waits in `income`. What all were told is in `history` and `claims`.
"""

from typing import Literal, get_args

from msgspec import Struct

from protocol.games.fight_board import HEXES, START
from protocol.games.fight_for_a_name import (
    Claim,
    FightOptions,
    FightSetup,
    Move,
    Reveal,
    RoundResult,
    SeatKey,
    Title,
    Visit,
)

SEATS = 13
SEAT_KEYS: tuple[SeatKey, ...] = get_args(SeatKey)
FEW = 5
"""With so few seats on the board the final phase begins (R6)."""

Phase = Literal["challenge", "move", "pillar", "token_vote", "elimination_vote", "justice", "over"]
Amounts = tuple[int, ...]
"""By the number of the hex, less 1."""

NOTHING: Amounts = (0,) * len(HEXES)


class Player(Struct, frozen=True, kw_only=True):
    """One seat."""

    position: str | None = START
    """None: it has a title."""
    mp: int = 0
    income: int = 0
    """What it will be given at the end of this round."""
    crests: dict[Title, int] = {}
    """Crest to the round in which it was got first (R12)."""
    strengths: Amounts = NOTHING
    spent: Amounts = NOTHING
    """MP spent on hexes by landing and reinforcing."""
    reached: tuple[int, ...] = ()
    """Numbers of the hexes on which a move of its ended, ascending (R6)."""
    visits: tuple[Visit, ...] = ()
    moves: tuple[Move, ...] = ()
    barred: int | None = None
    """The seat it may give nothing in its next move (R5)."""


class FightState(Struct, frozen=True, kw_only=True):
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


def on_board(state: FightState) -> tuple[int, ...]:
    """The seats without a title."""
    return tuple(seat for seat, player in enumerate(state.players) if player.position is not None)


def in_final_phase(state: FightState) -> bool:
    """Whether moves may reinforce (R6)."""
    return len(on_board(state)) <= FEW


def winners(state: FightState) -> tuple[int, ...]:
    """The seats that claimed a title in the first round in which anyone did (R9)."""
    first = min((claim.round for claim in state.claims.values()), default=None)
    return tuple(sorted(claim.seat for claim in state.claims.values() if claim.round == first))


def title_of(state: FightState, seat: int) -> Title | None:
    """The seat's title, if it has one."""
    return next((title for title, claim in state.claims.items() if claim.seat == seat), None)


def by_number(amounts: Amounts) -> dict[str, int]:
    """Hex to amount, above 0 only, as it is told."""
    return {HEXES[n]: amount for n, amount in enumerate(amounts) if amount}
