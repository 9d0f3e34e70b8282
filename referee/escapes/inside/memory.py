"""Memory by every means: by one process, by all together, and by what counts as no process's.

Each attempt stops by itself at twice what is allowed.
"""

import ctypes
import mmap
import os
import signal
import socket
import sys
from contextlib import suppress
from math import ceil

from .attempt import Verdict, attacks, bounded
from .kernel import call
from .scene import Scene

MEGABYTE = 1024 * 1024
SLACK = 1.25
"""For what counts to the bot beside its own: its scratch, and the sandbox itself."""
STEP_MB = 8
SHARE_MB = 48
"""Of each of many processes: any one of them may have so much."""
SEGMENT_MB = 16
CREATE, EXCLUSIVE = 0o1000, 0o2000
REMOVE = 0


def _allowed(scene: Scene) -> float:
    """For all processes together, in megabytes."""
    return SLACK * (scene.memory_mb + scene.scratch_mb)


def _say(got_mb: float) -> None:
    """Tells how far it is: this process may be ended by the wall, and could not tell afterwards."""
    sys.stdout.write(f'{{"got": "{got_mb:.4g} MB"}}\n')
    sys.stdout.flush()


def _touched(size_mb: int) -> mmap.mmap:
    """Memory that is really there."""
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
    wanted = min(ceil(2 * scene.memory_mb / SHARE_MB), scene.processes - 4)
    children: list[tuple[int, int]] = []
    for _ in range(wanted):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            kept = _touched(SHARE_MB)
            os.write(writing, b"!")
            signal.pause()
            os._exit(len(kept) == 0)
        os.close(writing)
        children.append((child, reading))
    full = [child for child, reading in children if os.read(reading, 1)]
    # One that had its share may have been ended for another's.
    alive = [child for child in full if os.waitpid(child, os.WNOHANG) == (0, 0)]
    got = bounded(len(alive) * SHARE_MB, _allowed(scene), "MB")
    return Verdict(got.result, f"{got.evidence}; {len(alive)} of {wanted} processes had {SHARE_MB} MB")


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
            # Known keys: whatever becomes of this process, the host can remove them.
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
    """Removes what the attempt above made."""
    for number in range(ceil(2 * scene.memory_mb / SEGMENT_MB)):
        with suppress(OSError):
            call("shmctl", call("shmget", scene.first_key + number, 0, 0), REMOVE, None)


@attacks("memory group", seconds=10)
def takes_memory_by_sockets(scene: Scene) -> Verdict:
    """Takes memory in what many processes send to themselves and do not read."""
    reading, writing = os.pipe()
    for _ in range(scene.processes - 4):
        if os.fork() == 0:
            os.write(writing, (_sent_bytes() // 1024).to_bytes(4, "little"))
            signal.pause()
    os.close(writing)
    told = [int.from_bytes(os.read(reading, 4), "little") for _ in range(scene.processes - 4)]
    return bounded(sum(told) / 1024, _allowed(scene), "MB")


def _sent_bytes() -> int:
    """How much the kernel keeps of what this process sends, through as many sockets as it may have."""
    sent, kept = 0, []
    block = bytes(32 * 1024)
    with suppress(OSError):
        while True:
            pair = socket.socketpair()
            kept.append(pair)
            for end in pair:
                end.setblocking(False)
                with suppress(BlockingIOError):
                    while True:
                        sent += end.send(block)
    return sent
