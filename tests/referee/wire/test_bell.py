"""A bell wakes its task, or has what there is to do done by whoever rings it."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from referee.wire.line import Bell


async def test_the_ringer_runs_the_answer_and_the_task_continues_when_it_returns_true() -> None:
    bell, said, gone_on = Bell(), [False, False, True], trio.Event()

    async def waits() -> None:
        await bell.wait(lambda: said.pop(0))
        gone_on.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        await wait_all_tasks_blocked()
        bell.ring()
        assert [False, True] == said
        bell.ring()
        await wait_all_tasks_blocked()
        assert not gone_on.is_set()
        bell.ring()
        assert [] == said
        await gone_on.wait()
        bell.ring()  # Nobody waits: it is for the next.
        await bell.wait()


async def test_an_error_of_the_answer_is_raised_in_the_waiting_task_and_not_in_the_ringer() -> None:
    bell = Bell()

    async def waits() -> None:
        with pytest.raises(ZeroDivisionError):
            await bell.wait(lambda: bool(1 // 0))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        await wait_all_tasks_blocked()
        bell.ring()


async def test_an_answer_that_rings_itself_is_not_asked_within_itself_and_the_task_goes_on() -> None:
    bell, asked = Bell(), list[int]()

    def answer() -> bool:
        asked.append(len(asked))
        bell.ring()
        return False

    async with trio.open_nursery() as nursery:
        nursery.start_soon(bell.wait, answer)
        await wait_all_tasks_blocked()
        bell.ring()
    assert [0] == asked


async def test_a_task_that_was_cancelled_is_answered_for_no_more() -> None:
    bell, asked = Bell(), list[int]()

    def answer() -> bool:
        asked.append(0)
        return True

    async with trio.open_nursery() as nursery:
        nursery.start_soon(bell.wait, answer)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    bell.ring()
    assert [] == asked
