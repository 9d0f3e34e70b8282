"""Attempts on other processes: to see, read, trace and signal them, and to change their limits and priority."""

import ctypes
import hashlib
import os
import resource
import signal
from collections.abc import Callable

from .attempt import AttemptVerdict, Way, any_of, attacks, call, opened
from .files import SOME_BYTES
from .scene import Scene, Target

BAIT_BYTES = 64
PTRACE_SEIZE = 0x4206


def _read_file(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read(16 * SOME_BYTES)


def _bait_in(scene: Scene, data: bytes) -> str:
    return "the bait was read" if scene.has_bait(data) else ""


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
    return any_of(_for_each(scene, lambda target: f"process {target.pid} was seen" if _is(target) else ""))


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
                if scene.has_bait(data):
                    return f"the bait was read from /proc/{process}/{name}"
        return ""

    return any_of([("walk", walk)])


@attacks("process namespace")
def reads_the_referees_environment(scene: Scene) -> AttemptVerdict:
    """Reads /proc/PID/environ of the referee."""

    def read() -> str:
        data = _read_file(f"/proc/{scene.referee.pid}/environ")
        same = hashlib.sha256(data).hexdigest() == scene.referee_environment_sha256
        return f"{len(data)} bytes were read" if same else ""

    return any_of([("environ", read)])


@attacks("process namespace")
def reads_others_memory(scene: Scene) -> AttemptVerdict:
    """Reads the bait in the memory of the referee and of the other bot, by /proc/PID/mem."""

    def read(target: Target) -> str:
        with opened(f"/proc/{target.pid}/mem") as descriptor:
            return _bait_in(scene, os.pread(descriptor, BAIT_BYTES, target.address))

    return any_of(_for_each(scene, read))


@attacks("process namespace")
def copies_others_memory(scene: Scene) -> AttemptVerdict:
    """Reads the same by process_vm_readv."""

    def read(target: Target) -> str:
        into = ctypes.create_string_buffer(BAIT_BYTES)
        here = (ctypes.c_uint64 * 2)(ctypes.addressof(into), BAIT_BYTES)
        there = (ctypes.c_uint64 * 2)(target.address, BAIT_BYTES)
        call("process_vm_readv", target.pid, here, 1, there, 1, 0)
        return _bait_in(scene, into.raw)

    return any_of(_for_each(scene, read))


@attacks("process namespace")
def traces_others(scene: Scene) -> AttemptVerdict:
    """Takes hold of the other bot and the referee as a debugger does."""

    def seized(target: Target) -> str:
        call("ptrace", PTRACE_SEIZE, target.pid, 0, 0)
        # The kernel releases the target when this process exits.
        return "seized" if _is(target) else ""

    return any_of(_for_each(scene, seized))


@attacks("process namespace")
def takes_others_descriptors(scene: Scene) -> AttemptVerdict:
    """Reads the bait by the referee's own descriptor: through /proc/PID/fd and by pidfd_getfd."""
    target = scene.referee

    def by_proc() -> str:
        return _bait_in(scene, _read_file(f"/proc/{target.pid}/fd/{target.descriptor}"))

    def by_pidfd() -> str:
        taken = call("pidfd_getfd", call("pidfd_open", target.pid, 0), target.descriptor, 0)
        return _bait_in(scene, os.pread(taken, SOME_BYTES, 0))

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
        return "limits were set" if _is(target) else ""

    def slowed(target: Target) -> str:
        os.setpriority(os.PRIO_PROCESS, target.pid, os.getpriority(os.PRIO_PROCESS, target.pid))
        return "priority was set" if _is(target) else ""

    def placed(target: Target) -> str:
        os.sched_setaffinity(target.pid, os.sched_getaffinity(target.pid))
        return "processors were set" if _is(target) else ""

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
        return _bait_in(scene, ctypes.string_at(address, BAIT_BYTES))

    return any_of([("shmat", read)])
