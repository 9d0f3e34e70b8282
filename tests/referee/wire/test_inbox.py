"""What a line holds for the host: bounded, in order, with stamps that never go back."""

import pytest
import trio

from referee.wire.line import INBOX_BYTES, INBOX_FRAMES, Arrived, HandedOver, Inbox, NotReading


async def test_arrivals_are_taken_out_in_order() -> None:
    inbox = Inbox()
    inbox.arrived(-1.0, b"first", 7)
    inbox.handed_over(2)
    inbox.not_reading()
    now = trio.current_time()
    taken = [inbox.take() for _ in range(4)]
    assert [Arrived(-1.0, b"first", 7), HandedOver, HandedOver, NotReading] == [taken[0], *map(type, taken[1:])]
    assert taken[3].at <= now
    assert not inbox.has_more()


async def test_taking_from_an_empty_inbox_would_block() -> None:
    with pytest.raises(trio.WouldBlock):
        Inbox().take()


async def test_no_stamp_is_before_one_that_was_given_already() -> None:
    inbox = Inbox()
    inbox.handed_over()
    inbox.arrived(-1.0, b"of before", 9)
    handed, arrived = inbox.take(), inbox.take()
    assert handed.at == arrived.at


LARGE = bytes(64 * 1024)


@pytest.mark.parametrize(
    ("most", "frame"), [(INBOX_FRAMES, b""), (INBOX_BYTES // len(LARGE), LARGE)], ids=["frames", "bytes"]
)
def test_it_is_full_until_one_is_taken_out(most: int, frame: bytes) -> None:
    inbox = Inbox()
    for _ in range(most):
        assert not inbox.full()
        inbox.arrived(0.0, frame, len(frame))
    assert inbox.full()
    inbox.take()
    assert not inbox.full()
