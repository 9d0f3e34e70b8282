"""The state of a match between two windows."""

from typing import get_args

from msgspec import Struct

from protocol.games.runes_to_ruins import Artefact, Played, RunesOptions, SeatKey, Six
from protocol.words import Outcome

SEATS = 5
SEAT_KEYS: tuple[SeatKey, ...] = get_args(SeatKey)
FIRST_INSIGHT = 6
"""Insight of each seat at the start of the match, before any payment."""

Near = tuple[int, int, int]
"""Figures of a guess for a symbol: `exact`, `moved`, `group`; or the maximum of each."""


class Standing(Struct, frozen=True, kw_only=True, gc=False):
    """The state of one seat."""

    submitted: tuple[Six, ...] = ()
    """Symbols submitted in the closed attempts of round 1."""
    symbol: Six | None = None
    """The symbol, or None until all symbols are set."""
    insight: int = FIRST_INSIGHT
    mantra: int = 0
    received: int = 0
    veils: int = 0
    bought: int = 0
    windowed: bool = False
    abstained: bool = False
    """Whether the seat abstained in the previous round."""
    lit: bool = False
    """Whether the seat used the Power of Light in the previous round."""
    discovered: int | None = None
    guesses: tuple[Six, ...] = ()
    nearest: tuple[Near, ...] = ((0, 0, 0),) * SEATS
    """Maximum of each figure over the guesses compared with this symbol; indexed by guesser."""
    history: tuple[Played, ...] = ()
    """Actions and received events, one entry per round."""


class RunesState(Struct, frozen=True, kw_only=True, gc=False):
    """A match of Runes to Ruins."""

    options: RunesOptions
    round: int = 1
    attempt: int = 1
    """Number of the current attempt in round 1, from 1."""
    invalid: tuple[Six, ...] = ()
    """Symbols that more than one seat submitted at once, ascending."""
    standings: tuple[Standing, ...] = (Standing(),) * SEATS
    conditions: tuple[int, ...] = ()
    """Winning conditions, one per round from round 2 on."""
    used: tuple[int, ...] = ()
    """Conditions that are not free, ascending."""
    history: tuple[Played, ...] = ()
    """Public events, one entry per round."""
    outcome: Outcome | None = None

    @property
    def symbols(self) -> tuple[Six, ...]:
        """All symbols, indexed by seat; empty until they are set."""
        return tuple([standing.symbol for standing in self.standings if standing.symbol is not None])


def artefacts(state: RunesState, seat: int) -> tuple[Artefact, ...]:
    """Return the artefacts that the options assign to the seat."""
    return state.options.artefacts.get(SEAT_KEYS[seat], ())


OTHERS = tuple(tuple(other for other in range(SEATS) if other != seat) for seat in range(SEATS))
OTHER_KEYS = tuple(tuple(SEAT_KEYS[other] for other in others) for others in OTHERS)
