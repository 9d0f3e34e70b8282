"""The resolution of a round from 2 on, when its window closes.

The order is: payments, votes, visions, learned insight, guesses, dark, mantra, the end of the match, and, if it
continues, the payment of the condition for the next round. Payments are first, so nothing earned in a round can be
spent in it (R5).
"""

from collections.abc import Sequence
from functools import partial
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
    Reveal,
    Revealed,
    RunesEvent,
    Six,
    Visions,
)
from referee.games.runes_to_ruins import conditions, ending
from referee.games.runes_to_ruins.checking import bought_guesses, cost
from referee.games.runes_to_ruins.guesses import Compared, compare
from referee.games.runes_to_ruins.learned import learn_all
from referee.games.runes_to_ruins.mantra import darken, settle
from referee.games.runes_to_ruins.mirrors import reflected
from referee.games.runes_to_ruins.state import SEATS, RunesState, Standing
from referee.games.runes_to_ruins.symbols import Tables, tables
from referee.games.runes_to_ruins.visions import NO_VISIONS, answers, used
from referee.rules import Addressed, MatchRandom, Transition

ANSWERED, REFLECTED = 0, 1
"""Random streams of a seat, for its answers and for its mirrored answers."""
FOR_ALONE = 1
"""Insight that a seat gains for each kind of vision that no other seat used in the round."""


class Found(Struct, frozen=True, kw_only=True, gc=False):
    """The results of the actions of a round."""

    of: Tables
    visions: list[Visions]
    """Visions used, indexed by seat."""
    kinds: list[tuple[Kind, ...]]
    """Kinds of the visions used, indexed by seat."""
    learned: list[list[LearnedAnswer]]
    """Answers to learned insights, indexed by seat."""
    brought: list[int]
    """Mantra added by learned insights, indexed by seat."""
    compared: Compared
    won: int


def close_round(state: RunesState, actions: Sequence[PlayRound], rng: MatchRandom) -> Transition[RunesState]:
    """Return the state after a round and all its events."""
    found = _find(state, actions)
    discovered = [standing.discovered for standing in state.standings]
    for seat in found.compared.finders:
        discovered[seat] = state.round
    why = ending.reason(state, discovered)
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
    outcome = ending.outcome(after, why, rng.shared())
    return _told(after, actions, found, rng, ending.reveal(after), {"outcome": outcome})


def _find(state: RunesState, actions: Sequence[PlayRound]) -> Found:
    of = tables(state.symbols)
    visions, kinds, learned, brought = [], [], [], []
    for seat, action in enumerate(actions):
        asked = NO_VISIONS if action.visions is UNSET else action.visions
        visions.append(asked)
        kinds.append(used(asked))
        told, mantra = learn_all(action.learned, seat, of)
        learned.append(told)
        brought.append(mantra)
    return Found(
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
    found: Found,
    discovered: Sequence[int | None],
    *,
    goes_on: bool,
) -> tuple[Standing, ...]:
    """Return the standings after payments, gains and the settling of mantra."""
    every = [kind for kinds in found.kinds for kind in kinds]
    darkened = [action.dark for action in actions] if goes_on else []
    finders, nearest = found.compared.finders, found.compared.nearest
    standings = []
    seats = zip(state.standings, actions, found.visions, found.kinds, found.brought, strict=True)
    for seat, (before, action, visions, kinds, brought) in enumerate(seats):
        insight = before.insight - cost(before, action, kinds)
        if finders:
            insight += found.compared.earned(seat)
        if kinds:
            insight += FOR_ALONE * [*map(every.count, kinds)].count(1)
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
    found: Found,
    rng: MatchRandom,
    last: Insight | Reveal,
    changes: dict[str, Any],
    paid: Sequence[int] = (0,) * SEATS,
) -> Transition[RunesState]:
    """Return the state with `changes` and the events in each history, and the events, `last` at the end."""
    shown = _shown(found.visions, found.of.symbols)
    public = (Discovered(seats=tuple(found.compared.finders)),) if found.compared.finders else ()
    veiled = frozenset([seat for seat, visions in enumerate(found.visions) if visions.veil])
    answered, purses, standings = [], [], []
    for seat, (standing, action, gain) in enumerate(zip(state.standings, actions, paid, strict=True)):
        own = _answers(seat, actions, found, veiled, rng)
        answered.append(own)
        purse = Purse(insight=standing.insight, mantra=standing.mantra)
        purses.append(Addressed(purse, seat))
        played = Played(round=state.round, action=action, told=(*shown, *own, *public, purse, last))
        standings.append(replace(standing, insight=standing.insight + gain, history=(*standing.history, played)))
    said = [Addressed(event, seat) for seat, own in enumerate(answered) for event in own]
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
    seat: int, actions: Sequence[PlayRound], found: Found, veiled: frozenset[int], rng: MatchRandom
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
