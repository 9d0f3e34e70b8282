"""Bursts both ways at once between a line and a peer process: shared by the tests and the bench."""

import subprocess
from random import Random

import trio

from referee.wire.line import Arrived, Bell, HandedOver, Line
from tests.real_wire.peer import bursts, numbered

START_SECONDS = 120.0
"""Far more than a peer process takes to start, also on a busy machine."""
STALL_SECONDS = 30.0
"""A round that takes longer has lost a wake-up: nothing else would end it."""


async def next_item(line: Line, bell: Bell) -> Arrived | HandedOver:
    """Wait for the next item. No bell rings for a HandedOver, so it is found with what comes next."""
    while True:
        try:
            item = line.receive_nowait()
        except trio.WouldBlock:
            await bell.wait()
        else:
            assert isinstance(item, Arrived | HandedOver), item
            return item


async def next_arrival(line: Line, bell: Bell) -> Arrived:
    while not isinstance(item := await next_item(line, bell), Arrived):
        pass
    return item


async def next_handed_over(line: Line) -> HandedOver:
    """Wait for the next item, which must be a HandedOver."""
    with trio.fail_after(STALL_SECONDS):
        while True:
            try:
                item = line.receive_nowait()
            except trio.WouldBlock:
                await trio.sleep(0.001)
            else:
                assert isinstance(item, HandedOver), item
                return item


async def impatient_item(line: Line, bell: Bell, rng: Random) -> Arrived | HandedOver:
    """Wait for the next item, and break waits off at random."""
    while True:
        with trio.move_on_after(rng.random() * 0.001):
            return await next_item(line, bell)
        if rng.random() < 0.1:
            with trio.move_on_after(rng.random() * 0.001):
                await line.settle()


async def send_burst(line: Line, numbers: range, rng: Random) -> None:
    """Send in handfuls with pauses between them; ask when the last was handed over."""
    for number in numbers:
        line.send(numbered(number, rng), timed=number == numbers[-1])
        if rng.random() < 0.02:
            await trio.sleep(rng.choice((0, rng.random() * 0.002)))


async def stress(line: Line, bell: Bell, messages: int, seed: int, *, impatient: bool = False) -> None:
    """Be the host's end of `peer.stress`.

    Raises:
        AssertionError: a message was lost or out of order, or a stamp went backwards.
        trio.TooSlowError: a round stalled.
    """
    rng, sending = Random(f"{seed}/host"), Random(f"{seed}/sending")
    sent = heard = 0
    last = 0.0
    with trio.fail_after(START_SECONDS):
        assert b"hello" == (await next_arrival(line, bell)).frame, "nothing is kept for who is not there"
    for of_host, of_peer in bursts(messages, seed):
        with trio.fail_after(STALL_SECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(send_burst, line, range(sent, sent + of_host), sending)
                heard_all, handed_over = heard + of_peer, False
                while heard < heard_all:
                    item = await (impatient_item(line, bell, rng) if impatient else next_item(line, bell))
                    assert last <= item.at <= trio.current_time()
                    last = item.at
                    if isinstance(item, HandedOver):
                        handed_over = True
                    else:
                        assert heard == int.from_bytes(item.frame[:4], "big")
                        heard += 1
                if not handed_over:
                    last = (await next_handed_over(line)).at
        sent += of_host
    line.send(b"done")


async def ended_well(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a peer, and assert that it had nothing to complain about."""
    code = await trio.to_thread.run_sync(process.wait, STALL_SECONDS)
    assert code == 0
