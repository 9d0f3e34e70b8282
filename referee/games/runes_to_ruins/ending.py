"""The end of a match: when it is reached, the order of the seats, and the prizes."""

from collections.abc import Sequence
from random import Random

from protocol.games.runes_to_ruins import Reveal, RunesDetail
from protocol.words import Outcome
from referee.games.runes_to_ruins.state import SEATS, RunesState, Standing

PRIZE, NEXT_PRIZE = 2, 1
"""Tokens for the best seat, and for the next eligible seat if the best is not eligible."""
TOO_MUCH_MANTRA = 10
"""Mantra at the end of the match from which a seat gets no token."""


def reason(state: RunesState, discovered: Sequence[int | None]) -> str | None:
    """Return why the match ends after this round, or None if it continues.

    `discovered` has the round of discovery of each seat, including this round, or None.
    """
    if discovered.count(None) <= 1:
        return "discovered"
    return "rounds" if state.round == state.options.rounds else None


def reveal(state: RunesState) -> Reveal:
    """Return the event that publishes all symbols, guesses and conditions."""
    return Reveal(
        symbols={str(seat): symbol for seat, symbol in enumerate(state.symbols)},
        guesses={str(seat): standing.guesses for seat, standing in enumerate(state.standings)},
        conditions=state.conditions,
    )


def outcome(state: RunesState, why: str, rng: Random) -> Outcome:
    """Return the outcome; remaining ties are broken at random."""
    order = _best_first(state.standings, rng)
    standings = {str(seat): standing for seat, standing in enumerate(state.standings)}
    return Outcome(
        ranking=tuple((seat,) for seat in order),
        winners=(order[0],),
        eliminated=order[-1],
        scores=None,
        tokens=_tokens(state.standings, order),
        reason=why,
        detail=RunesDetail(
            discovered={
                seat: standing.discovered
                for seat, standing in standings.items()
                if standing.discovered is not None
            },
            mantra={seat: standing.mantra for seat, standing in standings.items()},
        ),
    )


def _best_first(standings: tuple[Standing, ...], rng: Random) -> list[int]:
    """Rank the seats: undiscovered first, then the latest discovered.

    Ties go to the seat whose nearest guesses have lower figures, then to the one that received less mantra.
    """
    drawn = rng.sample(range(SEATS), SEATS)

    def rank(seat: int) -> tuple[bool, int, int, int, int, int]:
        standing = standings[seat]
        exact, moved, group = map(sum, zip(*standing.nearest, strict=True))
        undiscovered = standing.discovered is None
        return (not undiscovered, -(standing.discovered or 0), exact, moved, group, standing.received)

    return sorted(drawn, key=rank)


def _tokens(standings: tuple[Standing, ...], order: list[int]) -> dict[str, int]:
    """Give the prize to the best seat, or the smaller prize to the next seat that is eligible."""
    for seat in order:
        if standings[seat].mantra < TOO_MUCH_MANTRA:
            return {str(seat): PRIZE if seat == order[0] else NEXT_PRIZE}
    return {}
