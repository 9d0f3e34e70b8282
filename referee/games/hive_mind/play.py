"""Effects of closing each window: the next state and the events, up to the reveal."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import starmap
from typing import Literal

from msgspec.structs import replace

from protocol.games.hive_mind import (
    BUYING_ROUND,
    Blocks,
    BreakTie,
    Doubles,
    GiveToken,
    Hint,
    HiveMindEvent,
    HiveRound,
    Reveal,
    Round,
    RoundResult,
    ScoreGuesses,
    Scores,
    TokenGiven,
    WindowName,
)
from protocol.games.hive_mind import layouts as hive_layouts
from protocol.games.hive_mind.board import CELLS, KINDS, SHAPES
from referee.games.hive_mind.scoring import (
    count,
    feats_by_seat,
    right_guesses,
    settle,
    with_right_guesses,
)
from referee.games.hive_mind.state import (
    ROUNDS,
    RULE_SETS,
    SEATS,
    HiveMindState,
    OpenHives,
    PointResults,
    play_on,
    rounds_on,
    seats_that,
    total,
    turn,
)
from referee.rules import Addressed, MatchRandom, Transition, by_seat

Seats = tuple[int, ...]
_LOOKS = {shape.cells: shape.looks for shape in hive_layouts.SHAPES}
"""Masks of the hexes that a shape looks at, indexed by the shape's letters."""
_Telling = list[tuple[HiveMindEvent, int | None]]
"""Events in order of sending, each with its receiving seat (None: all)."""


def stage(state: HiveMindState) -> WindowName | None:
    """Return the open window; None if the match is over."""
    result = state.result
    if result is None:
        return "scores" if turn(state) is None else "round"
    if state.eliminated is not None:
        return None
    asks = RULE_SETS[state.variant].gives_token and len(result.winners) == 1 and not state.token_asked
    return "give_token" if asks else "break_tie"


def close_round(state: HiveMindState, actions: Sequence[Round], rng: MatchRandom) -> Transition[HiveMindState]:
    """Play a round: send hints and public events and, after the last round, compute the result."""
    rules, now = RULE_SETS[state.variant], turn(state)
    assert now is not None  # noqa: S101 - the window `round` is open
    after = replace(state, rounds=(*state.rounds, tuple(actions)))
    telling: _Telling = [*_hints(state, now, actions), (_round_result(now, actions), None)]
    if now.number == BUYING_ROUND:
        telling.append((Doubles(hives=_users(after, "double", now.hives)), None))
    if now.number == ROUNDS and not rules.blocks_at_end:
        telling.append((Blocks(hives=_users(after, "block", now.hives)), None))
    if turn(after) is None and not rules.gauntlet:
        points, feats = count(after)
        after = replace(after, result=settle(rules, points, feats))
    return _go_on(after, telling, rng)


def close_scores(state: HiveMindState, actions: Sequence[Scores], rng: MatchRandom) -> Transition[HiveMindState]:
    """Count guessed scores, all against the totals before any guess changes them."""
    points, feats = count(state)
    scores = tuple(action.scores for action in actions)
    right = right_guesses(points, scores)
    result = settle(RULE_SETS[state.variant], with_right_guesses(points, right), feats)
    by, of = Counter(guesser for guesser, _ in right), Counter(guessed for _, guessed in right)
    telling: _Telling = [(ScoreGuesses(right=by[seat], guessed_by=of[seat]), seat) for seat in range(SEATS)]
    return _go_on(replace(state, scores=scores, result=result), telling, rng)


def close_give_token(
    state: HiveMindState, action: GiveToken | None, rng: MatchRandom
) -> Transition[HiveMindState]:
    """Give the winner's second token to another seat, or drop it if there is no action (R9)."""
    (winner,) = winners(state)
    if action is None:
        return _go_on(replace(state, token_asked=True), [], rng)
    given = TokenGiven(giver=winner, to=action.seat)
    return _go_on(replace(state, token_asked=True, token_to=action.seat), [(given, None)], rng)


def close_break_tie(state: HiveMindState, action: BreakTie, rng: MatchRandom) -> Transition[HiveMindState]:
    """Eliminate the seat that the winner has chosen."""
    return _go_on(replace(state, eliminated=action.seat), [], rng)


def winners(state: HiveMindState) -> tuple[int, ...]:
    """Return the seats ranked first; empty until all points are known."""
    return state.result.winners if state.result else ()


def tied(state: HiveMindState) -> tuple[int, ...]:
    """Return the seats tied for elimination; empty unless `break_tie` is the stage."""
    return state.result.tied if state.result and stage(state) == "break_tie" else ()


def _go_on(state: HiveMindState, telling: _Telling, rng: MatchRandom) -> Transition[HiveMindState]:
    """Draw the eliminated seat if no winner decides it, add the final events at the end, and record all events."""
    if state.result and stage(state) == "break_tie" and not state.result.winner_breaks_tie:
        state = replace(state, eliminated=rng.shared().choice(state.result.tied))
    if state.result and state.eliminated is not None:
        telling = [*telling, *_last_words(state, state.result)]
    told = list(map(list, state.told))
    for event, to in telling:
        for hears in told if to is None else (told[to],):
            hears.append(event)
    return Transition(replace(state, told=tuple(map(tuple, told))), tuple(starmap(Addressed, telling)))


def _hints(state: HiveMindState, now: OpenHives, actions: Sequence[Round]) -> _Telling:
    """Return the hints for each seat's shapes, always computed from initial values."""
    hints: _Telling = []
    for seat, action in enumerate(actions):
        for hive, cells in action.place.items():
            hints.append((hint(state.values[hive], hive, now.number, cells), seat))
    return hints


@lru_cache(maxsize=2**16)
def hint(values: str, hive: str, number: int, cells: str) -> Hint:
    """Return the hint for placing a shape in a round."""
    shape = SHAPES[cells]
    seen = total(values, _LOOKS[cells])
    return Hint(hive=hive, round=number, shape=shape.kind, cells=cells, looks=shape.looks, total=seen)


def _round_result(now: OpenHives, actions: Sequence[Round]) -> RoundResult:
    """Return the number of shapes by kind and by hex, the only public facts about placements."""
    return RoundResult(hives={hive: _hive_round(now.number, hive, actions) for hive in now.hives})


def _hive_round(number: int, hive: str, actions: Sequence[Round]) -> HiveRound:
    shapes, counts = dict.fromkeys(KINDS, 0), dict.fromkeys(CELLS, 0)
    for action in actions:
        if (cells := action.place.get(hive)) is not None:
            shapes[SHAPES[cells].kind] += 1
            for cell in cells:
                counts[cell] += 1
    return HiveRound(round=number, shapes=shapes, counts=counts)


def _users(state: HiveMindState, what: Literal["double", "block"], hives: Sequence[str]) -> dict[str, Seats]:
    """Return the seats that double or block, indexed by Hive; Hives without any are left out."""
    users: dict[str, Seats] = {}
    for hive in hives:
        if seats := seats_that(what, rounds_on(state, hive), hive):
            users[hive] = seats
    return users


def _last_words(state: HiveMindState, result: PointResults) -> _Telling:
    """Return the final events: the reveal and, in `recharged`, the Blocks before it."""
    rules = RULE_SETS[state.variant]
    placements: list[dict[str, tuple[str | None, ...]]] = [{} for _ in range(SEATS)]
    for hive in rules.hives:
        by_round = play_on(state, hive).placements
        for placed, own in zip(placements, zip(*by_round, strict=True), strict=True):
            placed[hive] = own
    reveal = Reveal(
        hives=state.values,
        placements=by_seat(placements),
        points=by_seat(result.points),
        feats=feats_by_seat(result),
    )
    blocks = Blocks(hives=_users(state, "block", rules.hives))
    return [(blocks, None), (reveal, None)] if rules.blocks_at_end else [(reveal, None)]
