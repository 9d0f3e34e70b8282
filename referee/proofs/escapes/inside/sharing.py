"""Attempts on read-only things that all bots share: two bots could communicate through them, or one could spy.

That includes the page cache: a page that was read is in memory, a page that was dropped is not, and a bot of the
next match could query that.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import select
import struct
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from .attempt import AttemptVerdict, Scene, Way, any_of, attacks, call, opened, proof

SHARED = os.__file__
"""A file that every bot may read; a shared lock on it blocks no program."""
TERMINALS = "/dev/pts"
OFD_SETLK, OFD_GETLK = 37, 36
WHOLE_FILE = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
WRITING_TO_WHOLE_FILE = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
IN_ACCESS, IN_OPEN = 0x1, 0x20
WATCH_SECONDS = 1.0
LIBRARY = sysconfig.get_path("stdlib")
HERE = -100
NOT_WAITING, NOT_KEEPING = 0x8, 0x80
"""Flags of `preadv2`: read only pages that are in memory; drop pages again that were not."""
ONLY_KNOWN_NAMES = 0x20
"""Flag of `openat2`: fail for names that are not in the kernel's cache."""
WHERE_IT_LIES = 3
WILL_NEED, DO_NOT_NEED = 3, 4
ADVICE = {
    "will need": WILL_NEED,
    "remove": 9,
    "mergeable": 12,
    "cold": 20,
    "pageout": 21,
    "populate": 22,
    "collapse": 25,
}
UPPER_HALF = 1 << 32
"""A bit that the kernel ignores in an int, but a filter may compare."""
LOOKED_AT = 5_000
SOME_BYTES = 16


def _with_file(path: str, use: Callable[[int], object]) -> Callable[[], str]:
    def way() -> str:
        with opened(path) as descriptor:
            return f"the kernel answered {use(descriptor)!r}"

    return way


@attacks("system-call filter")
def locks_shared_files(scene: Scene) -> AttemptVerdict:
    """Locks a file that all bots may read, and asks who holds locks on it: a word from one bot to another."""
    ways: dict[str, Callable[[int], object]] = {
        "flock": lambda file: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
        "F_SETLK": lambda file: fcntl.fcntl(file, fcntl.F_SETLK, WHOLE_FILE),
        "F_GETLK": lambda file: fcntl.fcntl(file, fcntl.F_GETLK, WRITING_TO_WHOLE_FILE),
        "F_OFD_SETLK": lambda file: fcntl.fcntl(file, OFD_SETLK, WHOLE_FILE),
        "F_OFD_GETLK": lambda file: fcntl.fcntl(file, OFD_GETLK, WRITING_TO_WHOLE_FILE),
        "F_SETLEASE": lambda file: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
        "F_GETLEASE": lambda file: fcntl.fcntl(file, fcntl.F_GETLEASE),
    }
    return any_of((name, _with_file(SHARED, use)) for name, use in ways.items())


@attacks("system-call filter")
def watches_shared_files(scene: Scene) -> AttemptVerdict:
    """Asks to be told when anybody opens or reads the interpreter's files, as the other bot does."""

    def watched() -> str:
        watching = call("inotify_init1", os.O_NONBLOCK)
        try:
            call("inotify_add_watch", watching, ctypes.c_char_p(SHARED.encode()), IN_ACCESS | IN_OPEN)
            os.close(os.open(SHARED, os.O_RDONLY))
            seen = select.select([watching], [], [], WATCH_SECONDS)[0]
            return "an opening was seen" if seen else "a watch was set"
        finally:
            os.close(watching)

    folder = os.path.dirname(SHARED)
    notified = _with_file(folder, lambda file: fcntl.fcntl(file, fcntl.F_NOTIFY, fcntl.DN_ACCESS))
    return any_of([("inotify", watched), ("F_NOTIFY", notified)])


@attacks("minimal root")
def sees_others_terminals(scene: Scene) -> AttemptVerdict:
    """Looks for terminals that another bot, or anybody, has opened."""

    def others(names: Iterable[str]) -> str:
        found = sorted(set(names) - {"ptmx"})
        return proof(found, f"terminals {', '.join(found)}")

    return any_of([(TERMINALS, lambda: others(os.listdir(TERMINALS)))])


def _asked(name: str, *arguments: object) -> str:
    """Make a system call, and describe its answer. EAGAIN counts as an answer, since it reveals something."""
    try:
        return f"the kernel answered {call(name, *arguments)}"
    except OSError as error:
        if error.errno != errno.EAGAIN:
            raise
        return "the kernel answered that it would have to wait"


def _of_file(name: str, *arguments: object) -> Way:
    """Return a way to make a call with a descriptor of `SHARED` as first argument."""

    def way() -> str:
        with opened(SHARED) as file:
            return _asked(name, file, *arguments)

    return name, way


def _of_mapping(ask: Callable[[int, int], str]) -> Callable[[], str]:
    """Return a function that calls `ask` with the address and the length of `SHARED` mapped into memory."""

    def way() -> str:
        with open(SHARED, "rb") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE) as pages:
            view = ctypes.c_char.from_buffer(pages)
            try:
                length = -(-len(pages) // mmap.PAGESIZE) * mmap.PAGESIZE
                return ask(ctypes.addressof(view), length)
            finally:
                del view

    return way


def _read(flags: int) -> Way:
    def way() -> str:
        buffer = ctypes.create_string_buffer(SOME_BYTES)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), SOME_BYTES)
        return _of_file("preadv2", vector, 1, 0, 0, flags)[1]()

    return f"preadv2 {flags:#x}", way


def _advised(advice: int) -> Callable[[], str]:
    return _of_mapping(lambda address, length: _asked("madvise", address, length, advice))


@attacks("system-call filter")
def asks_what_lies_in_memory(scene: Scene) -> AttemptVerdict:
    """Asks which pages of a file that all bots may read lie in memory, and which names were looked up lately."""
    how = (ctypes.c_uint64 * 3)(0, 0, ONLY_KNOWN_NAMES)
    span, counts = (ctypes.c_uint64 * 2)(0, mmap.PAGESIZE), (ctypes.c_uint64 * 5)()
    node, status = ctypes.c_int(), ctypes.c_int()

    def bits(address: int, length: int) -> str:
        return _asked("mincore", address, length, ctypes.create_string_buffer(length // mmap.PAGESIZE))

    def moved(address: int, _: int) -> str:
        return _asked("move_pages", 0, 1, (ctypes.c_size_t * 1)(address), None, ctypes.byref(status), 0)

    def placed(address: int, _: int) -> str:
        return _asked("get_mempolicy", ctypes.byref(node), None, 0, address, WHERE_IT_LIES)

    name = ctypes.c_char_p(SHARED.encode())
    return any_of(
        [
            _read(NOT_WAITING),
            _of_file("cachestat", span, counts, 0),
            ("mincore", _of_mapping(bits)),
            ("move_pages", _of_mapping(moved)),
            ("get_mempolicy", _of_mapping(placed)),
            ("openat2", lambda: _asked("openat2", HERE, name, how, ctypes.sizeof(how))),
        ]
    )


@attacks("system-call filter")
def steers_what_lies_in_memory(scene: Scene) -> AttemptVerdict:
    """Has pages of a file that all bots may read dropped from memory, kept there, or fetched beforehand."""

    def of_process(address: int, length: int) -> str:
        vector = (ctypes.c_size_t * 2)(address, length)
        return _asked("process_madvise", os.pidfd_open(os.getpid()), vector, 1, ADVICE["cold"], 0)

    def rearranged(address: int, _: int) -> str:
        return _asked("remap_file_pages", address, mmap.PAGESIZE, 0, 0, 0)

    advised: list[Way] = []
    hidden: list[Way] = []
    for word, advice in ADVICE.items():
        advised.append((f"madvise {word}", _advised(advice)))
        hidden.append((f"{word}, hidden", _advised(advice | UPPER_HALF)))
    return any_of(
        [
            _of_file("fadvise64", 0, 0, DO_NOT_NEED),
            _of_file("fadvise64", 0, 0, WILL_NEED),
            _of_file("readahead", 0, mmap.PAGESIZE),
            _of_file("sync_file_range", 0, 0, 0),
            _read(NOT_KEEPING),
            *advised,
            *hidden,
            ("process_madvise", _of_mapping(of_process)),
            ("remap_file_pages", _of_mapping(rearranged)),
        ]
    )


@attacks("read-only root")
def leaves_marks_by_reading(scene: Scene) -> AttemptVerdict:
    """Reads files that all bots see, so that the time at which they were last read tells the next bot."""
    due = list(islice(_due(), SOME_BYTES))
    return any_of([(path, _marked(path)) for path in due], "no file's time of reading is due to be written down")


def _due() -> Iterator[str]:
    """Yield files whose access time the kernel would update now: those not read since they were changed."""
    for path in islice(_files_below(LIBRARY), LOOKED_AT):
        seen = os.stat(path)
        if seen.st_size and seen.st_atime_ns <= max(seen.st_mtime_ns, seen.st_ctime_ns):
            yield path


def _files_below(root: str) -> Iterator[str]:
    for folder, _, names in os.walk(root):
        for name in names:
            yield os.path.join(folder, name)


def _marked(path: str) -> Callable[[], str]:
    def way() -> str:
        before = os.stat(path).st_atime_ns
        with open(path, "rb") as file:
            file.read(SOME_BYTES)
        return proof(os.stat(path).st_atime_ns != before, "the time of reading was written down")

    return way
