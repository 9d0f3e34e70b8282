"""Attempts on other processes: to see, read, trace and signal them, to change how they run, to outlive the match.

Those that outlive the match leave a process behind; the host checks that it exists, and that it ends. They exit
after `STAY_SECONDS`, in case the machine cannot end them.
"""

import ctypes
import hashlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable

from .attempt import AttemptVerdict, Scene, Target, Way, any_of, attacks, call, opened, proof
from .files import SOME_BYTES

BAIT_BYTES = 64
PTRACE_SEIZE = 0x4206


def _read_file(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read(16 * SOME_BYTES)


def _is(target: Target) -> bool:
    """Return whether the process with that number is the target: in a namespace, it may be another one."""
    try:
        command = _read_file(f"/proc/{target.pid}/cmdline")
    except OSError:
        return False
    return hashlib.sha256(command).hexdigest() == target.command_sha256


def _for_each(scene: Scene, way: Callable[[Target], str]) -> list[Way]:
    return [(target.name, lambda target=target: way(target)) for target in scene.targets]  # type: ignore[misc]


@attacks("process namespace")
def sees_other_processes(scene: Scene) -> AttemptVerdict:
    """Finds the referee and the other bot in /proc, by their numbers."""
    return any_of(_for_each(scene, lambda target: proof(_is(target), f"process {target.pid} was seen")))


@attacks("process namespace")
def finds_secrets_in_proc(scene: Scene) -> AttemptVerdict:
    """Walks through /proc for the bait in environments, command lines, roots and descriptors."""

    def walk() -> str:
        for process in filter(str.isdecimal, os.listdir("/proc")):
            for name in ("environ", "cmdline", "cwd/secret", f"root{scene.other_scratch}/{scene.mark}"):
                try:
                    data = _read_file(f"/proc/{process}/{name}")
                except OSError:
                    continue
                if scene.bait_in(data):
                    return f"the bait was read from /proc/{process}/{name}"
        return ""

    return any_of([("walk", walk)])


@attacks("process namespace")
def reads_the_referees_environment(scene: Scene) -> AttemptVerdict:
    """Reads /proc/PID/environ of the referee."""

    def read() -> str:
        data = _read_file(f"/proc/{scene.referee.pid}/environ")
        same = hashlib.sha256(data).hexdigest() == scene.referee_environment_sha256
        return proof(same, f"{len(data)} bytes were read")

    return any_of([("environ", read)])


@attacks("process namespace")
def reads_others_memory(scene: Scene) -> AttemptVerdict:
    """Reads the bait in the memory of the referee and of the other bot, by /proc/PID/mem."""

    def read(target: Target) -> str:
        with opened(f"/proc/{target.pid}/mem") as descriptor:
            return scene.bait_in(os.pread(descriptor, BAIT_BYTES, target.address))

    return any_of(_for_each(scene, read))


@attacks("process namespace")
def copies_others_memory(scene: Scene) -> AttemptVerdict:
    """Reads the same by process_vm_readv."""

    def read(target: Target) -> str:
        into = ctypes.create_string_buffer(BAIT_BYTES)
        here = (ctypes.c_uint64 * 2)(ctypes.addressof(into), BAIT_BYTES)
        there = (ctypes.c_uint64 * 2)(target.address, BAIT_BYTES)
        call("process_vm_readv", target.pid, here, 1, there, 1, 0)
        return scene.bait_in(into.raw)

    return any_of(_for_each(scene, read))


@attacks("process namespace")
def traces_others(scene: Scene) -> AttemptVerdict:
    """Takes hold of the other bot and the referee as a debugger does."""

    def seized(target: Target) -> str:
        call("ptrace", PTRACE_SEIZE, target.pid, 0, 0)
        # The kernel releases the target when this process exits.
        return proof(_is(target), "seized")

    return any_of(_for_each(scene, seized))


@attacks("process namespace")
def takes_others_descriptors(scene: Scene) -> AttemptVerdict:
    """Reads the bait by the referee's own descriptor: through /proc/PID/fd and by pidfd_getfd."""
    target = scene.referee

    def by_proc() -> str:
        return scene.bait_in(_read_file(f"/proc/{target.pid}/fd/{target.descriptor}"))

    def by_pidfd() -> str:
        taken = call("pidfd_getfd", call("pidfd_open", target.pid, 0), target.descriptor, 0)
        return scene.bait_in(os.pread(taken, SOME_BYTES, 0))

    return any_of([("/proc", by_proc), ("pidfd_getfd", by_pidfd)])


@attacks("process namespace")
def signals_others(scene: Scene) -> AttemptVerdict:
    """Sends a signal to the referee and to the other bot, by their numbers."""
    told = []
    for target in scene.targets:
        try:
            os.kill(target.pid, signal.SIGURG)
        except OSError as error:
            told.append(f"{target.name}: {error.strerror}")
        else:
            told.append(f"{target.name}: sent to number {target.pid}")
    return AttemptVerdict("sent", "; ".join(told))


@attacks("process namespace")
def changes_how_others_run(scene: Scene) -> AttemptVerdict:
    """Changes limits, priority and processors of the referee and of the other bot: to what they are."""

    def limited(target: Target) -> str:
        resource.prlimit(target.pid, resource.RLIMIT_CORE, resource.prlimit(target.pid, resource.RLIMIT_CORE))
        return proof(_is(target), "limits were set")

    def slowed(target: Target) -> str:
        os.setpriority(os.PRIO_PROCESS, target.pid, os.getpriority(os.PRIO_PROCESS, target.pid))
        return proof(_is(target), "priority was set")

    def placed(target: Target) -> str:
        os.sched_setaffinity(target.pid, os.sched_getaffinity(target.pid))
        return proof(_is(target), "processors were set")

    return any_of([*_for_each(scene, limited), *_for_each(scene, slowed), *_for_each(scene, placed)])


@attacks("ipc namespace")
def reads_others_shared_memory(scene: Scene) -> AttemptVerdict:
    """Attaches a System V segment of the host, by its key."""
    key = scene.shared_memory_key
    if key is None:
        return AttemptVerdict("not tried", "this machine has no System V memory")

    def read() -> str:
        segment = call("shmget", key, 0, 0)
        address = call("shmat", segment, None, 0o10000)
        return scene.bait_in(ctypes.string_at(address, BAIT_BYTES))

    return any_of([("shmat", read)])


STAY_SECONDS = 45
READY_SECONDS = 1.0
SET_NAME = 15


def _call_itself(name: str) -> None:
    """Set the name of this process, of which the host sees the first 15 letters."""
    ctypes.CDLL(None).prctl(SET_NAME, ctypes.c_char_p(name.encode()), 0, 0, 0)


def _stay(name: str) -> None:
    _call_itself(name)
    signal.alarm(STAY_SECONDS)
    while True:
        time.sleep(STAY_SECONDS)


def _left_twice(stay: Callable[[], None]) -> AttemptVerdict:
    """Leave behind a child's child, in the child's session, that does `stay`."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            stay()
        os._exit(0)
    os.waitpid(child, 0)
    return AttemptVerdict("sent", f"a child of process {child} was left behind")


def _left(child: int) -> AttemptVerdict:
    until = time.monotonic() + READY_SECONDS
    while os.getpgid(child) == os.getpgrp() and time.monotonic() < until:
        # While the child is in this process group, it would be killed with it.
        time.sleep(0.001)
    return AttemptVerdict("sent", f"process {child} was left behind")


@attacks("process namespace", stays=True)
def outlives_by_a_double_fork(scene: Scene) -> AttemptVerdict:
    """Leaves behind a child's child, in a session of its own."""

    def stay() -> None:
        os.setsid()
        _stay("outlives-by-a-double-fork")

    return _left_twice(stay)


@attacks("process namespace", stays=True)
def outlives_as_a_daemon(scene: Scene) -> AttemptVerdict:
    """Leaves behind a daemon that has closed and forgotten everything it was started with, its environment too."""
    program = (
        "import ctypes, signal, time;"
        f"ctypes.CDLL(None).prctl({SET_NAME}, b'outlives-as-a-daemon', 0, 0, 0);"
        f"signal.alarm({STAY_SECONDS}); time.sleep({STAY_SECONDS})"
    )

    def forget() -> None:
        os.chdir("/")
        os.umask(0)
        os.closerange(0, scene.files)
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", program, scene.mark], {})

    return _left_twice(forget)


@attacks("process namespace", stays=True)
def outlives_by_ignoring_signals(scene: Scene) -> AttemptVerdict:
    """Leaves behind a process that ignores every signal that can be ignored."""
    child = os.fork()
    if child == 0:
        os.setsid()
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}:
            signal.signal(number, signal.SIG_IGN)
        _stay("outlives-by-ignoring-signals")
    return _left(child)


@attacks("process namespace", stays=True)
def outlives_by_being_stopped(scene: Scene) -> AttemptVerdict:
    """Leaves behind a process that is stopped, and could not end if it wanted to."""
    child = os.fork()
    if child == 0:
        os.setsid()
        _call_itself("outlives-by-being-stopped")
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    return _left(child)
