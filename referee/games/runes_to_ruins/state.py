"""What is kept of a match between two windows."""

from typing import get_args

from msgspec import Struct

from protocol.games.runes_to_ruins import Artefact, Played, RunesOptions, SeatKey, Six
from protocol.words import Outcome

SEATS = 5
SEAT_KEYS: tuple[SeatKey, ...] = get_args(SeatKey)
FIRST_INSIGHT = 6
"""What each seat has before round 2."""

Near = tuple[int, int, int]
"""How near a guess came to a symbol: `exact`, `moved`, `group`; or the best of each."""


class Standing(Struct, frozen=True, kw_only=True, gc=False):
    """One seat's affairs."""

    submitted: tuple[Six, ...] = ()
    """Its symbols of the attempts that are over."""
    symbol: Six | None = None
    """None until all symbols are set."""
    insight: int = FIRST_INSIGHT
    mantra: int = 0
    received: int = 0
    veils: int = 0
    bought: int = 0
    windowed: bool = False
    abstained: bool = False
    """In the round before."""
    lit: bool = False
    """Whether it used the Power of Light in the round before."""
    discovered: int | None = None
    guesses: tuple[Six, ...] = ()
    nearest: tuple[Near, ...] = ((0, 0, 0),) * SEATS
    """By seat: the best of each figure in that seat's guesses that were compared with this symbol."""
    history: tuple[Played, ...] = ()
    """What it did and was told, by rounds."""


class RunesState(Struct, frozen=True, kw_only=True, gc=False):
    """A match of Runes to Ruins."""

    options: RunesOptions
    round: int = 1
    attempt: int = 1
    """How many times symbols were asked for, the open window counted."""
    invalid: tuple[Six, ...] = ()
    """Symbols that more than one seat submitted at once, ascending."""
    standings: tuple[Standing, ...] = (Standing(),) * SEATS
    conditions: tuple[int, ...] = ()
    """The winners of the votes, from round 2 on."""
    used: tuple[int, ...] = ()
    """Of them, those that are not free, ascending."""
    history: tuple[Played, ...] = ()
    """What was told in public, by rounds."""
    outcome: Outcome | None = None

    @property
    def symbols(self) -> tuple[Six, ...]:
        """All symbols by seat, once they are set."""
        return tuple([standing.symbol for standing in self.standings if standing.symbol is not None])


def artefacts(state: RunesState, seat: int) -> tuple[Artefact, ...]:
    """The artefacts that the options give a seat."""
    return state.options.artefacts.get(SEAT_KEYS[seat], ())


OTHERS = tuple(tuple(other for other in range(SEATS) if other != seat) for seat in range(SEATS))
OTHER_KEYS = tuple(tuple(SEAT_KEYS[other] for other in others) for others in OTHERS)
