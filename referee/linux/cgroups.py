"""Control groups: bounds on the resources of all processes of a bot together, and a way to stop them all at once.

Version 1 has a folder per bot in each controller's tree, version 2 one folder per bot. The arena needs write
access to them. With version 2 and systemd, it has itself moved into a scope of its own (`systemd_scope`), unless
it already is in a part of the tree that was delegated to it. Processes left in them by a killed arena are ended by
its guard (`guard`), or when the next arena starts.
"""

import atexit
import errno
import fcntl
import os
import re
import secrets
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path

from msgspec import Struct

from referee.linux import guard, systemd_scope
from referee.linux.shortage import ButForShortages

MEGABYTE = 1024 * 1024
PERIOD_US = 100_000
"""Period over which a bot's processor time is bounded, in microseconds: the kernel's default."""
OWN_PROCESSES = 2
"""The most processes of the sandbox in a bot's group: bubblewrap and its init."""
OVERHEAD_MB = 16
"""Memory for the sandbox itself: bubblewrap's processes, the kernel's tables."""
CONTROLLERS = ("memory", "pids", "cpu")
FREEZER = "freezer"
NAME = "mist-arena"
"""Prefix of the names of an arena's groups. Its number and a random word follow, unique across containers."""
PROCESSES = f"{NAME}-processes"
"""Version 2: name of the group into which an arena moves itself, so that there can be groups beside it."""
_MOUNT = re.compile(r"^\d+ \d+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$", re.MULTILINE)
SWEEP_SECONDS = 10
HAND_DOWN_TRIES = 50
_numbers = count(1)


class NoGroupsError(Exception):
    """The arena may write to no control groups. The text is one line with the cause and the remedy."""


class NoGroupError(OSError):
    """A further group cannot be created, although earlier ones could."""


class Tree(Struct, frozen=True):
    """The part of the control groups in which this arena creates its groups."""

    version: int
    places: dict[str, Path]
    """The arena's folder of each controller. In version 2 they are all the same."""
    locks: tuple[int, ...]
    """Locked descriptors of these folders, which show other arenas that this one runs."""
    home: tuple[int, ...] = ()
    """Version 1: descriptors through which a thread of the arena moves back into the arena's own groups."""


@cache
def tree() -> Tree:
    """Return this arena's part of the control groups.

    The first call creates it, and clears those of killed arenas.

    Raises:
        NoGroupsError: the arena may write to no control groups.
    """
    sweep()
    found = _first_version() or _second_version()
    atexit.register(_clear_away, found, os.getpid())
    _set_guard(found)
    return found


def _clear_away(made: Tree, owner: int) -> None:
    if owner != os.getpid():
        return  # This is a fork of the arena, which does not own the groups.
    for place in set(made.places.values()):
        with suppress(OSError):
            place.rmdir()


def _set_guard(made: Tree) -> None:
    """Start the process that ends this arena's bots if it is killed."""
    try:
        guard.set_guard(set(made.places.values()))
    except OSError as error:
        _clear_away(made, os.getpid())
        raise NoGroupsError(f"no process can be started to end bots with the arena: {error.strerror}") from None


def sweep() -> None:
    """End the bots of killed arenas, and remove their groups. Blocks for at most `SWEEP_SECONDS`.

    A running arena holds a lock on its groups, also one in another container, whose processes are invisible here.
    """
    with ExitStack() as held:
        gone = []
        for _, _, place in _own_places():
            above = place.parent if place.name == PROCESSES else place
            for left in above.glob(f"{NAME}.*"):
                with suppress(OSError):
                    held.callback(os.close, _locked(left, fcntl.LOCK_NB))
                    gone.append(left)
        guard.clear(gone, SWEEP_SECONDS)


class ControlGroup:
    """The control group of a bot."""

    def __init__(self, *, memory_mb: int, cpus: float, processes: int) -> None:
        """Create an empty group with these limits, to which the sandbox's own needs are added.

        Raises:
            NoGroupsError: see `tree`.
            NoGroupError: this user may create no more groups, or the folder for them was removed.
            OSError: the kernel creates no more.
        """
        made = tree()
        self.version = made.version
        self._home = made.home
        name = f"{next(_numbers)}"
        self._folders = {controller: place / name for controller, place in made.places.items()}
        self._counters: dict[str, int] = {}
        self._freezer: int | None = None
        """The freezer's descriptor after the first freeze: thawing must need no new one, or the bot could not
        die."""
        self._is_frozen = False
        self._processes = processes
        self._own = OWN_PROCESSES
        self._refused_before = 0
        memory = (memory_mb + OVERHEAD_MB) * MEGABYTE
        quota = round(cpus * PERIOD_US)
        try:
            for folder in set(self._folders.values()):
                folder.mkdir()
            if self.version == 1:
                self._write("memory", "memory.limit_in_bytes", memory)
                # The period keeps the kernel's default.
                self._write("cpu", "cpu.cfs_quota_us", quota)
            else:
                self._write("memory", "memory.max", memory)
                self._write("cpu", "cpu.max", f"{quota} {PERIOD_US}")
            self.bound_processes(OWN_PROCESSES)
            self._refused_before = self._refused_around()
        except (PermissionError, FileNotFoundError) as error:
            self.close()
            raise NoGroupError(error.errno, error.strerror, error.filename) from None
        except OSError:
            self.close()
            raise

    def bound_processes(self, own: int) -> None:
        """Set the most processes of the group: the bot's limit plus `own` processes of the sandbox."""
        self._own = own
        self._write("pids", "pids.max", self._processes + own)

    def entrances(self) -> list[int]:
        """Return descriptors through which a process moves itself into the group by writing 0.

        The caller closes them.
        """
        name = "tasks" if self.version == 1 else "cgroup.procs"
        found: list[int] = []
        with ExitStack() as undo:
            for folder in dict.fromkeys(self._folders.values()):
                found.append(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CLOEXEC))
                undo.callback(os.close, found[-1])
            undo.pop_all()
        return found

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Move this thread into the group for the block, so that its children start there (version 1; see `add`).

        To move another process takes the kernel up to 10 ms, in which no process on the machine can start one. A
        thread that moves itself does not wait.
        """
        if self.version != 1:
            yield
            return
        places = self.entrances()
        try:
            for place in places:
                os.write(place, b"0")
            yield
        finally:
            for home in self._home:
                os.write(home, b"0")
            for place in places:
                os.close(place)

    def add(self, pid: int) -> None:
        """Move a process and its future children into the group (version 2; version 1 uses `inside`).

        Raises:
            OSError: it has ended, or cannot be moved.
        """
        if self.version == 1:
            return
        for folder in set(self._folders.values()):
            _put(f"{folder}/cgroup.procs", pid)

    def freeze(self) -> bool:
        """Freeze the group's processes, which cannot notice it. Returns False if this machine has no freezer."""
        return self._set_frozen(frozen=True)

    def thaw(self) -> bool:
        """Thaw the group's processes. Idempotent. Returns False if this machine has no freezer."""
        return self._set_frozen(frozen=False)

    def _set_frozen(self, *, frozen: bool) -> bool:
        if FREEZER not in self._folders:
            return False
        if not frozen and not self._is_frozen:
            return True
        name = "freezer.state" if self.version == 1 else "cgroup.freeze"
        words = (b"THAWED", b"FROZEN") if self.version == 1 else (b"0", b"1")
        if self._freezer is None:
            how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
            self._freezer = os.open(f"{self._folders[FREEZER]}/{name}", how)
        self._is_frozen = True  # A failed write may have frozen some of them.
        os.pwrite(self._freezer, words[frozen], 0)
        self._is_frozen = frozen
        return True

    def cpu_us(self) -> int:
        """Return the processor time of the group's processes so far in microseconds, without throttled time."""
        if self.version == 1:
            return int(self._counter("cpuacct", "cpuacct.usage")) // 1000
        return _field(self._counter("cpu", "cpu.stat"), b"usage_usec")

    def throttled_us(self) -> int:
        """Return the microseconds for which the group was throttled because it had used up its processor time."""
        text = self._counter("cpu", "cpu.stat")
        return _field(text, b"throttled_time") // 1000 if self.version == 1 else _field(text, b"throttled_usec")

    def memory_kills(self) -> int:
        """Return how many of the group's processes the kernel killed because it exceeded its memory limit."""
        return _field(
            self._counter("memory", "memory.oom_control" if self.version == 1 else "memory.events"), b"oom_kill"
        )

    def processes_refused(self) -> int:
        """Return how often the group was refused a process, by any bound (Linux 6.12, version 2: by its own)."""
        return _field(self._counter("pids", "pids.events"), b"max")

    def had_all_processes(self) -> bool:
        """Return whether the group has had as many processes as it may have. Call after one was refused.

        A kernel without `pids.peak` (before Linux 6.11) allows only a guess: it has, if the groups around this one
        have room for that many.
        """
        try:
            peak, most = self._counter("pids", "pids.peak"), self._counter("pids", "pids.max")
        except FileNotFoundError:
            around = self._folders["pids"].parents
            return all(left > self._processes + OWN_PROCESSES for left, _ in _left_in(around))
        return int(peak) >= int(most)

    def peak_processes(self) -> int | None:
        """Return the most processes and threads that the bot has had at once, without the sandbox's own.

        None: this kernel has no peak (before Linux 6.11).
        """
        with ButForShortages():
            return max(0, int(self._counter("pids", "pids.peak")) - self._own)
        return None

    def wanted_processes_in_vain(self) -> bool:
        """Return whether the group was refused processes below its bound, because other programs had too many."""
        if self.processes_refused():
            return not self.had_all_processes()
        return self._refused_around() > self._refused_before

    def _refused_around(self) -> int:
        """Return how often the groups around this one have refused processes (version 2 only)."""
        if self.version == 1:
            return 0
        total = 0
        for folder in self._folders["pids"].parents[1:]:
            with suppress(OSError):
                total = max(total, _field((folder / "pids.events").read_bytes(), b"max"))
        return total

    def bound_met(self) -> int:
        """Return how often the group's processes met its memory limit."""
        if self.version == 1:
            return int(self._counter("memory", "memory.failcnt"))
        return _field(self._counter("memory", "memory.events"), b"oom")

    def peak_bytes(self) -> int | None:
        """Return the peak memory of the group in bytes; None: this kernel has no peak (before Linux 5.19)."""
        with ButForShortages():
            return int(self._counter("memory", self._peak))
        return None

    def begin_peak(self) -> bool:
        """Reset the peak memory. Returns False if this kernel cannot (before Linux 6.12, version 2)."""
        with ButForShortages():
            # Version 2 resets the peak only for the descriptor through which this is requested.
            writable = os.open(f"{self._folders['memory']}/{self._peak}", os.O_RDWR | os.O_CLOEXEC)
            try:
                os.write(writable, b"0")
            except OSError:
                os.close(writable)
                raise
            if (before := self._counters.pop(self._peak, None)) is not None:
                os.close(before)
            self._counters[self._peak] = writable
            return True
        return False

    @property
    def _peak(self) -> str:
        return "memory.max_usage_in_bytes" if self.version == 1 else "memory.peak"

    def _counter(self, controller: str, name: str) -> bytes:
        """Return the content of a file of the group. It stays open, because it is read at every window."""
        if name not in self._counters:
            self._counters[name] = os.open(f"{self._folders[controller]}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(self._counters[name], 1024, 0)

    def _members(self) -> set[int]:
        """Return the numbers of the group's processes."""
        found: set[int] = set()
        for folder in self._folders.values():
            found.update(map(int, _words(folder / "cgroup.procs")))
        return found

    def kill(self) -> None:
        """Kill all processes of the group, and block until they have ended, for a second at most."""
        give_up = time.monotonic() + 1
        while left := self._members():
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() >= give_up:
                break
            time.sleep(0.001)

    def close(self) -> None:
        """Remove the folders. Its processes must have ended. Idempotent."""
        while self._counters:
            os.close(self._counters.popitem()[1])
        if self._freezer is not None:
            os.close(self._freezer)
            self._freezer = None
        for folder in set(self._folders.values()):
            with suppress(OSError):
                folder.rmdir()

    def _write(self, controller: str, name: str, value: object) -> None:
        _put(f"{self._folders[controller]}/{name}", value)


def _put(file: str, value: object) -> None:
    """Write to a file of the kernel by system calls: Python's file objects would make four more."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)


def _field(text: bytes, name: bytes) -> int:
    _, _, rest = text.partition(name + b" ")
    return int(rest.partition(b"\n")[0] or 0)


def _own_places() -> Iterator[tuple[int, list[str], Path]]:
    """Yield the groups of this process: version, controllers, folder."""
    mounts = _MOUNT.findall(Path("/proc/self/mountinfo").read_text())
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        for root, place, kind, options in mounts:
            if (kind == "cgroup2") != (names == "") or not (
                names == "" or set(names.split(",")) <= set(options.split(","))
            ):
                continue
            if Path(path).is_relative_to(root):
                yield (2 if names == "" else 1), names.split(","), Path(place) / Path(path).relative_to(root)
                break


def _first_version() -> Tree | None:
    places: dict[str, Path] = {}
    for version, names, place in _own_places():
        if version == 1:
            places |= dict.fromkeys(names, place)
    if not {*CONTROLLERS, "cpuacct"} <= set(places):
        return None
    wanted = [name for name in (*CONTROLLERS, "cpuacct", FREEZER) if name in places]
    made = _make({places[name] for name in wanted})
    if made is None:
        return None
    own = {name: made.folders[places[name]] for name in wanted}
    with suppress(OSError):
        _put(f"{own['memory']}/memory.swappiness", 0)  # Groups below inherit it.
    home = tuple(os.open(place.parent / "tasks", os.O_WRONLY | os.O_CLOEXEC) for place in own.values())
    return Tree(1, own, made.locks, home)


def _second_version() -> Tree:
    """Create the groups where this process is, if that part of the tree is its own; else in a scope of its own.

    Root may write everywhere, but in its session, its shell would be moved as well.

    Raises:
        NoGroupsError: neither is possible.
    """
    if any(version == 1 and "memory" in names for version, names, _ in _own_places()):
        raise NoGroupsError(_NO_FIRST_VERSION[os.geteuid() == 0])
    place = _second_place()
    if place is None:
        raise NoGroupsError("no control groups with memory, pids and cpu are mounted here")
    is_own = os.geteuid() != 0 or not systemd_scope.IS_RUNNING.is_dir() or systemd_scope.is_delegated(place)
    if is_own and (made := _in_place(place)):
        return made
    try:
        systemd_scope.enter_scope(NAME)
    except systemd_scope.NoScopeError as error:
        if not is_own and (made := _in_place(place)):
            return made
        raise NoGroupsError(_what_helps(place, str(error))) from None
    place = _second_place() or place
    if made := _in_place(place):
        return made
    if missing := _missing(place):
        raise NoGroupsError(systemd_scope.delegate_more(missing))
    raise NoGroupsError(f"systemd gave a scope, but {place} cannot be written to")


_NO_FIRST_VERSION = {
    False: "control groups of version 1 belong to root: start the arena as root, or boot this machine with "
    "systemd.unified_cgroup_hierarchy=1",
    True: "the control groups here, of version 1, cannot be written to: start a container with docker run "
    "--privileged, or boot this machine with systemd.unified_cgroup_hierarchy=1",
}
"""Texts keyed by whether this process runs as root."""


def _what_helps(place: Path, no_scope: str) -> str:
    """Return one line with the reason why this process may create no groups, and the remedy."""
    if service := systemd_scope.service():
        return f"{service} may make no control groups: add Delegate=yes to its [Service] section"
    missing = _missing(place)
    lacks = f"the control groups here lack {missing}" if missing else f"{place} cannot be written to"
    if systemd_scope.IS_RUNNING.is_dir():
        return f"{lacks}, and {no_scope}"
    start = "start" if os.geteuid() == 0 else "start the arena as root, and"
    return (
        f"{lacks}: {start} a container with a tree of its own "
        "(docker run --privileged --cgroupns=private, or podman run)"
    )


def _second_place() -> Path | None:
    """Return the folder of version 2 for this arena's groups; None: there is none."""
    place = next((place for version, _, place in _own_places() if version == 2), None)  # noqa: PLR2004 - version 2
    if place is not None and place.name == PROCESSES:
        # Another arena, or another process of this one, was here first, and has moved this process down.
        place = place.parent
    return place


def _missing(place: Path) -> str:
    """Return the controllers that a folder of version 2 lacks, as text; "": none."""
    there = _words(place / "cgroup.controllers")
    return " and ".join(name for name in CONTROLLERS if name not in there)


def _in_place(place: Path) -> Tree | None:
    """Create groups in this folder; return None if controllers are missing, or it is not writable."""
    if _missing(place):
        return None
    made = _make({place})
    if made is None:
        return None
    own = made.folders[place]
    try:
        _hand_down(place)
        (own / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in CONTROLLERS))
    except OSError:
        return None
    with suppress(OSError):
        _put(f"{own}/memory.swap.max", 0)  # It applies to all groups below.
    return Tree(2, dict.fromkeys((*CONTROLLERS, FREEZER), own), made.locks)


def _hand_down(place: Path) -> None:
    """Enable controllers for the groups below.

    The kernel allows it without processes here, so they are moved down.

    If several arenas start at once, processes of another may start here in that time; they are moved too.

    Raises:
        OSError: the kernel refuses, or processes start here faster than they are moved.
    """
    for left in reversed(range(HAND_DOWN_TRIES)):
        if set(CONTROLLERS) <= set(_words(place / "cgroup.subtree_control")):
            return
        if (place / "cgroup.type").exists():
            below = place / PROCESSES
            below.mkdir(exist_ok=True)
            for pid in _words(place / "cgroup.procs"):
                with suppress(ProcessLookupError):
                    (below / "cgroup.procs").write_text(pid)
        try:
            (place / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in CONTROLLERS))
        except OSError as error:
            if error.errno != errno.EBUSY or not left:
                raise


def processes_left() -> Iterator[tuple[int, str]]:
    """Yield the number of further processes and threads of each group around this process, and its bound."""
    for _, names, place in _own_places():
        if names != [""] and "pids" not in names:
            continue
        yield from _left_in((place, *place.parents))


def _left_in(folders: Iterable[Path]) -> Iterator[tuple[int, str]]:
    for folder in folders:
        most, now = _words(folder / "pids.max"), _words(folder / "pids.current")
        if most and now and most[0] != "max":
            yield int(most[0]) - int(now[0]), f"{folder / 'pids.max'} is {most[0]}"


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


class _Made(Struct, frozen=True):
    """The new groups of this arena."""

    folders: dict[Path, Path]
    """The groups, keyed by the folders around them."""
    locks: tuple[int, ...]


def _make(places: set[Path]) -> _Made | None:
    """Create groups of this arena in each folder; return None if that is forbidden."""
    name = f"{NAME}.{os.getpid()}.{secrets.token_hex(4)}"
    folders = {place: place / name for place in places}
    with ExitStack() as undo:
        locks = []
        for own in folders.values():
            try:
                locks.append(_own(own))
            except OSError:
                return None
            undo.callback(own.rmdir)
            undo.callback(os.close, locks[-1])
        undo.pop_all()
    return _Made(folders, tuple(locks))


def _own(folder: Path) -> int:
    """Create a group and lock it. Before that, another arena may take it for abandoned and remove it."""
    while True:
        folder.mkdir(exist_ok=True)
        try:
            lock = _locked(folder)
        except FileNotFoundError:
            continue
        if folder.exists():
            return lock
        os.close(lock)


def _locked(folder: Path, how: int = 0) -> int:
    """Return a descriptor of a folder, which is locked while it is open.

    Raises:
        OSError: the lock is held and `how` forbids to wait, or the folder does not exist.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | how)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
