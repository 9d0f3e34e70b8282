"""The resolution of rounds when their windows close, and the end of the match.

In round 1 symbols are submitted until all differ. The order in later rounds is: payments, votes, visions, learned
insight, guesses, dark, mantra, the end of the match, and, if it continues, the payment of the condition for the
next round. Payments are first, so nothing earned in a round can be spent in it (R5).
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from random import Random
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from protocol.games.runes_to_ruins import (
    ConditionWon,
    Discovered,
    Insight,
    Kind,
    LearnedAnswer,
    Played,
    PlayRound,
    Purse,
    Resubmit,
    Reveal,
    Revealed,
    RunesDetail,
    RunesEvent,
    Six,
    SymbolSet,
    Visions,
)
from protocol.words import Outcome
from referee.games.runes_to_ruins import conditions
from referee.games.runes_to_ruins.checking import bought_guesses, cost
from referee.games.runes_to_ruins.guesses import GuessResults, compare
from referee.games.runes_to_ruins.state import SEATS, RunesSeatState, RunesState, discovered_seats
from referee.games.runes_to_ruins.symbols import SymbolIndex, draw_symbol, tables
from referee.games.runes_to_ruins.visions import NO_VISIONS, answers, learn_all, reflected, used
from referee.rules import Addressed, MatchRandom, Transition, by_seat

ANSWERED, REFLECTED = 0, 1
"""Random streams of a seat, for its answers and for its mirrored answers."""
FOR_ALONE = 1
"""Insight that a seat gains for each kind of vision that no other seat used in the round."""


class RoundFindings(Struct, frozen=True, kw_only=True, gc=False):
    """The results of the actions of a round."""

    of: SymbolIndex
    visions: list[Visions]
    """Visions used, indexed by seat."""
    kinds: list[tuple[Kind, ...]]
    """Kinds of the visions used, indexed by seat."""
    learned: list[list[LearnedAnswer]]
    """Answers to learned insights, indexed by seat."""
    brought: list[int]
    """Mantra added by learned insights, indexed by seat."""
    compared: GuessResults
    won: int


def close_round(state: RunesState, actions: Sequence[PlayRound], rng: MatchRandom) -> Transition[RunesState]:
    """Return the state after a round and all its events."""
    found = _find(state, actions)
    discovered = [standing.discovered for standing in state.standings]
    for seat in found.compared.finders:
        discovered[seat] = state.round
    why = _end_reason(state, discovered)
    after = replace(
        state,
        standings=_settled(state, actions, found, discovered, goes_on=why is None),
        conditions=(*state.conditions, found.won),
        used=conditions.now_used(state.used, found.won),
    )
    if why is None:
        starts = state.round + 1
        earned = conditions.payments(found.won, conditions.Now(after, actions), starts)
        announced = conditions.announced(earned, actions, starts, rng)
        return _told(after, actions, found, rng, announced, {"round": starts}, earned)
    outcome = _outcome(after, why, rng.shared())
    return _told(after, actions, found, rng, _reveal(after), {"outcome": outcome})


def _find(state: RunesState, actions: Sequence[PlayRound]) -> RoundFindings:
    of = tables(state.symbols)
    visions, kinds, learned, brought = [], [], [], []
    for seat, action in enumerate(actions):
        asked = NO_VISIONS if action.visions is UNSET else action.visions
        visions.append(asked)
        kinds.append(used(asked))
        told, mantra = learn_all(action.learned, seat, of)
        learned.append(told)
        brought.append(mantra)
    return RoundFindings(
        of=of,
        visions=visions,
        kinds=kinds,
        learned=learned,
        brought=brought,
        compared=compare(state, actions, of),
        won=conditions.winner(actions, state.used),
    )


def _settled(
    state: RunesState,
    actions: Sequence[PlayRound],
    found: RoundFindings,
    discovered: Sequence[int | None],
    *,
    goes_on: bool,
) -> tuple[RunesSeatState, ...]:
    """Return the standings after payments, gains and the settling of mantra."""
    every = Counter(chain.from_iterable(found.kinds))
    darkened = list(map(attrgetter("dark"), actions)) if goes_on else []
    finders, nearest = found.compared.finders, found.compared.nearest
    standings = []
    seats = zip(state.standings, actions, found.visions, found.kinds, found.brought, strict=True)
    for seat, (before, action, visions, kinds, brought) in enumerate(seats):
        insight = before.insight - cost(before, action, kinds)
        if finders:
            insight += found.compared.earned(seat)
        if kinds:
            insight += FOR_ALONE * [*map(every.__getitem__, kinds)].count(1)
        # Dark applies to the mantra held before plus that of this round (R4).
        owed = before.mantra + brought
        if seat in darkened:
            owed = darken(owed, darkened.count(seat))
        insight, mantra = settle(insight, owed)
        standings.append(
            replace(
                before,
                insight=insight,
                mantra=mantra,
                received=before.received + owed - before.mantra,
                veils=before.veils + visions.veil,
                bought=before.bought + bought_guesses(action),
                windowed=before.windowed or visions.window is not UNSET,
                abstained=action.abstain,
                lit=action.light,
                discovered=discovered[seat],
                guesses=before.guesses + action.guesses,
                nearest=nearest[seat],
            )
        )
    return tuple(standings)


def _told(  # noqa: PLR0917 - all results of a round
    state: RunesState,
    actions: Sequence[PlayRound],
    found: RoundFindings,
    rng: MatchRandom,
    last: Insight | Reveal,
    changes: dict[str, Any],
    paid: Sequence[int] = (0,) * SEATS,
) -> Transition[RunesState]:
    """Return the state with `changes` and the events in each history, and the events, `last` at the end."""
    shown = _shown(found.visions, found.of.symbols)
    public = (Discovered(seats=tuple(found.compared.finders)),) if found.compared.finders else ()
    veiled = frozenset([seat for seat, visions in enumerate(found.visions) if visions.veil])
    said, purses, standings = [], [], []
    for seat, (standing, action, gain) in enumerate(zip(state.standings, actions, paid, strict=True)):
        own = _answers(seat, actions, found, veiled, rng)
        said += [Addressed(event, seat) for event in own]
        purse = Purse(insight=standing.insight, mantra=standing.mantra)
        purses.append(Addressed(purse, seat))
        played = Played(round=state.round, action=action, told=(*shown, *own, *public, purse, last))
        standings.append(replace(standing, insight=standing.insight + gain, history=(*standing.history, played)))
    played = Played(round=state.round, action=None, told=(*shown, *public, last))
    after = replace(state, standings=tuple(standings), history=(*state.history, played), **changes)
    return Transition(after, (*map(Addressed, shown), *said, *map(Addressed, public), *purses, Addressed(last)))


def _shown(used: Sequence[Visions], symbols: tuple[Six, ...]) -> list[Revealed]:
    """Return the runes that seats reveal to use `mirror` and `window`."""
    shown = []
    for seat, visions in enumerate(used):
        if visions.mirror is not UNSET:
            shown.append(Revealed(seat=seat, rune=visions.mirror.rune, position=None))
        if visions.window is not UNSET:
            position = visions.window.position
            shown.append(Revealed(seat=seat, rune=symbols[seat][position], position=position))
    return shown


def _answers(
    seat: int, actions: Sequence[PlayRound], found: RoundFindings, veiled: frozenset[int], rng: MatchRandom
) -> list[RunesEvent]:
    """Return the events that only this seat receives, except its purse."""
    action, visions = actions[seat], found.visions[seat]
    told: list[RunesEvent] = [ConditionWon(condition=found.won)] if action.told else []
    if found.kinds[seat]:
        told += answers(seat, visions, found.of, veiled, partial(rng.seat, seat, ANSWERED))
    told += found.learned[seat]
    if visions.mirror is not UNSET:
        of = visions.mirror.seat
        told += reflected(seat, of, actions[of], found.of.symbols, partial(rng.seat, seat, REFLECTED))
    told += found.compared.told[seat]
    return told


LAST_ATTEMPT = 11
"""Number of the attempt after which clashing symbols are replaced by drawn ones, instead of resubmitted."""
REPLACED = 1
"""Random stream for replacement symbols; stream 0 may have drawn the symbol that clashed."""


def close_attempt(state: RunesState, submitted: Sequence[Six], rng: MatchRandom) -> Transition[RunesState]:
    """Set the symbols, or request all of them again if some clash."""
    counts = Counter(submitted)
    clashing = {symbol for symbol, count in counts.items() if count > 1}
    standings = []
    for standing, symbol in zip(state.standings, submitted, strict=True):
        standings.append(replace(standing, submitted=(*standing.submitted, symbol)))
    after = replace(state, invalid=tuple(sorted({*state.invalid, *clashing})), standings=tuple(standings))
    if clashing and state.attempt < LAST_ATTEMPT:
        attempt = state.attempt + 1
        return Transition(replace(after, attempt=attempt), (Addressed(Resubmit(attempt=attempt)),))
    symbols = _replaced(submitted, after.invalid, rng)
    standings = [replace(each, symbol=symbol) for each, symbol in zip(standings, symbols, strict=True)]
    after = replace(after, round=2, standings=tuple(standings))
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


FREE = 6
"""Mantra removed for free at each settling."""
REMOVED = (7, 8, 9, 10, 20)
"""Mantra removed by the first five insights of a settling; the sixth removes the rest."""
DARK_STEP, DARK_LEAST = 5, 10


def settle(insight: int, mantra: int) -> tuple[int, int]:
    """Return insight and mantra after the settling at the end of a round.

    Insights are spent one by one; each of the first five only if the mantra is at least the amount that it
    removes. Mantra carried over is settled like new mantra, with the free amount removed first.
    """
    if mantra <= FREE:
        return insight, 0
    mantra -= FREE
    for removed in REMOVED:
        if not insight or mantra < removed:
            return insight, mantra
        mantra -= removed
        insight -= 1
    return (insight - 1, 0) if insight and mantra else (insight, mantra)


def darken(mantra: int, times: int) -> int:
    """Return the mantra after `times` uses of the Power of Dark, applied one after another (R4).

    Each use adds 5 for every full 5 of mantra, and at least 10.
    """
    for _ in range(times):
        mantra += max(DARK_LEAST, DARK_STEP * (mantra // DARK_STEP))
    return mantra


PRIZE, NEXT_PRIZE = 2, 1
"""Tokens for the best seat, and for the next eligible seat if the best is not eligible."""
TOO_MUCH_MANTRA = 10
"""Mantra at the end of the match from which a seat gets no token."""


def _end_reason(state: RunesState, discovered: Sequence[int | None]) -> str | None:
    """Return why the match ends after this round, or None if it continues.

    `discovered` has the round of discovery of each seat, including this round, or None.
    """
    if discovered.count(None) <= 1:
        return "discovered"
    return "rounds" if state.round == state.options.rounds else None


def _reveal(state: RunesState) -> Reveal:
    """Return the event that publishes all symbols, guesses and conditions."""
    return Reveal(
        symbols=by_seat(state.symbols),
        guesses=by_seat(map(attrgetter("guesses"), state.standings)),
        conditions=state.conditions,
    )


def _outcome(state: RunesState, why: str, rng: Random) -> Outcome:
    """Return the outcome; remaining ties are broken at random."""
    order = _best_first(state.standings, rng)
    return Outcome(
        ranking=tuple(zip(order, strict=True)),
        winners=(order[0],),
        eliminated=order[-1],
        scores=None,
        tokens=_tokens(state.standings, order),
        reason=why,
        detail=RunesDetail(
            discovered=discovered_seats(state),
            mantra=by_seat(map(attrgetter("mantra"), state.standings)),
        ),
    )


def _best_first(standings: tuple[RunesSeatState, ...], rng: Random) -> list[int]:
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


def _tokens(standings: tuple[RunesSeatState, ...], order: list[int]) -> dict[str, int]:
    """Give the prize to the best seat, or the smaller prize to the next seat that is eligible."""
    for seat in order:
        if standings[seat].mantra < TOO_MUCH_MANTRA:
            return {str(seat): PRIZE if seat == order[0] else NEXT_PRIZE}
    return {}
