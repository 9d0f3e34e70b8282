"""A bot as the machine sees it: its processes, and the layers in force around it, from outside and from inside."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from referee.linux.processes import stat_fields
from referee.sandbox import BOT, SHARED_MEMORY, environment

PROC = Path("/proc")
GIVEN = frozenset({*environment(endpoint="", token="", scratch="", python_path=""), "PWD", "LC_CTYPE"})
"""Names of the variables in a bot's environment; the shell adds PWD, and Python LC_CTYPE."""
NAMESPACES = ("mnt", "net", "pid", "ipc", "uts", "user", "cgroup")
FILTERING = "2"
STANDARD = {"0", "1", "2"}
"""Descriptors that every program has."""
LIMITED = ("AS", "NOFILE", "FSIZE", "CORE")
Seen = tuple[bool | None, str]


class Layer(Struct, frozen=True, kw_only=True):
    """One layer of a sandbox, as observed around a running bot."""

    layer: str
    in_force: bool | None
    """True if the layer is in force; None: this machine does not show it."""
    evidence: str


def processes_of_start(token: str, folder: Path) -> set[int]:
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


def processes_of_bot(token: str, mark: str, namespace: str | None) -> dict[int, str]:
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
        used[pid] = 0.0
        with suppress(OSError):
            used[pid] = sum(map(int, stat_fields(f"/proc/{pid}")[11:13])) / a_second
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


class HostSnapshot(Struct, frozen=True):
    """The observed properties of a bot."""

    pid: int
    status: dict[str, str]
    own_namespaces: frozenset[str]
    """Kinds of namespaces of which the bot has its own."""
    own_groups: dict[str, str]
    """Paths of the bot's own control groups, keyed by controller."""
    seen: dict[str, Any]
    """The bot's own observations, from `inside.running`."""


def snapshot_of(pid: int, seen: dict[str, Any]) -> HostSnapshot:
    """Return the properties of a running bot. `pid` is its number on this machine."""
    own = [kind for kind in NAMESPACES if namespace_of(pid, kind) not in (None, namespace_of("self", kind))]
    groups = dict(groups_of(pid).items() - groups_of("self").items())
    return HostSnapshot(pid, status(pid), frozenset(own), groups, seen)


def look_at(snapshot: HostSnapshot) -> tuple[Layer, ...]:
    """Return every layer, in force or not."""
    layers: list[Layer] = []
    for name, look in LAYERS.items():
        in_force, evidence = look(snapshot)
        layers.append(Layer(layer=name, in_force=in_force, evidence=evidence))
    return tuple(layers)


def _namespace(kind: str) -> Callable[[HostSnapshot], Seen]:
    def look(snapshot: HostSnapshot) -> Seen:
        if kind in snapshot.own_namespaces:
            return True, f"a {kind} namespace of its own"
        return False, f"in the machine's {kind} namespace"

    return look


def _root(snapshot: HostSnapshot) -> Seen:
    options = str(snapshot.seen["mounts"].get("/", "")).split(",")
    return "ro" in options, f"its root is mounted {','.join(options[:3])}"


def _tmpfs(place: Callable[[HostSnapshot], str | None]) -> Callable[[HostSnapshot], Seen]:
    def look(snapshot: HostSnapshot) -> Seen:
        told = str(snapshot.seen["mounts"].get(place(snapshot), "not mounted"))
        sizes = [word for word in told.split(",") if word.startswith("size=")]
        own = "mnt" in snapshot.own_namespaces and told.startswith("tmpfs") and bool(sizes)
        return own, f"{told.partition(',')[0]} {' '.join(sizes)}".strip()

    return look


def _scratch(snapshot: HostSnapshot) -> str | None:
    return next((place for place in snapshot.seen["mounts"] if place not in {"/", SHARED_MEMORY}), None)


def _limits(snapshot: HostSnapshot) -> Seen:
    limits = snapshot.seen["limits"]
    return set(LIMITED) <= set(limits), _listed(limits)


def _listed(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _process_limit(snapshot: HostSnapshot) -> Seen:
    number = snapshot.seen["limits"].get("NPROC")
    in_force, group = _group("pids")(snapshot)
    if "user" in snapshot.own_namespaces:
        return in_force or number is not None, f"rlimit {number}; {group}"
    return in_force, f"rlimit {number} of a user that is not its own; {group}"


def _group(controller: str) -> Callable[[HostSnapshot], Seen]:
    def look(snapshot: HostSnapshot) -> Seen:
        path = snapshot.own_groups.get(controller) or snapshot.own_groups.get("")
        if path is None:
            return False, f"in the arena's own {controller} group"
        return True, f"in {path}"

    return look


def _freezer(snapshot: HostSnapshot) -> Seen:
    path = snapshot.own_groups.get("freezer") or snapshot.own_groups.get("")
    if path is None:
        return True, "its processes are stopped one by one"
    return True, f"all at once, in {path}"


def _user(snapshot: HostSnapshot) -> Seen:
    user = snapshot.status.get("Uid", "0").split()[0]
    return user != "0", f"user {user} of the machine"


def _capabilities(snapshot: HostSnapshot) -> Seen:
    sets = {name: value for name, value in snapshot.status.items() if name.startswith("Cap")}
    return not any(int(value, 16) for value in sets.values()), _listed(sets)


def _no_new_privileges(snapshot: HostSnapshot) -> Seen:
    told = snapshot.status.get("NoNewPrivs", "0")
    return told == "1", f"NoNewPrivs {told}"


def _filter(snapshot: HostSnapshot) -> Seen:
    told = snapshot.status.get("Seccomp")
    if told is None:
        return None, "this kernel does not tell"
    return told == FILTERING, f"Seccomp {told}"


def _landlock(snapshot: HostSnapshot) -> Seen:
    number = snapshot.seen["landlock"]
    if number is None:
        return None, "it cannot be asked"
    return number > 0, f"{number} rulesets bind it"


def _session(snapshot: HostSnapshot) -> Seen:
    if snapshot.seen["controlling_terminal"]:
        return False, "it has a terminal"
    return True, "it has no terminal"


def _environment(snapshot: HostSnapshot) -> Seen:
    foreign = set(snapshot.seen["variables"]) - GIVEN
    more = [told for told in snapshot.seen["descriptors"] if told.split()[0] not in STANDARD]
    told = []
    if foreign:
        told.append(f"variables {', '.join(sorted(foreign))}")
    if more:
        told.append(f"descriptors {', '.join(more)}")
    return not told, "; ".join(told) or "its own variables, and descriptors 0 to 2"


LAYERS: dict[str, Callable[[HostSnapshot], Seen]] = {
    "minimal root": _namespace("mnt"),
    "read-only root": _root,
    "Landlock": _landlock,
    "network namespace": _namespace("net"),
    "process namespace": _namespace("pid"),
    "ipc namespace": _namespace("ipc"),
    "host name namespace": _namespace("uts"),
    "control group namespace": _namespace("cgroup"),
    "user namespace": _namespace("user"),
    "unprivileged user": _user,
    "no capabilities": _capabilities,
    "no new privileges": _no_new_privileges,
    "system-call filter": _filter,
    "own environment": _environment,
    "new session": _session,
    "resource limits": _limits,
    "process limit": _process_limit,
    "bounded scratch": _tmpfs(_scratch),
    "bounded shared memory": _tmpfs(lambda _: SHARED_MEMORY),
    "memory group": _group("memory"),
    "processor group": _group("cpu"),
    "freezer": _freezer,
}
