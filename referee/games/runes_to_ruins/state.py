"""The state of a match between two windows."""

from collections.abc import Sequence
from typing import TypeVar, get_args

from msgspec import Struct

from protocol.games.runes_to_ruins import Artefact, Played, RunesOptions, SeatKey, Six
from protocol.words import Outcome

ItemT = TypeVar("ItemT")
SEATS = 5
SEAT_KEYS: tuple[SeatKey, ...] = get_args(SeatKey)
FIRST_INSIGHT = 6
"""Insight of each seat at the start of the match, before any payment."""

Near = tuple[int, int, int]
"""Figures of a guess for a symbol: `exact`, `moved`, `group`; or the maximum of each."""


class RunesSeatState(Struct, frozen=True, kw_only=True, gc=False):
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
    """True if the seat abstained in the previous round."""
    lit: bool = False
    """True if the seat used the Power of Light in the previous round."""
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
    standings: tuple[RunesSeatState, ...] = (RunesSeatState(),) * SEATS
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


def discovered_seats(state: RunesState) -> dict[str, int]:
    """Return the round of discovery of each discovered seat."""
    discovered: dict[str, int] = {}
    for key, standing in zip(SEAT_KEYS, state.standings, strict=True):
        if standing.discovered is not None:
            discovered[key] = standing.discovered
    return discovered


def artefacts(state: RunesState, seat: int) -> tuple[Artefact, ...]:
    """Return the artefacts that the options assign to the seat."""
    return state.options.artefacts.get(SEAT_KEYS[seat], ())


def _without(seat: int, each: Sequence[ItemT]) -> tuple[ItemT, ...]:
    return (*each[:seat], *each[seat + 1 :])


OTHERS = tuple(_without(seat, range(SEATS)) for seat in range(SEATS))
OTHER_KEYS = tuple(_without(seat, SEAT_KEYS) for seat in range(SEATS))
