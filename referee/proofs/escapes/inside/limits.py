"""Attempts to exceed limits: of processes, descriptors, storage, memory and processor time.

Memory is taken in one process, in all together, and in forms that belong to no process. Each attempt stops by
itself at about twice the limit.
"""

import ctypes
import errno
import mmap
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import ceil

from .attempt import MEGABYTE, AttemptVerdict, Scene, any_of, attacks, bounded, call, proof, reason, say

BLOCK = bytes(MEGABYTE // 4)
MOST_PROCESSES = 300
"""Largest number of processes to start, so that a machine without a limit is not harmed."""
FOLDERS_LOOKED_AT = 3000
SLACK = 1.25
"""Tolerance for memory that the bot did not take, such as that of the sandbox itself; and of measured processor
time: the kernel grants a share per tenth of a second, so there may be one more at the end."""
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
LEAST_PRIORITY = 19
SCHED_CORE, SCHED_CORE_CREATE = 62, 1
"""The option of `prctl` for core scheduling, and its command."""
BURNING_SECONDS = 1.5
PROCESSES = 12
NOTHING_LEFT = 0.1
"""Number of idle processors below which other programs may be the reason that the bot got no more."""
TRIES = 3
"""Number of measurements while the machine is too busy."""
PAUSE_SECONDS = 0.002
FROZEN_SECONDS = 5.0
"""Longest wait to be frozen and thawed."""
GAP_SECONDS, AFTER_SECONDS = 0.6, 0.6
"""Seconds without progress that count as a freeze, and seconds of burning after it. The real freeze is longer."""


@attacks("process limit", seconds=10)
def forks_without_end(scene: Scene) -> AttemptVerdict:
    """Starts processes until it gets no more."""
    children: list[int] = []
    stopped = "stopped by itself"
    try:
        while len(children) < min(2 * scene.processes, MOST_PROCESSES):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except OSError as error:
        stopped = reason(error)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    # The two more are this process and the one that makes the attempts.
    got = bounded(len(children) + 2, scene.processes, "processes")
    return AttemptVerdict(got.result, f"{got.evidence}, {stopped}")


@attacks("process limit", seconds=10)
def starts_threads_without_end(scene: Scene) -> AttemptVerdict:
    """Starts threads until it gets no more."""
    over = threading.Event()
    threads: list[threading.Thread] = []
    threading.stack_size(256 * 1024)
    with suppress(RuntimeError, MemoryError):
        while len(threads) < min(2 * scene.processes, MOST_PROCESSES):
            thread = threading.Thread(target=over.wait, daemon=True)
            thread.start()
            threads.append(thread)
    over.set()
    return bounded(len(threads) + 2, scene.processes, "threads and processes")


@attacks("resource limits")
def opens_files_without_end(scene: Scene) -> AttemptVerdict:
    """Opens files until it gets no more."""
    opened = [len(os.listdir("/proc/self/fd")) - 2]
    with suppress(OSError):
        while len(opened) <= 2 * scene.files:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    return bounded(opened[-1] + 1, scene.files, "descriptors")


@attacks("resource limits")
def makes_one_huge_file(scene: Scene) -> AttemptVerdict:
    """Makes one file larger than its whole scratch."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = os.path.join(os.environ["TMPDIR"], "huge")

    def made() -> str:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
        try:
            os.ftruncate(descriptor, 2 * scene.scratch_mb * MEGABYTE)
        finally:
            os.unlink(path)
        return f"{2 * scene.scratch_mb} MB"

    return any_of([("ftruncate", made)])


@attacks("resource limits")
def raises_its_limits(scene: Scene) -> AttemptVerdict:
    """Gives itself more memory, files and processes than it was given."""

    def raised(kind: int) -> str:
        _, most = resource.getrlimit(kind)
        if most == resource.RLIM_INFINITY:
            return "there is none"
        try:
            resource.setrlimit(kind, (most + 1, most + 1))
        except ValueError:
            # Python raises ValueError for EPERM here.
            raise PermissionError(errno.EPERM, "not raised") from None
        return f"raised to {most + 1}"

    kinds = {"memory": resource.RLIMIT_AS, "files": resource.RLIMIT_NOFILE, "file size": resource.RLIMIT_FSIZE}
    return any_of((name, lambda kind=kind: raised(kind)) for name, kind in kinds.items())  # type: ignore[misc]


def _filled(folder: str, most_mb: float) -> float:
    """Write files to a folder, return the megabytes that it accepted, and remove the files."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    got = 0
    paths: list[str] = []
    try:
        while got < most_mb * MEGABYTE:
            paths.append(os.path.join(folder, f"fill-{os.getpid()}-{len(paths)}"))
            descriptor = os.open(paths[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                for _ in range(16):
                    got += os.write(descriptor, BLOCK)
            except OSError as error:
                if error.errno != errno.EFBIG:
                    raise
            finally:
                os.close(descriptor)
    except OSError:
        pass
    finally:
        for path in paths:
            with suppress(OSError):
                os.unlink(path)
    return got / MEGABYTE


@attacks("bounded scratch", seconds=10)
def fills_its_scratch(scene: Scene) -> AttemptVerdict:
    """Fills its scratch folder."""
    return bounded(_filled(os.environ["TMPDIR"], 2 * scene.scratch_mb), scene.scratch_mb, "MB")


@attacks("bounded shared memory", seconds=10)
def fills_shared_memory(scene: Scene) -> AttemptVerdict:
    """Fills /dev/shm."""
    return bounded(_filled("/dev/shm", 2 * scene.scratch_mb), scene.scratch_mb, "MB")


@attacks("read-only root", seconds=10)
def fills_the_disk(scene: Scene) -> AttemptVerdict:
    """Looks for any other folder that it may write to, and writes there more than its scratch would hold."""
    own = {os.path.realpath(os.environ["TMPDIR"]), "/dev/shm"}
    looked = 0
    until = time.monotonic() + 2
    for folder, folders, _ in os.walk("/"):
        looked += 1
        if looked > FOLDERS_LOOKED_AT or time.monotonic() > until:
            break
        folders[:] = [name for name in folders if os.path.join(folder, name) not in own]
        if folder == "/":
            # Try the likely folders first, and skip those that are not on a disk.
            folders[:] = sorted(set(folders) - {"proc", "sys", "dev"}, key=lambda name: name not in {"tmp", "var"})
        if os.access(folder, os.W_OK):
            got = _filled(folder, 2 * scene.scratch_mb)
            if got > scene.scratch_mb:
                return AttemptVerdict("escaped", f"wrote {got:.4g} MB to {folder}")
    return AttemptVerdict("held", f"none of {looked} folders took more than {scene.scratch_mb} MB")


def _allowed(scene: Scene) -> float:
    return SLACK * (scene.memory_mb + scene.scratch_mb)


def _say(got_mb: float) -> None:
    say({"got": f"{got_mb:.4g} MB"})


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
def takes_memory_in_one_process(scene: Scene) -> AttemptVerdict:
    """Takes memory in one process until it gets no more."""
    kept: list[mmap.mmap] = []
    with suppress(OSError, MemoryError):
        while len(kept) * STEP_MB < 2 * scene.memory_mb:
            kept.append(_touched(STEP_MB))
            _say(len(kept) * STEP_MB)
    return bounded(len(kept) * STEP_MB, scene.memory_mb, "MB")


@attacks("memory group", seconds=10)
def takes_memory_in_many_processes(scene: Scene) -> AttemptVerdict:
    """Takes memory in many processes at once, each within its own limit."""
    wanted = min(ceil(2 * scene.memory_mb / SHARE_MB), scene.processes - RESERVED)
    return _by_many(scene, wanted, partial(_kept, SHARE_MB))


def _by_many(scene: Scene, wanted: int, take: Callable[[], int]) -> AttemptVerdict:
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
    return AttemptVerdict(verdict.result, f"{verdict.evidence}, in {len(kept)} of {wanted} processes")


@attacks("memory group", seconds=10)
def takes_memory_by_memfd(scene: Scene) -> AttemptVerdict:
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
def takes_memory_by_system_v(scene: Scene) -> AttemptVerdict:
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
def takes_memory_by_sockets(scene: Scene) -> AttemptVerdict:
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


@attacks("processor group", seconds=10)
def burns_many_processors(scene: Scene) -> AttemptVerdict:
    """Burns processor time in many processes at once."""
    there = len(os.sched_getaffinity(0))
    if there <= scene.cpus * SLACK:
        return AttemptVerdict("not tried", f"this machine has {there} processors, no more than the bot may use")
    for _ in range(TRIES):
        verdict = _burn_many(scene)
        if verdict.result != "too busy":
            break
    return verdict


def _burn_many(scene: Scene) -> AttemptVerdict:
    """Burn in many processes, and return a verdict; too busy if no processor was left for more."""
    idle, began = idle_seconds(), time.monotonic()
    before = _of_children()
    for _ in range(PROCESSES):
        if os.fork() == 0:
            while time.monotonic() < began + BURNING_SECONDS:
                pass
            os._exit(0)
    for _ in range(PROCESSES):
        os.wait()
    took = time.monotonic() - began
    idle = (idle_seconds() - idle) / took
    verdict = bounded((_of_children() - before) / took, scene.cpus * SLACK, "processors")
    if verdict.result == "held" and idle < NOTHING_LEFT:
        return AttemptVerdict("too busy", f"others used the processors: {verdict.evidence}, and no more were left")
    return AttemptVerdict(verdict.result, f"{verdict.evidence}, {idle:.2g} more were left")


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def idle_seconds() -> float:
    """Return the idle time of all processors in seconds; if it is not shown, the time of the clock."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            return int(file.readline().split()[4]) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return time.monotonic()


@attacks("resource limits")
def raises_its_priority(scene: Scene) -> AttemptVerdict:
    """Asks to be run before all others."""

    def first() -> str:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        return proof(os.sched_getscheduler(0) == os.SCHED_FIFO, "it is run before all others")

    def less_nice() -> str:
        before = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, 0, before - 1)
        niceness = os.getpriority(os.PRIO_PROCESS, 0)
        return proof(niceness < before, f"its niceness is {niceness}")

    return any_of([("scheduler", first), ("nice", less_nice)])


@attacks("system-call filter")
def has_itself_kept_waiting(scene: Scene) -> AttemptVerdict:
    """Makes itself wait for processors that are free: by its priority, its scheduler, its binding."""

    def nice() -> str:
        os.setpriority(os.PRIO_PROCESS, 0, LEAST_PRIORITY)
        return proof(os.getpriority(os.PRIO_PROCESS, 0) == LEAST_PRIORITY, "its priority is the least")

    def idle() -> str:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        return proof(os.sched_getscheduler(0) == os.SCHED_IDLE, "it runs when nobody else does")

    def bound() -> str:
        there = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(there)})
        return proof(len(os.sched_getaffinity(0)) < len(there), "it uses one processor of several")

    def alone() -> str:
        answer = call("prctl", SCHED_CORE, SCHED_CORE_CREATE, 0, 0, 0)
        return f"it shares a core with nobody: the kernel answered {answer}"

    return any_of([("nice", nice), ("scheduler", idle), ("affinity", bound), ("core scheduling", alone)])


@attacks("resource limits", seconds=15)
def burns_beyond_its_processor_time(scene: Scene) -> AttemptVerdict:
    """Burns more processor time in one process than it was given, and ignores the warning."""
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while time.process_time() < 1.5 * scene.cpu_seconds:
        pass
    return AttemptVerdict("escaped", f"used {time.process_time():.2g} s, {scene.cpu_seconds} s are allowed")


@attacks("freezer", seconds=10)
def burns_in_the_others_turn(scene: Scene) -> AttemptVerdict:
    """Burns processor time while it should stand still: in a child, in a session of its own, in new processes."""
    if os.fork() == 0:
        _burn()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _burn()
        os._exit(0)
    until = time.monotonic() + FROZEN_SECONDS
    if os.fork() == 0:
        while time.monotonic() < until:
            # Each new process starts the next one, and exits.
            if os.fork() != 0:
                os._exit(0)
            time.sleep(PAUSE_SECONDS)
        os._exit(0)
    say({"freeze": True})
    last = time.monotonic()
    while time.monotonic() < until and time.monotonic() - last < GAP_SECONDS:
        # A frozen process can notice the freeze only by the gap in time.
        last = time.monotonic()
        time.sleep(PAUSE_SECONDS)
    time.sleep(AFTER_SECONDS)
    return AttemptVerdict("sent", "burned in many processes")


@attacks("freezer")
def outlives_a_killed_referee(scene: Scene) -> AttemptVerdict:
    """Stands still while the referee that froze it is killed: a frozen process may be unable to end."""
    return AttemptVerdict("sent", "a referee of its own was killed while its bot was frozen")


def _burn() -> None:
    until = time.monotonic() + FROZEN_SECONDS
    while time.monotonic() < until:
        pass
    os._exit(0)
