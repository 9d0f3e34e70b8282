"""Attempts to take more memory: in one process, in all together, and in forms that belong to no process.

Each attempt stops by itself at about twice the limit.
"""

import ctypes
import mmap
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import ceil

from .attempt import Verdict, attacks, bounded
from .kernel import call
from .scene import MEGABYTE, Scene

SLACK = 1.25
"""Tolerance for memory that the bot did not take, such as that of the sandbox itself."""
STEP_MB = 8
SHARE_MB = 48
"""Memory that each of many processes takes; it is below the limit of one process."""
SEGMENT_MB = 16
RESERVED = 4
"""Number of processes that already exist, and some in reserve."""
CREATE, EXCLUSIVE = 0o1000, 0o2000
REMOVE = 0
_blocks: list[mmap.mmap] = []
_unread: list[tuple[socket.socket, socket.socket]] = []
"""Open sockets with unread data; closing them would free their memory."""


def _allowed(scene: Scene) -> float:
    return SLACK * (scene.memory_mb + scene.scratch_mb)


def _say(got_mb: float) -> None:
    """Report the progress now, because the layer may kill this process at any time."""
    sys.stdout.write(f'{{"got": "{got_mb:.4g} MB"}}\n')
    sys.stdout.flush()


def _kept(size_mb: int) -> int:
    """Take memory, never free it, and return its size in megabytes."""
    _blocks.append(_touched(size_mb))
    return size_mb


def _touched(size_mb: int) -> mmap.mmap:
    block = mmap.mmap(-1, size_mb * MEGABYTE)
    for at in range(0, len(block), mmap.PAGESIZE):
        block[at] = 1
    return block


@attacks("resource limits", seconds=10)
def takes_memory_in_one_process(scene: Scene) -> Verdict:
    """Takes memory in one process until it gets no more."""
    kept: list[mmap.mmap] = []
    with suppress(OSError, MemoryError):
        while len(kept) * STEP_MB < 2 * scene.memory_mb:
            kept.append(_touched(STEP_MB))
            _say(len(kept) * STEP_MB)
    return bounded(len(kept) * STEP_MB, scene.memory_mb, "MB")


@attacks("memory group", seconds=10)
def takes_memory_in_many_processes(scene: Scene) -> Verdict:
    """Takes memory in many processes at once, each within its own limit."""
    wanted = min(ceil(2 * scene.memory_mb / SHARE_MB), scene.processes - RESERVED)
    return _by_many(scene, wanted, partial(_kept, SHARE_MB))


def _by_many(scene: Scene, wanted: int, take: Callable[[], int]) -> Verdict:
    """Take memory in many processes at once. `take` returns the megabytes that its process took."""
    children: dict[int, int] = {}
    for _ in range(wanted):
        reading, writing = os.pipe()
        try:
            child = os.fork()
        except OSError:
            # If memory has run out, no process can be started.
            os.close(writing)
            break
        if child == 0:
            for others in children.values():
                os.close(others)
            os.write(writing, bytes([take()]))
            while True:
                signal.pause()
        os.close(writing)
        children[child] = reading
    told = {child: sum(os.read(reading, 1)) for child, reading in children.items()}
    # The kernel may have killed a process with its memory in favour of another one.
    kept = [got for child, got in told.items() if os.waitpid(child, os.WNOHANG) == (0, 0)]
    verdict = bounded(sum(kept), _allowed(scene), "MB")
    return Verdict(verdict.result, f"{verdict.evidence}, in {len(kept)} of {wanted} processes")


@attacks("memory group", seconds=10)
def takes_memory_by_memfd(scene: Scene) -> Verdict:
    """Takes memory in files without a name, which no process has mapped."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    got = 0.0
    block = b"\1" * MEGABYTE
    with suppress(OSError):
        while got < 2 * scene.memory_mb:
            descriptor = call("memfd_create", ctypes.c_char_p(b"x"), 0)
            written = MEGABYTE
            while got < 2 * scene.memory_mb and written:
                try:
                    written = os.write(descriptor, block)
                except OSError:
                    break
                got += written / MEGABYTE
            _say(got)
    return bounded(got, _allowed(scene), "MB")


@attacks("memory group", seconds=10)
def takes_memory_by_system_v(scene: Scene) -> Verdict:
    """Takes memory in System V segments, which no process keeps attached."""
    got = 0
    with suppress(OSError):
        while got < 2 * scene.memory_mb:
            # The keys are known to the host, which can remove the segments if this process is killed.
            key = scene.first_key + got // SEGMENT_MB
            segment = call("shmget", key, SEGMENT_MB * MEGABYTE, CREATE | EXCLUSIVE | 0o600)
            address = call("shmat", segment, None, 0)
            ctypes.memset(address, 1, SEGMENT_MB * MEGABYTE)
            call("shmdt", ctypes.c_void_p(address))
            got += SEGMENT_MB
            _say(got)
    remove_segments(scene)
    return bounded(got, _allowed(scene), "MB")


def remove_segments(scene: Scene) -> None:
    """Remove the segments of `takes_memory_by_system_v`."""
    for number in range(ceil(2 * scene.memory_mb / SEGMENT_MB)):
        with suppress(OSError):
            call("shmctl", call("shmget", scene.first_key + number, 0, 0), REMOVE, None)


@attacks("memory group", seconds=10)
def takes_memory_by_sockets(scene: Scene) -> Verdict:
    """Takes memory in what many processes send to themselves and do not read."""
    return _by_many(scene, scene.processes - RESERVED, _sent_mb)


def _sent_mb() -> int:
    """Fill as many sockets as possible with unread data, and return the megabytes that the kernel stores."""
    sent = 0
    block = bytes(32 * 1024)
    with suppress(OSError):
        while True:
            pair = socket.socketpair()
            _unread.append(pair)
            for end in pair:
                end.setblocking(False)
                with suppress(BlockingIOError):
                    while True:
                        sent += end.send(block)
    return sent // MEGABYTE
