"""Conformance of Hive Mind by its own forger: secrets really vary, and leaks planted in it are caught.

That it keeps every promise is tested with all games.
"""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from protocol.games.hive_mind import Blocks, Doubles, Hint, HiveMindEvent, Round, RoundResult
from protocol.games.hive_mind.board import CELLS
from referee.games import GAMES
from referee.games.hive_mind import HiveMind
from referee.games.hive_mind.scoring import values_now
from referee.games.hive_mind.state import (
    ROUNDS,
    SEATS,
    HiveMindState,
    play_on,
    rounds_on,
    seats_that,
    turn,
    wallet,
)
from referee.proofs.conformance import check_game
from referee.proofs.conformance.swaps import ANONYMOUS
from referee.rules.contract import Addressed, AnyGame, ResolvedActions, Transition
from referee.rules.rng import MatchRandom
from tests.long import mostly_slow
from tests.referee.games.hive_mind.forger import forge
from tests.referee.proofs.planting import (
    AUDIENCE,
    SECRET,
    assert_caught,
    defaults,
    rejects,
    says_in_reasons,
    shows,
    tells_all,
)


def retold(
    step: Transition[HiveMindState], before: HiveMindState, change: Callable[[HiveMindEvent], HiveMindEvent]
) -> Transition[HiveMindState]:
    """Change the events of a step, in what is told as in what is remembered as told."""
    told = tuple(
        (*was, *(change(event) for event in now[len(was) :]))
        for was, now in zip(before.told, step.state.told, strict=True)
    )
    changed = tuple(Addressed(change(each.event), each.seat) for each in step.told)  # type: ignore[arg-type]
    return Transition(replace(step.state, told=told), changed)


def neighbour(seat: int | None) -> int:
    return 0 if seat is None else (seat + 1) % SEATS


class HintOfCurrentValues(HiveMind):
    """A hint sums up what the hexes are worth now, not what they were worth at first."""

    def close(self, state: HiveMindState, taken: ResolvedActions, rng: MatchRandom) -> Transition[HiveMindState]:
        step = super().close(state, taken, rng)

        def current(event: HiveMindEvent) -> HiveMindEvent:
            if not isinstance(event, Hint):
                return event
            values = values_now(state.values[event.hive], play_on(state, event.hive))
            return replace(event, total=sum(int(values[CELLS.index(cell)]) for cell in event.looks))

        return retold(step, state, current)


class MapInOrderOfSeats(HiveMind):
    """The counts stand in the order in which the seats' shapes lie over the hexes."""

    def close(self, state: HiveMindState, taken: ResolvedActions, rng: MatchRandom) -> Transition[HiveMindState]:
        step = super().close(state, taken, rng)

        def in_order(event: HiveMindEvent) -> HiveMindEvent:
            if not isinstance(event, RoundResult):
                return event
            hives = {}
            for hive, result in event.hives.items():
                placed = [cells or "" for cells in play_on(step.state, hive).placements[-1]]
                cells = dict.fromkeys("".join(placed) + CELLS)
                hives[hive] = replace(result, counts={cell: result.counts[cell] for cell in cells})
            return RoundResult(hives=hives)

        return retold(step, state, in_order)


class BlocksTooEarly(HiveMind):
    """Blocks are told together with Doubles."""

    def close(self, state: HiveMindState, taken: ResolvedActions, rng: MatchRandom) -> Transition[HiveMindState]:
        step = super().close(state, taken, rng)
        if not isinstance(step.told[-1].event, Doubles):
            return step
        by_hive = {hive: seats_that("block", rounds_on(step.state, hive), hive) for hive in state.values}
        blocks = Blocks(hives={hive: seats for hive, seats in by_hive.items() if seats})
        told = tuple((*events, blocks) for events in step.state.told)
        return Transition(replace(step.state, told=told), (*step.told, Addressed(blocks)))


def is_a_shape_of_another(state: HiveMindState, seat: int, action: object) -> bool:
    """Whether the seat's neighbour has placed on that Hive what is placed now."""
    return isinstance(action, Round) and any(
        cells == placed[neighbour(seat)]
        for hive, cells in action.place.items()
        for placed in play_on(state, hive).placements
    )


def right_guess(state: HiveMindState) -> Round:
    """Everything right in round 3."""
    now = turn(state)
    return Round(guess={hive: state.values[hive] for hive in now.hives} if now and now.number == ROUNDS else {})


def of_another(state: HiveMindState, seat: int | None) -> tuple[object, ...]:
    """Return what the seat's neighbour has submitted."""
    return tuple(actions[neighbour(seat)] for actions in state.rounds)


def a_value(state: HiveMindState) -> int:
    return int(next(iter(state.values.values()))[0])


LEAKS: dict[str, tuple[type[AnyGame], str]] = {
    "hints of current values": (HintOfCurrentValues, SECRET),
    "counts in the order of seats": (MapInOrderOfSeats, ANONYMOUS),
    "a shape of another, by rejection": (rejects(HiveMind, is_a_shape_of_another), SECRET),
    "a value, by reasons": (says_in_reasons(HiveMind, lambda state, _: "." * a_value(state)), SECRET),
    "hints told to all": (tells_all(HiveMind, Hint), AUDIENCE),
    "Blocks told with Doubles": (BlocksTooEarly, SECRET),
    "values, by the default": (defaults(HiveMind, "round", right_guess), SECRET),
    "what another has submitted": (shows(HiveMind, submitted=of_another), SECRET),
    "what another has left": (
        shows(HiveMind, wallet=lambda state, seat: wallet(state, neighbour(seat))),
        SECRET,
    ),
    "a value, by size": (shows(HiveMind, tied=lambda state, _: (0,) * a_value(state)), SECRET),
}


FEW = range(24)


@pytest.mark.slow
def test_its_secrets_are_really_swapped_values_placements_guesses_and_blocks() -> None:
    reports = check_game(GAMES["hive-mind"], FEW, forge)
    assert [("give_token", "scores"), ("scores",), ("give_token",)] == [report.unopened for report in reports]
    for report in reports:
        assert 2 * report.matches < report.forged
        assert report.windows < report.forged + report.twinned


@pytest.mark.parametrize("leak", mostly_slow(5, sorted(LEAKS)))
def test_planted_faults_are_caught_and_named(leak: str) -> None:
    assert_caught(*LEAKS[leak], FEW, forge)
