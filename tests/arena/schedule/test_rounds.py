"""Rounds that depend on results: the same results always lead to the same rounds, however they were come by."""

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.schedule.contract import Fixed, Schedule, blocks_so_far, next_round, rounds_of
from arena.schedule.knockout import Knockout
from arena.schedule.ladder import Ladder
from arena.schedule.round_robin import round_robin
from arena.schedule.swiss import Swiss
from arena.statistics.standings import CountedMatch
from tests.arena.schedule.paired import by_lot, played_out, result, spec
from tests.long import cases

DEPENDENT: list[Schedule] = [
    Swiss(spec("swiss", 7, rounds=4, blocks=2)),
    Swiss(spec("swiss", 7, rounds=4, filled=True)),
    Knockout(spec("knockout", 6)),
    Ladder(spec("ladder", 5, rounds=4)),
]


@settings(max_examples=cases(15, 25))
@given(st.sampled_from(DEPENDENT), st.integers(), st.data())
def test_whatever_is_known_the_next_round_is_the_one_of_the_undisturbed_tournament(
    schedule: Schedule, seed: int, data: st.DataObject
) -> None:
    """Cut off anywhere, even within a round, and asked again: the same blocks, deals and names."""
    rounds, results = played_out(schedule, seed=seed)
    known = data.draw(st.integers(0, len(results)))
    ends = [sum(len(block.matches) for blocks in rounds[:turn] for block in blocks) for turn in range(len(rounds))]
    expected = [blocks for blocks, end in zip(rounds, ends, strict=True) if end <= known][-1]
    assert next_round(schedule.rounds(seed), results[:known]) == (expected if known < len(results) else [])


@pytest.mark.parametrize("schedule", DEPENDENT, ids=lambda schedule: type(schedule).__name__)
def test_blocks_are_numbered_in_schedule_order_and_each_has_a_deal_of_its_own(schedule: Schedule) -> None:
    rounds, results = played_out(schedule)
    blocks = [block for round_ in rounds for block in round_]
    assert list(range(len(blocks))) == [block.number for block in blocks]
    assert len(blocks) == len({block.matches[0].seed for block in blocks})
    assert blocks == list(blocks_so_far(schedule.rounds(1), results))


@settings(max_examples=cases(15, 25))
@given(st.sampled_from(DEPENDENT), st.data())
def test_whatever_a_ledger_has_already_each_round_is_made_of_the_results_of_those_before(
    schedule: Schedule, data: st.DataObject
) -> None:
    """A tournament that goes on has results of rounds that are asked for again."""
    rounds, results = played_out(schedule)
    ledger = {
        (played.block, played.seating): played for played in results[: data.draw(st.integers(0, len(results)))]
    }

    def results_between(first: int, end: int) -> Sequence[CountedMatch]:
        return [ledger[key] for key in sorted(ledger) if first <= key[0] < end]

    found = []
    for blocks in rounds_of(schedule.rounds(1), results_between):
        found.append(list(blocks()))
        ledger |= {
            (match.block, match.seating): result(match, by_lot) for block in blocks() for match in block.matches
        }
    assert rounds == found


def test_a_schedule_that_depends_on_nothing_is_one_round_that_can_be_had_again_and_again() -> None:
    (blocks,) = rounds_of(Fixed(partial(round_robin, 3, 2), 12).rounds(5), lambda *_: [])
    assert list(round_robin(3, 2, 5)) == list(blocks()) == list(blocks())
