"""Detection of the layers around a running bot, from outside and from inside."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from referee.proofs.escapes.finding import Layer
from referee.proofs.escapes.processes import groups_of, namespace_of, status
from referee.sandbox import SHARED_MEMORY, environment

GIVEN = frozenset({*environment(endpoint="", token="", scratch="", python_path=""), "PWD", "LC_CTYPE"})
"""Names of the variables in a bot's environment; the shell adds PWD, and Python LC_CTYPE."""
NAMESPACES = ("mnt", "net", "pid", "ipc", "uts", "user", "cgroup")
FILTERING = "2"
STANDARD = {"0", "1", "2"}
"""Descriptors that every program has."""
LIMITED = ("AS", "NOFILE", "FSIZE", "CORE")
Seen = tuple[bool | None, str]


class View(Struct, frozen=True):
    """The observed properties of a bot."""

    pid: int
    status: dict[str, str]
    own_namespaces: frozenset[str]
    """Kinds of namespaces of which the bot has its own."""
    own_groups: dict[str, str]
    """Paths of the bot's own control groups, keyed by controller."""
    seen: dict[str, Any]
    """The bot's own observations, from `inside.looking`."""


def view_of(pid: int, seen: dict[str, Any]) -> View:
    """Return the properties of a running bot. `pid` is its number on this machine."""
    ours = groups_of("self")
    return View(
        pid,
        status(pid),
        frozenset(
            kind for kind in NAMESPACES if namespace_of(pid, kind) not in (None, namespace_of("self", kind))
        ),
        {name: path for name, path in groups_of(pid).items() if path != ours.get(name)},
        seen,
    )


def look_at(view: View) -> tuple[Layer, ...]:
    """Return every layer, in force or not."""
    return tuple(
        Layer(layer=name, in_force=in_force, evidence=evidence)
        for name, look in LAYERS.items()
        for in_force, evidence in (look(view),)
    )


def _namespace(kind: str) -> Callable[[View], Seen]:
    def look(view: View) -> Seen:
        own = kind in view.own_namespaces
        return own, f"a {kind} namespace of its own" if own else f"in the machine's {kind} namespace"

    return look


def _root(view: View) -> Seen:
    options = str(view.seen["mounts"].get("/", "")).split(",")
    return "ro" in options, f"its root is mounted {','.join(options[:3])}"


def _tmpfs(place: Callable[[View], str | None]) -> Callable[[View], Seen]:
    def look(view: View) -> Seen:
        told = str(view.seen["mounts"].get(place(view), "not mounted"))
        sizes = [word for word in told.split(",") if word.startswith("size=")]
        own = "mnt" in view.own_namespaces and told.startswith("tmpfs") and bool(sizes)
        return own, f"{told.partition(',')[0]} {' '.join(sizes)}".strip()

    return look


def _scratch(view: View) -> str | None:
    return next((place for place in view.seen["mounts"] if place not in {"/", SHARED_MEMORY}), None)


def _limits(view: View) -> Seen:
    limits = view.seen["limits"]
    return set(LIMITED) <= set(limits), ", ".join(f"{name} {value}" for name, value in limits.items())


def _process_limit(view: View) -> Seen:
    number = view.seen["limits"].get("NPROC")
    own = "user" in view.own_namespaces
    group = _group("pids")(view)
    in_force = (number is not None and own) or group[0]
    return in_force, f"rlimit {number}{'' if own else ' of a user that is not its own'}; {group[1]}"


def _group(controller: str) -> Callable[[View], Seen]:
    def look(view: View) -> Seen:
        path = view.own_groups.get(controller) or view.own_groups.get("")
        return path is not None, f"in {path}" if path else f"in the arena's own {controller} group"

    return look


def _freezer(view: View) -> Seen:
    path = view.own_groups.get("freezer") or view.own_groups.get("")
    return True, f"all at once, in {path}" if path else "its processes are stopped one by one"


def _user(view: View) -> Seen:
    user = view.status.get("Uid", "0").split()[0]
    return user != "0", f"user {user} of the machine"


def _capabilities(view: View) -> Seen:
    sets = {name: value for name, value in view.status.items() if name.startswith("Cap")}
    return not any(int(value, 16) for value in sets.values()), ", ".join(f"{k} {v}" for k, v in sets.items())


def _no_new_privileges(view: View) -> Seen:
    told = view.status.get("NoNewPrivs", "0")
    return told == "1", f"NoNewPrivs {told}"


def _filter(view: View) -> Seen:
    told = view.status.get("Seccomp")
    return (None, "this kernel does not tell") if told is None else (told == FILTERING, f"Seccomp {told}")


def _landlock(view: View) -> Seen:
    number = view.seen["landlock"]
    return (None, "it cannot be asked") if number is None else (number > 0, f"{number} rulesets bind it")


def _session(view: View) -> Seen:
    has = view.seen["controlling_terminal"]
    return not has, "it has a terminal" if has else "it has no terminal"


def _environment(view: View) -> Seen:
    foreign = set(view.seen["variables"]) - GIVEN
    more = [told for told in view.seen["descriptors"] if told.split()[0] not in STANDARD]
    told = [f"variables {', '.join(sorted(foreign))}"] * bool(foreign) + [f"descriptors {', '.join(more)}"] * bool(
        more
    )
    return not told, "; ".join(told) or "its own variables, and descriptors 0 to 2"


LAYERS: dict[str, Callable[[View], Seen]] = {
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
