"""The agenda: whole blocks for each worker, the last ones shared out, and nothing lost or played twice."""

from collections.abc import Callable

from arena.schedule.blocks import Block, ScheduledMatch
from arena.schedule.queue import AHEAD, MatchQueue, NotYetScheduled, Ticket
from arena.schedule.round_robin import round_robin
from arena.schedule.tables import Tables

FIVE_A_BLOCK = Tables(entrants=5, seats=5, rounds=3, rotations=5, filled=False)


def taken(agenda: MatchQueue, worker: int) -> Ticket:
    ticket = agenda.take(worker)
    assert ticket is not None
    return ticket


def places(*tickets: Ticket) -> list[tuple[int, int]]:
    return [(ticket.match.block, ticket.match.seating) for ticket in tickets]


def test_a_worker_goes_on_with_its_own_block_before_it_begins_another() -> None:
    agenda = MatchQueue(FIVE_A_BLOCK.blocks(1), set())
    workers = [0, 1, 0, 1, 1, 0]
    expected = [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2), (0, 2)]
    assert expected == places(*(taken(agenda, worker) for worker in workers))


def test_when_no_block_is_left_to_begin_the_idle_help_with_the_others() -> None:
    agenda = MatchQueue(round_robin(2, 1, 1), set())
    assert [(0, 0), (0, 1)] == places(taken(agenda, 0), taken(agenda, 1))
    assert agenda.take(1) is None


def test_finished_matches_are_not_handed_out() -> None:
    agenda = MatchQueue(round_robin(2, 2, 1), {(0, 0), (0, 1), (1, 0)})
    assert [(1, 1)] == places(taken(agenda, 0))
    assert agenda.take(0) is None


def test_it_is_done_when_all_that_was_handed_out_has_ended() -> None:
    agenda = MatchQueue(round_robin(2, 1, 1), set())
    first, second = taken(agenda, 0), taken(agenda, 0)
    assert agenda.take(0) is None
    assert agenda.ended(first)
    assert not agenda.done
    assert agenda.ended(second)
    assert agenda.done


def test_an_interrupted_match_is_the_next_of_its_block_and_whoever_is_idle_plays_it() -> None:
    agenda = MatchQueue(FIVE_A_BLOCK.blocks(1), set())
    first, _ = taken(agenda, 0), taken(agenda, 0)
    agenda.interrupted(first)
    assert [(0, 0), (0, 2)] == places(taken(agenda, 0), taken(agenda, 0))


def test_a_void_block_begins_again_with_all_its_matches_also_with_those_of_an_earlier_run() -> None:
    agenda = MatchQueue(round_robin(2, 1, 1), {(0, 0)})
    assert 1 == agenda.void(taken(agenda, 0))
    first, second = taken(agenda, 0), taken(agenda, 1)
    assert [(0, 0), (0, 1)] == places(first, second)
    assert (True, True, True) == (agenda.ended(first), agenda.ended(second), agenda.done)


def test_a_match_handed_out_before_its_block_restarted_neither_counts_nor_restarts_it() -> None:
    agenda = MatchQueue(FIVE_A_BLOCK.blocks(1), set())
    void, ending, voided_too, interrupted = (taken(agenda, 0) for _ in range(4))
    assert 1 == agenda.void(void)
    assert not agenda.ended(ending)
    assert agenda.void(voided_too) is None
    agenda.interrupted(interrupted)
    again = [taken(agenda, 0) for _ in range(5)]
    assert [(0, seating) for seating in range(5)] == places(*again)
    assert 2 == agenda.void(again[0])


def without(entrant: int, asked: list[int] | None = None) -> Callable[[ScheduledMatch], bool]:
    """All matches can be played but this bot's."""

    def fits(match: ScheduledMatch) -> bool:
        if asked is not None:
            asked.append(match.block)
        return entrant not in match.entrants

    return fits


def test_a_match_that_cannot_be_played_yet_is_overtaken_and_played_when_it_can() -> None:
    agenda = MatchQueue(round_robin(3, 1, 1), set())
    blocks = [block.entrants for block in round_robin(3, 1, 1)]
    (others,) = [number for number, seated in enumerate(blocks) if 0 not in seated]
    first, second = agenda.take(0, without(0)), agenda.take(0, without(0))
    assert first is not None
    assert second is not None
    assert [(others, 0), (others, 1)] == places(first, second)
    assert agenda.take(0, without(0)) is None
    assert agenda.ended(first)
    assert agenda.ended(second)
    assert not agenda.done
    rest = [taken(agenda, 0) for _ in range(4)]
    assert sorted(set(range(3)) - {others}) == sorted({ticket.match.block for ticket in rest})
    assert all(agenda.ended(ticket) for ticket in rest)
    assert agenda.take(0) is None
    assert agenda.done


def test_a_change_concerns_no_block_that_was_overtaken_and_drops_those_behind() -> None:
    agenda = MatchQueue(round_robin(4, 20, 1), set())
    blocks = [block.entrants for block in round_robin(4, 20, 1)]
    played = agenda.take(0, without(0))
    assert played is not None
    begun = played.match.block
    assert [number for number in range(begun + 1) if 0 not in blocks[number]] == [begun]
    agenda.end_at(lambda next_block: next_block)
    left = []
    while (ticket := agenda.take(0)) is not None:
        left.append(ticket.match.block)
    assert set(range(begun + 1)) == {*left, begun}


def test_no_more_than_so_many_blocks_are_looked_at_ahead() -> None:
    agenda, asked = MatchQueue(round_robin(2, 10 * AHEAD, 1), set()), list[int]()
    assert agenda.take(0, without(0, asked)) is None
    assert agenda.take(0, without(0, asked)) is None
    assert AHEAD - 1 == max(asked)
    assert not agenda.done


def test_a_change_comes_right_after_the_blocks_that_were_played_in_an_earlier_run() -> None:
    """The next block waits for its bot, and has not begun: it is the first that a change concerns."""
    agenda, first_concerned = MatchQueue(round_robin(2, 3, 1), {(0, 0), (0, 1)}), list[int]()
    assert agenda.take(0, without(0)) is None

    def at_the_next(next_block: int) -> int:
        first_concerned.append(next_block)
        return next_block

    agenda.end_at(at_the_next)
    assert [1] == first_concerned
    assert agenda.take(0) is None
    assert agenda.done


def test_blocks_that_depend_on_results_are_asked_for_again() -> None:
    """Nothing is handed out meanwhile, and it is not over."""
    coming = list[Block | NotYetScheduled](
        [Block(0, 0, (0, 1), (0, 1), 1), NotYetScheduled(), Block(1, 1, (0, 1), (0, 1), 1)]
    )
    queue = MatchQueue(iter(coming), set())
    first, second = queue.take(1), queue.take(1)
    assert first is not None
    assert second is not None
    assert queue.take(1) is None
    assert not queue.done
    assert [True, True] == [queue.ended(first), queue.ended(second)]
    third = queue.take(1)
    assert third is not None
    assert 1 == third.match.block


def test_blocks_that_depend_on_what_a_change_dropped_are_waited_for_no_more() -> None:
    """A wave whose last block waits for an absent bot, and a change before it: nothing would ever end the wait."""
    seats = [(1, 2), (0, 1)]
    wave = [Block(number, 0, entrants, (0, 1), 1) for number, entrants in enumerate(seats)]
    agenda = MatchQueue(iter([*wave, NotYetScheduled(), NotYetScheduled(), NotYetScheduled()]), set())
    first, second = agenda.take(0, without(0)), agenda.take(0, without(0))
    assert first is not None
    assert second is not None
    assert agenda.take(0, without(0)) is None
    agenda.end_at(lambda next_block: next_block)
    assert [True, True] == [agenda.ended(first), agenda.ended(second)]
    assert agenda.take(0, without(0)) is None
    assert agenda.done


def test_when_it_is_stopped_what_was_overtaken_does_not_begin_and_what_may_wait_for_long_is_left() -> None:
    blocks = [
        Block(number, 0, entrants, (0, 1), 1) for number, entrants in enumerate([(1, 2), (0, 1), (1, 2), (0, 2)])
    ]
    agenda = MatchQueue(iter(blocks), set())
    with_0, with_others = taken(agenda, 0), taken(agenda, 0)
    assert [(0, 0), (0, 1)] == places(with_0, with_others)
    begun = agenda.take(0)
    overtaking = agenda.take(0, without(0))
    assert begun is not None
    assert overtaking is not None
    assert [(1, 0), (2, 0)] == places(begun, overtaking)
    agenda.stop(lambda match: 0 in match.entrants)
    last = agenda.take(0)
    assert last is not None
    assert [(2, 1)] == places(last)
    assert agenda.take(0) is None
    for ticket in (with_0, with_others, begun, overtaking, last):
        assert not agenda.done
        assert ticket is not None
        assert agenda.ended(ticket)
    assert agenda.done
