"""Round 1: symbols are submitted until all differ."""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from protocol.games.runes_to_ruins import Resubmit, Six, SymbolSet
from referee.games.runes_to_ruins.state import RunesState
from referee.games.runes_to_ruins.symbols import draw_symbol
from referee.rules import Addressed, MatchRandom, Transition

LAST_ATTEMPT = 11
"""Number of the attempt after which clashing symbols are replaced by drawn ones, instead of resubmitted."""
REPLACED = 1
"""Random stream for replacement symbols; stream 0 may have drawn the symbol that clashed."""


def close_attempt(state: RunesState, submitted: Sequence[Six], rng: MatchRandom) -> Transition[RunesState]:
    """Set the symbols, or request all of them again if some clash."""
    counts = Counter(submitted)
    clashing = {symbol for symbol, count in counts.items() if count > 1}
    after = replace(
        state,
        invalid=tuple(sorted({*state.invalid, *clashing})),
        standings=tuple(
            replace(standing, submitted=(*standing.submitted, symbol))
            for standing, symbol in zip(state.standings, submitted, strict=True)
        ),
    )
    if clashing and state.attempt < LAST_ATTEMPT:
        attempt = state.attempt + 1
        return Transition(replace(after, attempt=attempt), (Addressed(Resubmit(attempt=attempt)),))
    symbols = _replaced(submitted, after.invalid, rng)
    standings = zip(after.standings, symbols, strict=True)
    after = replace(after, round=2, standings=tuple(replace(each, symbol=symbol) for each, symbol in standings))
    return Transition(
        after, tuple(Addressed(SymbolSet(symbol=symbol), seat) for seat, symbol in enumerate(symbols))
    )


def _replaced(submitted: Sequence[Six], invalid: tuple[Six, ...], rng: MatchRandom) -> list[Six]:
    """Replace each invalid symbol by a drawn legal one that is neither invalid nor used by another seat."""
    symbols = list(submitted)
    for seat, symbol in enumerate(submitted):
        if symbol in invalid:
            symbols[seat] = draw_symbol(rng.seat(seat, REPLACED), without=(*invalid, *symbols))
    return symbols
