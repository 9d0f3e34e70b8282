"""A round from 2 on, resolved when its window closes.

In this order: payments, votes, visions, learned insight, guesses, dark, mantra, the end of the match, and, where
it goes on, what the condition pays for the next round. Payments come first: nothing earned in a round pays for it
(R5).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from msgspec import UNSET, Struct
from msgspec.structs import replace

from protocol.games.runes_to_ruins import (
    ConditionWon,
    Discovered,
    GuessAnswer,
    LearnedAnswer,
    Played,
    PlayRound,
    Purse,
    Revealed,
    RunesEvent,
    Visions,
)
from referee.games.runes_to_ruins import conditions, ending
from referee.games.runes_to_ruins.checking import bought_guesses, cost
from referee.games.runes_to_ruins.guesses import Compared, best, compare
from referee.games.runes_to_ruins.learned import learn
from referee.games.runes_to_ruins.mantra import darken, settle
from referee.games.runes_to_ruins.mirrors import reflected
from referee.games.runes_to_ruins.state import SEATS, RunesState, Standing
from referee.games.runes_to_ruins.visions import NO_VISIONS, answers, used
from referee.rules import Addressed, Luck, Step

ANSWERED, REFLECTED = 0, 1
"""Names the streams of a seat from which its answers, and its mirrored answers, are drawn."""
FOR_ALONE = 1
"""What a seat gains for a kind of vision that nobody else used in the round."""

Learnt = tuple[int | bool, int]
"""The answer to a learned insight, and the mantra it brings."""
Said = tuple[RunesEvent, int | None]
"""An event and the seat it is for; None: all."""


class Found(Struct, frozen=True, kw_only=True):
    """What the actions of a round bring to light."""

    won: int
    alone: list[int]
    """By seat: how many kinds of vision it used that nobody else did."""
    learned: list[list[Learnt]]
    """By seat: what came of its learned insights, in their order."""
    compared: Compared


def close_round(state: RunesState, actions: Sequence[PlayRound], luck: Luck) -> Step[RunesState]:
    """The state after a round, and all that is told."""
    shared, found = luck.shared(), _find(state, actions)
    after = replace(
        state,
        standings=tuple(_found_out(state, seat, action, found) for seat, action in enumerate(actions)),
        conditions=(*state.conditions, found.won),
        used=conditions.now_used(state.used, found.won),
    )
    why = ending.reason(after)
    dark: Counter[int] = Counter(action.dark for action in actions if action.dark is not UNSET and why is None)
    brought = [sum(mantra for _, mantra in each) for each in found.learned]
    after = replace(
        after,
        standings=tuple(
            _settled(standing, brought[seat], dark[seat]) for seat, standing in enumerate(after.standings)
        ),
    )
    said: list[Said] = [*_told(state, actions, found, luck), *_purses(after)]
    if why is None:
        after = _paid(after, actions, said, shared)
    else:
        said.append((ending.reveal(after), None))
        after = replace(after, outcome=ending.outcome(after, why, shared))
    return Step(
        _remembered(after, state.round, actions, said), tuple(Addressed(event, seat) for event, seat in said)
    )


def _find(state: RunesState, actions: Sequence[PlayRound]) -> Found:
    symbols = state.symbols
    return Found(
        won=conditions.winner(actions, state.used),
        alone=_alone(actions),
        learned=[[learn(each, seat, symbols) for each in action.learned] for seat, action in enumerate(actions)],
        compared=compare(actions, symbols, _hidden(state, actions)),
    )


def _hidden(state: RunesState, actions: Sequence[PlayRound]) -> frozenset[int]:
    """The seats with which no guess is compared: discovered before this round, or under Light."""
    return frozenset(
        seat
        for seat, standing in enumerate(state.standings)
        if standing.discovered is not None or actions[seat].light
    )


def _visions(action: PlayRound) -> Visions:
    return NO_VISIONS if action.visions is UNSET else action.visions


def _alone(actions: Sequence[PlayRound]) -> list[int]:
    kinds = [used(_visions(action)) for action in actions]
    users = Counter(kind for each in kinds for kind in each)
    return [sum(users[kind] == 1 for kind in each) for each in kinds]


def _found_out(state: RunesState, seat: int, action: PlayRound, found: Found) -> Standing:
    """A seat's affairs after all but mantra."""
    before, visions = state.standings[seat], _visions(action)
    gained = FOR_ALONE * found.alone[seat] + found.compared.earned(seat)
    nearest = zip(before.nearest, found.compared.nearest[seat], strict=True)
    return replace(
        before,
        insight=before.insight - cost(before, action) + gained,
        veils=before.veils + visions.veil,
        bought=before.bought + bought_guesses(action),
        windowed=before.windowed or visions.window is not UNSET,
        abstained=action.abstain,
        lit=action.light,
        discovered=state.round if seat in found.compared.discovered else before.discovered,
        guesses=(*before.guesses, *action.guesses),
        nearest=tuple(best(one, other) for one, other in nearest),
    )


def _settled(standing: Standing, brought: int, dark: int) -> Standing:
    """A seat's affairs when its mantra is settled; dark acts on it with what this round brought (R4)."""
    owed = darken(standing.mantra + brought, dark)
    insight, mantra = settle(standing.insight, owed)
    received = standing.received + owed - standing.mantra
    return replace(standing, insight=insight, mantra=mantra, received=received)


def _told(state: RunesState, actions: Sequence[PlayRound], found: Found, luck: Luck) -> Iterator[Said]:
    symbols = state.symbols
    veiled = frozenset(seat for seat, action in enumerate(actions) if _visions(action).veil)
    yield from _shown(state, actions)
    for seat, action in enumerate(actions):
        if action.told:
            yield ConditionWon(condition=found.won), seat
        visions = _visions(action)
        for event in answers(seat, visions, symbols, veiled, luck.seat(seat, ANSWERED)):
            yield event, seat
        for index, (answer, mantra) in enumerate(found.learned[seat]):
            yield LearnedAnswer(index=index, answer=answer, mantra=mantra), seat
        if visions.mirror is not UNSET:
            of = visions.mirror.seat
            for mirrored in reflected(seat, of, actions[of], symbols, luck.seat(seat, REFLECTED)):
                yield mirrored, seat
        for index, (exact, moved, group) in enumerate(found.compared.told[seat]):
            yield GuessAnswer(index=index, exact=exact, moved=moved, group=group), seat
    if found.compared.discovered:
        yield Discovered(seats=found.compared.discovered), None


def _shown(state: RunesState, actions: Sequence[PlayRound]) -> Iterator[Said]:
    """The runes that seats reveal to use `mirror` and `window`."""
    for seat, action in enumerate(actions):
        visions = _visions(action)
        if visions.mirror is not UNSET:
            yield Revealed(seat=seat, rune=visions.mirror.rune, position=None), None
        if visions.window is not UNSET:
            position = visions.window.position
            yield Revealed(seat=seat, rune=state.symbols[seat][position], position=position), None


def _purses(state: RunesState) -> Iterator[Said]:
    for seat, standing in enumerate(state.standings):
        yield Purse(insight=standing.insight, mantra=standing.mantra), seat


def _paid(state: RunesState, actions: Sequence[PlayRound], said: list[Said], luck: Random) -> RunesState:
    """The next round, with what the condition that won pays at its start; adds that to what is said."""
    starts = state.round + 1
    earned = conditions.payments(state.conditions[-1], conditions.Now(state, actions), starts)
    said.append((conditions.announced(earned, actions, starts, luck), None))
    standings = zip(state.standings, earned, strict=True)
    return replace(
        state,
        round=starts,
        standings=tuple(replace(each, insight=each.insight + paid) for each, paid in standings),
    )


def _remembered(state: RunesState, round_: int, actions: Sequence[PlayRound], said: list[Said]) -> RunesState:
    """What a view will be made of: to each seat its own action and what it was told, to spectators the rest."""

    def played(observer: int | None, action: PlayRound | None) -> Played:
        told = tuple(event for event, seat in said if seat in (None, observer))
        return Played(round=round_, action=action, told=told)

    standings = tuple(
        replace(standing, history=(*standing.history, played(seat, actions[seat])))
        for seat, standing in zip(range(SEATS), state.standings, strict=True)
    )
    return replace(state, standings=standings, history=(*state.history, played(None, None)))
