"""Lets its time pass and answers too late, in many ways that look as if it had been kept from running.

Its command names the way. All but `honest` could have answered in time; `honest` computes without rest, and would
have been done in time on a free processor.
"""

import ctypes
import mmap
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

LATE_SECONDS = 0.15
NEEDED = 0.9
"""The share of a window's time that `honest` computes for."""
FREQUENT_SECONDS = 0.0002
MEGABYTE = 1 << 20

libc = ctypes.CDLL(None)


def spin(until: float) -> None:
    """Compute without a pause."""
    while time.monotonic() < until:
        pass


def sleep(until: float) -> None:
    """Do nothing."""
    while (left := until - time.monotonic()) > 0:
        time.sleep(left)


def child(run: Callable[[], None]) -> int:
    """Run a function in a child process; return its number."""
    number = os.fork()
    if number == 0:
        with suppress(OSError):
            run()
        os._exit(0)
    return number


def with_children(until: float, prepare: Callable[[], object], number: int = 2) -> None:
    """Sleeps while children spin, whatever they did to themselves before."""

    def work() -> None:
        prepare()
        spin(until)

    for _ in range(number):
        child(work)
    sleep(until)


def children(until: float) -> None:
    """Children that wait for processors."""
    with_children(until, lambda: None, number=4)


def among_children(until: float) -> None:
    """Work for most of its time among many children that work too, so that it waits long; then sleep."""
    for _ in range(20):
        child(lambda: spin(until))
    spin(time.monotonic() + (until - LATE_SECONDS - time.monotonic()) * 0.8)
    sleep(until)


def nice_children(until: float) -> None:
    """Children that let all others go first."""
    with_children(until, lambda: os.setpriority(os.PRIO_PROCESS, 0, 19))


def bound_children(until: float) -> None:
    """Children that use one processor together, and let all others go first."""

    def prepare() -> None:
        os.setpriority(os.PRIO_PROCESS, 0, 19)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    with_children(until, prepare)


def idle_children(until: float) -> None:
    """Children that run when nobody else wants to."""
    with_children(until, lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)))


def threads(until: float) -> None:
    """Threads that wait for processors, in its own process."""
    for _ in range(3):
        threading.Thread(target=spin, args=(until,), daemon=True).start()
    sleep(until)


def threads_by_another_name(until: float) -> None:
    """Compute in a thread that has the name of ZeroMQ's own."""

    def work() -> None:
        libc.prctl(15, b"ZMQbg/IO/7", 0, 0, 0)
        spin(until)

    threading.Thread(target=work, daemon=True).start()
    sleep(until)


def low_priority(until: float) -> None:
    """Itself, when all others have had their turn."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, 19)
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    sleep(until)


def bound(until: float) -> None:
    """Itself, on the one processor that a child of its keeps busy."""
    with suppress(OSError):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with_children(until, lambda: None, number=2)


def burnt_quota(until: float) -> None:
    """All processors that it may use at once, and more, so that it is throttled."""
    for _ in range(4):
        child(lambda: spin(until - LATE_SECONDS))
    spin(time.monotonic() + (until - time.monotonic()) / 4)
    sleep(until)


def memory(until: float) -> None:
    """Memory up to its bound, again and again."""

    def work() -> None:
        while time.monotonic() < until:
            held = mmap.mmap(-1, 64 * MEGABYTE)
            for page in range(0, len(held), mmap.PAGESIZE):
                held[page] = 1
            held.close()

    child(work)
    sleep(until)


def page_faults(until: float) -> None:
    """Pages that are given back as soon as they are there: in its main thread, a little work between two naps."""
    held = mmap.mmap(-1, MEGABYTE)
    while time.monotonic() < until:
        for page in range(0, len(held), mmap.PAGESIZE):
            held[page] = 1
        held.madvise(mmap.MADV_DONTNEED)
        time.sleep(0.02)


def disk(until: float) -> None:
    """Files that are written and waited for."""
    with tempfile.TemporaryFile() as file:
        while time.monotonic() < until:
            file.seek(0)
            file.write(bytes(MEGABYTE))
            file.flush()
            os.fsync(file.fileno())
            time.sleep(0.02)


def futexes(until: float) -> None:
    """Two threads that hand each other a lock."""
    there, back = threading.Semaphore(0), threading.Semaphore(0)

    def other() -> None:
        while time.monotonic() < until:
            there.acquire(timeout=0.05)
            back.release()

    threading.Thread(target=other, daemon=True).start()
    while time.monotonic() < until:
        there.release()
        back.acquire(timeout=0.05)


def pipes(until: float) -> None:
    """Two processes that wake each other."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.settimeout(0.05)

    def answer() -> None:
        while time.monotonic() < until:
            with suppress(TimeoutError):
                theirs.send(theirs.recv(1))

    child(answer)
    while time.monotonic() < until:
        with suppress(TimeoutError):
            ours.send(b"x")
            ours.recv(1)


def naps(until: float) -> None:
    """Thousands of short sleeps: after each it waits for a processor."""
    while time.monotonic() < until:
        time.sleep(FREQUENT_SECONDS)


def signals(until: float) -> None:
    """Signals to itself."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    sleep(until)
    signal.setitimer(signal.ITIMER_REAL, 0)


def stopped(until: float) -> None:
    """Stop this process; a child resumes it, as it was asked to."""
    own = os.getpid()

    def wake() -> None:
        spin(until)
        os.kill(own, signal.SIGCONT)

    child(wake)
    os.kill(own, signal.SIGSTOP)
    sleep(until)


def stopped_children(until: float) -> None:
    """Children that stop and are let go on."""
    number = child(lambda: spin(until))
    while time.monotonic() < until:
        os.kill(number, signal.SIGSTOP)
        time.sleep(0.005)
        os.kill(number, signal.SIGCONT)
        time.sleep(0.005)


def waits_for_a_child(until: float) -> None:
    """Start a child that computes, and wait for its end as for a result."""
    os.waitpid(child(lambda: spin(until)), 0)


def works_by_halves(until: float) -> None:
    """As much sleep as work, in turns of some milliseconds."""
    while time.monotonic() < until:
        spin(min(until, time.monotonic() + 0.002))
        time.sleep(0.004)


def works_then_sleeps(until: float) -> None:
    """Work for half of the time, then sleep past its end."""
    spin(time.monotonic() + (until - time.monotonic()) / 2)
    sleep(until)


def sleeps_then_works(until: float) -> None:
    """Sleep until its time is over, then work."""
    sleep(until - LATE_SECONDS)
    spin(until)


WAYS: dict[str, Callable[[float], None]] = {
    way.__name__: way
    for way in (
        *(children, among_children, nice_children, bound_children, idle_children),
        *(threads, threads_by_another_name),
        *(low_priority, bound, burnt_quota, memory, page_faults, disk, futexes, pipes, naps, signals),
        *(stopped, stopped_children, waits_for_a_child, works_by_halves, works_then_sleeps, sleeps_then_works),
    )
}


def honest(seconds: float) -> None:
    """Compute for most of the window."""
    until = time.thread_time() + NEEDED * seconds
    while time.thread_time() < until:
        pass


def answer(bot: Any, way: str, window: dict[str, Any], arrived: float) -> None:
    """Submit the window's default, late."""
    seconds = window["main_ms"] / 1_000
    if way == "honest":
        honest(seconds)
    elif way != "prompt":
        WAYS[way](arrived + seconds + LATE_SECONDS)
    bot.submit(window)


def main() -> None:
    """Play one match."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN if sys.argv[1] != "waits_for_a_child" else signal.SIG_DFL)
    from raw import Connection  # noqa: PLC0415 - beside it where it is a bot, not where its ways are asked for

    bot = Connection()
    bot.hello()
    while True:
        window = bot.hear("window")
        answer(bot, sys.argv[1], window, time.monotonic())


if __name__ == "__main__":
    main()
