"""The processes of a bot as the machine sees them: their numbers, names and properties."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from referee.sandbox import BOT

PROC = Path("/proc")


def of_start(token: str, folder: Path) -> set[int]:
    """Return the numbers of all processes that were started with a token, or see a folder as their bot's own.

    Plain processes and fresh sandboxes have the token in their environment. In a sandbox that was forked warm, the
    kernel does not show it. An ended process has neither.
    """
    return {pid for pid in _all() if token.encode() in _read(pid, "environ") or _sees_as_its_own(pid, folder)}


def _sees_as_its_own(pid: int, folder: Path) -> bool:
    """Return whether a process sees a folder as its bot's own.

    The kernel names what is mounted by its path in its own file system: of /home/anna/cup only /anna/cup is left
    where /home is a file system of its own.
    """
    for line in _read(pid, "mountinfo").decode(errors="replace").splitlines():
        within, place = line.split()[3:5]
        if place == BOT and within != "/" and str(folder).endswith(_unescaped(within)):
            return True
    return False


def _unescaped(path: str) -> str:
    r"""Return a path as it is: mountinfo has spaces as \040, and the like."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), path)


def of_bot(token: str, mark: str, namespace: str | None) -> dict[int, str]:
    """Return the names (15 letters) of all processes that may belong to a bot, keyed by number.

    They have its token, a mark on their command line, or its process namespace.
    """
    found = {}
    for pid in _all():
        is_its = token.encode() in _read(pid, "environ") or mark.encode() in _read(pid, "cmdline")
        if is_its or (namespace is not None and namespace_of(pid, "pid") == namespace):
            found[pid] = _read(pid, "comm").decode(errors="replace").strip()
    return found


def number_outside(pids: set[int], inside: int) -> int | None:
    """Return the process that has the number `inside` in its own namespace; None: there is none."""
    for pid in pids:
        if status(pid).get("NSpid", "").split()[-1:] == [str(inside)]:
            return pid
    return None


def status(pid: int) -> dict[str, str]:
    """Return the fields of /proc/PID/status; none if the process has ended."""
    lines = _read(pid, "status").decode(errors="replace").splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def used_seconds(pids: set[int]) -> dict[int, float]:
    """Return the processor time of each process so far in seconds, keyed by number."""
    a_second = os.sysconf("SC_CLK_TCK")
    used = {}
    for pid in pids:
        fields = _read(pid, "stat").rpartition(b")")[2].split()
        used[pid] = sum(map(int, fields[11:13])) / a_second
    return used


def used_between(before: dict[int, float], after: dict[int, float]) -> float:
    """Return the seconds used between two looks by the processes of the second one.

    The use of processes that ended before it is unknown.
    """
    return sum(max(0.0, used - before.get(pid, 0.0)) for pid, used in after.items())


def namespace_of(pid: int | str, kind: str) -> str | None:
    """Return an identifier of a process's namespace of a kind; None if the process has ended."""
    with suppress(OSError):
        return str((PROC / str(pid) / "ns" / kind).readlink())
    return None


def groups_of(pid: int | str) -> dict[str, str]:
    """Return the paths of a process's control groups, keyed by controller; "" is version 2."""
    found: dict[str, str] = {}
    for line in _read(pid, "cgroup").decode(errors="replace").splitlines():
        _, controllers, path = line.split(":", 2)
        found |= dict.fromkeys(controllers.split(","), path)
    return found


def _all() -> Iterator[int]:
    return (int(entry.name) for entry in PROC.iterdir() if entry.name.isdecimal())


def _read(pid: int | str, name: str) -> bytes:
    with suppress(OSError):
        return (PROC / str(pid) / name).read_bytes()
    return b""
