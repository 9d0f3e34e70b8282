"""The common parts of all attempts: the scene that they receive, their form, and system calls by number.

The scene describes the host: places of bait, addresses of listeners, limits. An attempt is a function that tries
to get past one layer, and returns a verdict. System calls are made by their numbers: those without a library
function, and those that a library might make differently.
"""

import ctypes
import errno
import hashlib
import json
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

FILE = "scene.json"
"""Name of the scene's file in the bot's folder."""
MEGABYTE = 1024 * 1024
_BAIT = re.compile(rb"arena-bait-[0-9a-f]{32}")


@dataclass(frozen=True)
class Target:
    """A process that the bot may not touch."""

    name: str
    pid: int
    """Number of the process on the machine."""
    command_sha256: str
    """Hash of its /proc/PID/cmdline: in a namespace, another process may have the same number."""
    address: int
    """Address of the bait in its memory."""
    descriptor: int | None = None
    """Descriptor of a file with the bait."""


@dataclass(frozen=True)
class Scene:
    """The whole scene. It contains only the hash of the bait, by which the attempts recognise it."""

    mark: str
    """Text that is unique to this run, for names of files and addresses of abstract sockets."""
    bait_sha256: str
    baits: dict[str, str]
    system_secrets: tuple[str, ...]
    """Files of this machine that no bot may read."""
    homes: tuple[str, ...]
    code: str
    targets: tuple[Target, ...]
    """The referee first, then the other bot."""
    referee_environment_sha256: str
    other_folder: str
    other_scratch: str
    """Path of the other bot's scratch folder, as that bot sees it."""
    other_log: str
    other_socket: str
    other_endpoint: str
    """An endpoint of the referee that belongs to neither bot."""
    tcp: tuple[tuple[str, int], ...]
    udp: tuple[tuple[str, int], ...]
    abstract_socket: str
    path_socket: str
    interfaces: tuple[str, ...]
    """Names of the machine's network interfaces."""
    host_name: str
    groups: tuple[str, ...]
    """Paths of the arena's own control groups, without the root groups."""
    terminal: str | None
    shared_memory_key: int | None
    """Key of a System V segment with the bait."""
    first_key: int
    """First of the keys of System V segments that the attempts may make."""
    memory_mb: int
    processes: int
    files: int
    scratch_mb: int
    cpu_seconds: int
    cpus: float
    """Seconds of processor time per second, for all processes of the bot together."""
    done: tuple[str, ...] = ()
    """Names of the attempts that an earlier, interrupted run has already made."""

    def bait_in(self, data: bytes) -> str:
        """Return the words for a `Way` if data contain the bait, otherwise ""."""
        return proof(
            any(hashlib.sha256(found).hexdigest() == self.bait_sha256 for found in _BAIT.findall(data)),
            "the bait was read",
        )

    @property
    def pids(self) -> tuple[int, ...]:
        """Numbers of the targets on the machine."""
        return tuple(target.pid for target in self.targets)

    @property
    def referee(self) -> Target:
        """The process that started the bots."""
        return self.targets[0]


def write_scene(scene: Scene) -> str:
    """Return a scene as text for `read_scene`."""
    return json.dumps(asdict(scene))


def read_scene(text: str) -> Scene:
    """Decode the text of `write_scene`."""
    told = json.loads(text)
    told["targets"] = tuple(Target(**target) for target in told["targets"])
    for name in ("tcp", "udp"):
        told[name] = tuple(map(tuple, told[name]))
    return Scene(**told)


_ARM = platform.machine() == "aarch64"
# fmt: off
BOTH_NUMBERS = {
    "mincore": (27, 232), "madvise": (28, 233), "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195),
    "shmdt": (67, 197), "clone": (56, 220), "ptrace": (101, 117), "syslog": (103, 116), "capset": (126, 91),
    "personality": (135, 92), "prctl": (157, 167), "pivot_root": (155, 41), "chroot": (161, 51),
    "settimeofday": (164, 170), "mount": (165, 40), "umount2": (166, 39), "sethostname": (170, 161),
    "readahead": (187, 213), "init_module": (175, 105), "remap_file_pages": (216, 234),
    "fadvise64": (221, 223), "clock_settime": (227, 112), "get_mempolicy": (239, 236),
    "kexec_load": (246, 104), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "inotify_add_watch": (254, 27), "unshare": (272, 97), "sync_file_range": (277, 84),
    "move_pages": (279, 239), "inotify_init1": (294, 26), "perf_event_open": (298, 241),
    "fanotify_init": (300, 262), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "clock_adjtime": (305, 266), "sendmmsg": (307, 269), "setns": (308, 268), "process_vm_readv": (310, 270),
    "finit_module": (313, 273), "memfd_create": (319, 279), "bpf": (321, 280), "userfaultfd": (323, 282),
    "preadv2": (327, 286), "io_uring_setup": (425, 425), "open_tree": (428, 428), "fsopen": (430, 430),
    "pidfd_open": (434, 434), "clone3": (435, 435), "openat2": (437, 437), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446), "memfd_secret": (447, 447), "cachestat": (451, 451),
}
"""Numbers of the system calls on x86-64 and on 64-bit ARM, keyed by name."""
# fmt: on
NUMBERS = {name: numbers[_ARM] for name, numbers in BOTH_NUMBERS.items()}
KNOWN = platform.machine() in {"x86_64", "aarch64"}

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
Result = Literal["held", "escaped", "sent", "not tried", "too busy", "failed"]
"""Result of an attempt. `sent`: the host decides by what arrived there. `too busy`: the machine was too busy to
decide. `failed`: the attempt itself has a fault."""
Way = tuple[str, Callable[[], str]]
"""A name, and a function that returns what it obtained. It returns "" or raises OSError if the layer held."""


class UnknownMachineError(Exception):
    """The numbers of this machine's system calls are unknown."""


def call(name: str, *arguments: object) -> int:
    """Make a system call. Arguments are numbers, bytes, values of ctypes, and None for a null pointer.

    Raises:
        OSError: the kernel refuses the call.
        UnknownMachineError: the machine is neither x86-64 nor 64-bit ARM.
    """
    if not KNOWN:
        raise UnknownMachineError
    words = [NUMBERS[name], *arguments]
    for place, word in enumerate(words):
        if isinstance(word, int):
            words[place] = ctypes.c_long(word)
    answer: int = libc.syscall(*words)
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


class AttemptVerdict(NamedTuple):
    """The result of an attempt, with one line of evidence."""

    result: Result
    evidence: str


class EscapeAttempt(NamedTuple):
    """A registered attempt, with the layer that it attacks."""

    name: str
    layer: str
    """Name of the layer that should stop the attempt, as in `host_snapshot`."""
    what: str
    """The first line of its docstring."""
    run: Callable[[Scene], AttemptVerdict]
    seconds: float
    stays: bool = False
    """True if the attempt leaves a process behind; those that do are made last."""


ATTEMPTS: dict[str, EscapeAttempt] = {}
"""All attempts, keyed by name, in order of registration."""

Try = Callable[[Scene], AttemptVerdict]


def attacks(layer: str, seconds: float = 3.0, *, stays: bool = False) -> Callable[[Try], Try]:
    """Register a function as an attempt that is called like the function, but with hyphens."""

    def register(run: Try) -> Try:
        name = run.__name__.replace("_", "-")
        what = (run.__doc__ or "").strip().splitlines()[0]
        ATTEMPTS[name] = EscapeAttempt(name, layer, what, run, seconds, stays)
        return run

    return register


def say(what: dict[str, object]) -> None:
    """Report something to the host now, as a line of JSON: a layer may kill this process at any time."""
    os.write(1, json.dumps(what).encode() + b"\n")


def proof(obtained: object, word: str) -> str:
    """Return the word if anything was obtained, otherwise "": the result of a `Way`."""
    return word if obtained else ""


def done(word: str, do: Callable[..., object], *arguments: object) -> Callable[[], str]:
    """Return a function for a `Way` that calls `do` and then returns `word`."""

    def way() -> str:
        do(*arguments)
        return word

    return way


@contextmanager
def opened(path: str, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Open a file, and close its descriptor at the end."""
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_once(path: str, flags: int = os.O_RDONLY) -> None:
    """Open a file and close it."""
    os.close(os.open(path, flags))


def any_of(ways: Iterable[Way], otherwise: str = "this machine has nothing of this kind") -> AttemptVerdict:
    """Try the ways in order: escaped if one succeeds, held if all fail, not tried if there are none."""
    obstacles: dict[str, list[str]] = {}
    for name, way in ways:
        try:
            got = way()
        except OSError as error:
            obstacles.setdefault(reason(error), []).append(name)
        else:
            if got:
                return AttemptVerdict("escaped", f"{name}: {got}")
            obstacles.setdefault("no result", []).append(name)
    if not obstacles:
        return AttemptVerdict("not tried", otherwise)
    told = [f"{why}: {', '.join(dict.fromkeys(names))}" for why, names in obstacles.items()]
    return AttemptVerdict("held", "; ".join(told))


def reason(error: OSError) -> str:
    """Return the kernel's name of an error."""
    return errno.errorcode.get(error.errno or 0, str(error))


def bounded(got: float, allowed: float, unit: str) -> AttemptVerdict:
    """Return a verdict that holds if no more than the allowed amount was obtained."""
    return AttemptVerdict(
        "held" if got <= allowed else "escaped", f"got {got:.4g} {unit}, {allowed:.4g} are allowed"
    )
