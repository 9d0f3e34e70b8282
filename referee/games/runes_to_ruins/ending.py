"""The end of a match: when it is reached, the order of the seats, and the prizes."""

from collections.abc import Sequence
from random import Random

from protocol.games.runes_to_ruins import Reveal, RunesDetail
from protocol.words import Outcome
from referee.games.runes_to_ruins.state import SEATS, RunesState, Standing

PRIZE, NEXT_PRIZE = 2, 1
"""Tokens for the best seat; for the next that may have one, where the best may not."""
TOO_MUCH_MANTRA = 10
"""A seat that holds so much at the end gets no token."""


def reason(state: RunesState, discovered: Sequence[int | None]) -> str | None:
    """Why the match is over after this round, which leaves these discovered, or None where it goes on."""
    if discovered.count(None) <= 1:
        return "discovered"
    return "rounds" if state.round == state.options.rounds else None


def reveal(state: RunesState) -> Reveal:
    """The event that tells everyone everything."""
    return Reveal(
        symbols={str(seat): symbol for seat, symbol in enumerate(state.symbols)},
        guesses={str(seat): standing.guesses for seat, standing in enumerate(state.standings)},
        conditions=state.conditions,
    )


def outcome(state: RunesState, why: str, luck: Random) -> Outcome:
    """The result; what is still equal is drawn."""
    order = _best_first(state.standings, luck)
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


def _best_first(standings: tuple[Standing, ...], luck: Random) -> list[int]:
    """Later discovered is better, never is best; then the less others found out; then the less mantra received."""
    drawn = luck.sample(range(SEATS), SEATS)

    def rank(seat: int) -> tuple[bool, int, int, int, int, int]:
        standing = standings[seat]
        exact, moved, group = map(sum, zip(*standing.nearest, strict=True))
        undiscovered = standing.discovered is None
        return (not undiscovered, -(standing.discovered or 0), exact, moved, group, standing.received)

    return sorted(drawn, key=rank)


def _tokens(standings: tuple[Standing, ...], order: list[int]) -> dict[str, int]:
    """The prize is the best seat's; if it may have none, a smaller one is the next's that may (any seat's)."""
    for seat in order:
        if standings[seat].mantra < TOO_MUCH_MANTRA:
            return {str(seat): PRIZE if seat == order[0] else NEXT_PRIZE}
    return {}
