"""A bot's content: reads it within limits, hashes it and copies it to the cache, from which the bot runs.

A bot's folder is untrusted: it may contain pipes, devices, outward links and endless files, and may change during
the reading. So it is read through descriptors that follow no link, and the bot runs from a copy that was hashed
while it was written: only hashed bytes are mounted, built or sent to another machine.
"""

import ctypes
import errno
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from referee.bot_folder.cache import CacheError, own_temporary_folder, private
from referee.display_text import printable
from referee.linux.shortage import SHORTAGES

IGNORED = frozenset({b"__pycache__", b".git", b".pytest_cache", b".mypy_cache", b".ruff_cache"})
"""Names of files and folders that are not part of a bot's content, at any depth."""
MEGABYTE = 1024 * 1024
MOST_MB = 2_048
"""Maximum megabytes of a bot's files together."""
MOST_BYTES = MOST_MB * MEGABYTE
MOST_FILES = 50_000
"""Maximum number of files, folders and links."""
DEEPEST = 32
"""Maximum depth of nested folders."""
LONGEST_NAME = 1_000
"""Maximum bytes of a path within the folder, or of a link's target."""
FILE_HASH_DIGITS = 12
"""Number of digits of a single file's hash. It shows which file changed; the folder's full hash proves a
change."""
LONGEST_PART = 255
"""Maximum bytes of a file's name without its folder: the kernel's limit."""
UNUSED_DAYS = 7
"""Days after which an unused copy is removed. A process checks this if no process did for a day."""
_BLOCK = MEGABYTE
_DAY_SECONDS = 86_400
_ANY_TO_READ = {b"f": 0o444, b"x": 0o555}
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MAKING = "making-"
_LOCK = "lock"
"""The lock file that processes hold shared while bots may run from copies, and exclusively to remove copies."""
_PLACING = "placing"
"""The lock file that a process holds exclusively while it replaces a damaged copy."""
_LOCKS = frozenset({_LOCK, _PLACING})
_EXCHANGE = 2
"""The kernel's RENAME_EXCHANGE."""
_HERE = -100
"""The kernel's AT_FDCWD: paths are relative to the current folder."""


class ContentError(ValueError):
    """A bot's content is not allowed. The text is one line that starts with the name of a file in its folder."""

    def __init__(self, name: bytes, what: str) -> None:
        """Take the file's name in the folder (empty for the folder itself) and a description of the fault."""
        self.name = printable(name.decode(errors="backslashreplace"))
        self.what = what
        super().__init__(f"{self.name}: {what}" if name else what)


class Item(NamedTuple):
    """A file or link of a bot's content. Read its bytes before you request the next item."""

    name: bytes
    """The path in the folder, with `/` between parts."""
    kind: bytes
    """`f` for a file, `x` for an executable file, `l` for a link."""
    size: int
    """The expected size in bytes. The number of bytes read may differ."""
    blocks: Iterable[bytes]
    """The file's bytes, or the link's target."""


def cache_folder() -> Path:
    """Return the arena's cache folder.

    It is below XDG_CACHE_HOME or, by default, the home folder. If the home folder is missing or not writable, it
    is among temporary files, owned by this user.

    Raises:
        OSError: another user has created the folder, or there is no folder for temporary files.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG base directory specification requires that a relative path is ignored.
    if given.is_absolute():
        return given / "mist-arena"
    with suppress(RuntimeError):  # This user has no home.
        at_home = Path.home() / ".cache/mist-arena"
        there = next(each for each in (at_home, *at_home.parents) if os.path.exists(each))
        if os.access(there, os.W_OK | os.X_OK):
            return at_home
    return own_temporary_folder("mist-arena")


def forbidden_execution(program: Path) -> str:
    """Return why a file in the cache cannot be executed, with a remedy; "" if the file system allows it."""
    if not os.statvfs(program).f_flag & os.ST_NOEXEC:
        return ""
    return (
        f"cannot be executed: {cache_folder()} is mounted noexec; set XDG_CACHE_HOME to a folder on another mount"
    )


def content_hash(folder: Path, *, most: int = MOST_BYTES) -> str:
    """Return the hash of a folder's names, executable bits and bytes as `sha256:…`.

    Args:
        folder: a bot's folder.
        most: the maximum bytes of all its files together.

    Raises:
        ContentError: a part of it cannot be read or is not allowed.
        OSError: the machine lacks memory, descriptors or another resource.
    """
    return _hashed(folder_items(folder), None, most)


def copy_into(directory: int, into: Path, *, most: int) -> str:
    """Copy the content of a folder, given as a descriptor, into an empty folder; return the content's hash.

    Raises:
        ContentError: as `content_hash`. A part of the content may be in `into`.
        OSError: the copy cannot be written.
    """
    return _hashed(_items(directory, IGNORED), into, most)


def file_hashes(folder: Path) -> dict[str, str]:
    """Return a short hash for each file, by its name in the folder, to find the files that changed.

    Raises:
        ContentError: as `content_hash`.
    """
    return {
        item.name.decode(): hashlib.sha256(item.kind + _digest(item, None)).hexdigest()[:FILE_HASH_DIGITS]
        for item in bounded(folder_items(folder))
    }


def size_of(folder: Path) -> tuple[int, int]:
    """Return the number of files and links in a folder's content, and their total bytes.

    Raises:
        ContentError: as `content_hash`.
    """
    sizes = [item.size for item in folder_items(folder)]
    return len(sizes), sum(sizes)


def copy_of(folder: Path) -> tuple[str, Path]:
    """Return a folder's content hash and the path of its copy, which is created if necessary.

    Raises:
        ContentError: as `content_hash`.
        OSError: the copy cannot be written.
    """
    content = content_hash(folder)
    # Usually the copy exists. If the folder changes before it is copied, `copied` returns another hash.
    return (content, copy_place(content)) if is_whole(content) else copied(folder_items(folder))


def copied(items: Iterable[Item]) -> tuple[str, Path]:
    """Copy a bot's content to the cache; return its hash, computed during the copy, and the copy's path.

    Raises:
        ContentError: the content is not allowed.
        OSError: the copy cannot be written.
    """
    copies = _copies()
    if not copies.is_dir():
        _hold.cache_clear()  # The folder was removed after the last call.
    _hold(copies)
    making = Path(tempfile.mkdtemp(prefix=_MAKING, dir=copies))
    try:
        content = _hashed(items, making)
        _check_links(making)
        making.chmod(0o755)
        place = copy_place(content)
        if not _placed(making, place):
            _replace_damaged(making, place, content)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
    return content, place


def _check_links(copy: Path) -> None:
    """Raise ContentError if a link leads to itself, directly or through others."""
    for item in folder_items(copy, frozenset()):
        if item.kind == b"l":
            try:
                (copy / os.fsdecode(item.name)).stat()
            except OSError as error:
                if error.errno == errno.ELOOP:
                    raise ContentError(item.name, "is a link that leads in a circle") from None


def copy_place(content: str) -> Path:
    """Return the path of the copy with a content hash, whether or not it exists."""
    return _copies() / content.removeprefix("sha256:")


def discard_copy(content: str) -> None:
    """Remove the copy of a content, if there is one. No process may use it."""
    shutil.rmtree(copy_place(content), ignore_errors=True)


def is_whole(content: str) -> bool:
    """Return whether the copy with a content hash exists and is undamaged; if so, mark it as used now.

    A power failure or a bot without a sandbox may have damaged it.

    Raises:
        OSError: the machine lacks memory, descriptors or another resource.
    """
    place = copy_place(content)
    if not place.is_dir():
        return False
    _hold(place.parent)
    try:
        whole = _hashed(folder_items(place, frozenset()), None) == content
    except ContentError:
        return False
    with suppress(OSError):
        os.utime(place)
    return whole


def _copies() -> Path:
    return cache_folder() / "contents"


@cache
def _hold(copies: Path) -> None:
    """Create the folder of copies and lock it until this process exits, so that no other process removes copies.

    If no other process holds the lock, first remove unfinished copies and, once a day, unused ones.

    Raises:
        ContentError: another user could change the copies.
        OSError: the folder cannot be created.
    """
    try:
        private(cache_folder())
        private(copies)
    except CacheError as error:
        raise ContentError(b"", str(error)) from None
    lock = os.open(copies / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    # On a file system without locks, copies are never removed.
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove_unfinished(copies)
        looked = os.fstat(lock)
        if looked.st_size == 0 or looked.st_mtime < time.time() - _DAY_SECONDS:
            _remove_unused(copies)
            os.pwrite(lock, b"\n", 0)
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_SH)


def _remove_unfinished(copies: Path) -> None:
    """Remove unfinished copies of killed processes, and damaged copies that were replaced."""
    for place in copies.glob(f"{_MAKING}*"):
        shutil.rmtree(place, ignore_errors=True)


def _remove_unused(copies: Path) -> None:
    oldest = time.time() - UNUSED_DAYS * _DAY_SECONDS
    for place in copies.iterdir():
        if place.name not in _LOCKS and place.stat().st_mtime < oldest:
            shutil.rmtree(place, ignore_errors=True)


def _placed(making: Path, place: Path) -> bool:
    """Move a complete copy to its place. Return False if the place is occupied."""
    try:
        making.rename(place)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        return False
    return True


def _replace_damaged(making: Path, place: Path, content: str) -> None:
    """Replace a damaged copy by a complete one. An undamaged copy remains, since bots may run from it.

    Bots may run from the damaged copy, too: it remains under the name of `making` until no process holds the lock.
    """
    lock = os.open(place.parent / _PLACING, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        with suppress(OSError):  # A file system without locks.
            fcntl.flock(lock, fcntl.LOCK_EX)
        if is_whole(content):
            shutil.rmtree(making, ignore_errors=True)
        elif not _placed(making, place):
            _exchange(making, place)
    finally:
        os.close(lock)


def _exchange(one: Path, other: Path) -> None:
    """Exchange the names of two folders, atomically if possible."""
    # Some C libraries, kernels and file systems do not support this.
    with suppress(AttributeError):
        library = ctypes.CDLL(None, use_errno=True)
        if library.renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
            return
        if ctypes.get_errno() not in (errno.EINVAL, errno.ENOSYS):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(other))
    aside = tempfile.mkdtemp(prefix=_MAKING, dir=other.parent)
    other.rename(Path(aside, "damaged"))
    one.rename(other)


def _hashed(items: Iterable[Item], into: Path | None, most: int = MOST_BYTES) -> str:
    """Return the content hash of items; copy them into an empty folder if one is passed."""
    total = hashlib.sha256()
    writing = None if into is None else _Writing(into)
    for item in bounded(items, most):
        digest = _digest(item, writing)
        # Lengths make the hashed text unambiguous.
        total.update(b"%s %d %d\n%s" % (item.kind, len(item.name), len(digest), item.name) + digest)
    return f"sha256:{total.hexdigest()}"


def _digest(item: Item, writing: "_Writing | None") -> bytes:
    """Return the part of the hashed text for an item's bytes; copy the item if `writing` is passed."""
    if item.kind == b"l":
        target = b"".join(item.blocks)
        if writing is not None:
            os.symlink(target, writing.place(item.name))
        return target
    digest = hashlib.sha256()
    if writing is None:
        for block in item.blocks:
            digest.update(block)
        return digest.digest()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(writing.place(item.name), flags, 0o600), "wb") as file:
        for block in item.blocks:
            digest.update(block)
            file.write(block)
        os.fchmod(file.fileno(), _ANY_TO_READ[item.kind])
    return digest.digest()


class _Writing:
    """An empty folder that is filled with a copy, never through a link."""

    def __init__(self, into: Path) -> None:
        self._into = os.fsencode(into)
        self._folders = {b""}

    def place(self, name: bytes) -> bytes:
        """Return the path of a new file, after creating its folder."""
        self._make(name.rpartition(b"/")[0])
        return b"%s/%s" % (self._into, name)

    def _make(self, folder: bytes) -> None:
        if folder in self._folders:
            return
        self._make(folder.rpartition(b"/")[0])
        path = b"%s/%s" % (self._into, folder)
        try:
            os.mkdir(path)
        except FileExistsError:
            raise ContentError(folder, "is there twice") from None
        os.chmod(path, 0o755)  # noqa: S103 - whatever the umask: root's bots are other users
        self._folders.add(folder)


def bounded(items: Iterable[Item], most: int = MOST_BYTES) -> Iterator[Item]:
    """Yield items, which must be in the order of their names, after checking them and the total number of bytes.

    Raises:
        ContentError: an item is not allowed.
    """
    left = most
    last = b""

    def too_large(name: bytes) -> ContentError:
        return ContentError(name, f"is too much: a bot's files have at most {most // MEGABYTE} MB together")

    def counted(item: Item) -> Iterator[bytes]:
        nonlocal left
        for block in item.blocks:
            left -= len(block)
            if left < 0:
                raise too_large(item.name)
            yield block

    for number, item in enumerate(items, start=1):
        check_name(item.name)
        if number > MOST_FILES:
            raise _too_many(item.name)
        if item.size > left:
            raise too_large(item.name)
        if item.name <= last:
            raise ContentError(item.name, "is there twice")
        last = item.name
        if item.kind == b"l":
            yield item._replace(blocks=[_checked_target(item)])
        else:
            yield item._replace(blocks=counted(item))


def check_name(name: bytes) -> None:
    """Raise ContentError if a bot's file may not have this name."""
    try:
        fits = name.decode().isprintable()
    except UnicodeDecodeError:
        raise ContentError(name, "has a name that is not UTF-8") from None
    if not fits:
        raise ContentError(name, "has a name with characters that cannot be printed")
    if len(name) > LONGEST_NAME:
        raise ContentError(name[:100], f"has a name of more than {LONGEST_NAME} bytes")
    parts = name.split(b"/")
    if any(len(part) > LONGEST_PART for part in parts):
        raise ContentError(name[:100], f"has a name of more than {LONGEST_PART} bytes in its folder")
    if any(part in (b"", b".", b"..") for part in parts):
        raise ContentError(name, "is no name for a file inside")
    if len(parts) > DEEPEST + 1:
        raise ContentError(name, f"lies more than {DEEPEST} folders deep")


def _checked_target(item: Item) -> bytes:
    """Return a link's target, in which `..` may only be first and not lead above the folder.

    So the link ends inside the folder even if it leads through other links.
    """
    target = b"".join(item.blocks) if item.size <= LONGEST_NAME else b""
    shown = printable(target[:LONGEST_NAME].decode(errors="backslashreplace"))
    parts = [part for part in target.split(b"/") if part not in (b"", b".")]
    up = 0
    while up < len(parts) and parts[up] == b"..":
        up += 1
    if target.startswith(b"/") or up > item.name.count(b"/") or b".." in parts[up:]:
        raise ContentError(item.name, f"is a link to {shown}, outside the bot's folder")
    too_long = len(target) > LONGEST_NAME or max(map(len, parts), default=0) > LONGEST_PART
    if not target or too_long or b"\0" in target:
        raise ContentError(item.name, "is a link that leads nowhere")
    return target


def _too_many(name: bytes) -> ContentError:
    return ContentError(name, f"is one too many: a bot has at most {MOST_FILES} files and folders")


def folder_items(folder: Path, ignored: frozenset[bytes] = IGNORED) -> Iterator[Item]:
    """Yield a folder's files and links in order of their names. Follow no links; open only files and folders.

    Raises:
        ContentError: an entry cannot be read, or is neither file, folder nor link.
    """
    try:
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable(b"", error) from None
    try:
        yield from _items(directory, ignored)
    finally:
        os.close(directory)


def _items(directory: int, ignored: frozenset[bytes]) -> Iterator[Item]:
    return _Walk(os.fstat(directory).st_uid, ignored).items(directory, b"")


class _Walk:
    """A walk through a folder, with the number of entries found so far."""

    def __init__(self, owner: int, ignored: frozenset[bytes]) -> None:
        self._owner = owner
        self._ignored = ignored
        self._found = 0

    def items(self, directory: int, prefix: bytes) -> Iterator[Item]:
        for entry, mode in self._listed(directory, prefix):
            name = prefix + entry
            if stat.S_ISLNK(mode):
                target = _read_link(directory, entry, name)
                yield Item(name, b"l", len(target), [target])
            elif stat.S_ISDIR(mode):
                with _opened(directory, entry, name, os.O_DIRECTORY) as (inner, _):
                    yield from self.items(inner, name + b"/")
            elif stat.S_ISREG(mode):
                with _opened(directory, entry, name, 0) as (file, info):
                    self._check(name, info, directory, entry)
                    kind = b"x" if info.st_mode & stat.S_IXUSR else b"f"
                    yield Item(name, kind, info.st_size, _blocks(file, name))
            else:
                raise ContentError(name, "is neither a file nor a folder")

    def _listed(self, directory: int, prefix: bytes) -> list[tuple[bytes, int]]:
        """Return one folder's entries with their modes, in the order that sorts the full names of the walk."""
        found = []
        try:
            with os.scandir(directory) as listing:
                for entry in listing:
                    name = os.fsencode(entry.name)
                    if name in self._ignored:
                        continue
                    self._found += 1
                    check_name(prefix + name)
                    if self._found > MOST_FILES:
                        raise _too_many(prefix + name)
                    found.append((name, entry.stat(follow_symlinks=False).st_mode))
        except OSError as error:
            raise _unreadable(prefix.rstrip(b"/"), error) from None
        return sorted(found, key=lambda pair: pair[0] + b"/" if stat.S_ISDIR(pair[1]) else pair[0])

    def _check(self, name: bytes, info: os.stat_result, directory: int, entry: bytes) -> None:
        if not stat.S_ISREG(info.st_mode):
            raise _changed(name)
        if info.st_uid == self._owner:
            return
        # If the kernel lets users hard-link other users' files, root would otherwise copy files they cannot read.
        if info.st_nlink > 1:
            raise ContentError(name, "is another user's file, under a second name")
        # The second name may have been removed since the file was opened.
        try:
            there = os.stat(entry, dir_fd=directory, follow_symlinks=False)
        except OSError as error:
            raise _unreadable(name, error) from None
        if (there.st_dev, there.st_ino, there.st_nlink) != (info.st_dev, info.st_ino, 1):
            raise _changed(name)


@contextmanager
def _opened(directory: int, entry: bytes, name: bytes, flags: int) -> Iterator[tuple[int, os.stat_result]]:
    """Open an entry of a folder without following a link; yield its descriptor and status."""
    try:
        opened = os.open(entry, _OPEN | flags, dir_fd=directory)
    except OSError as error:
        raise _unreadable(name, error) from None
    try:
        yield opened, os.fstat(opened)
    finally:
        os.close(opened)


def _read_link(directory: int, entry: bytes, name: bytes) -> bytes:
    try:
        return os.readlink(entry, dir_fd=directory)
    except OSError as error:
        raise _unreadable(name, error) from None


def _blocks(file: int, name: bytes) -> Iterator[bytes]:
    try:
        while block := os.read(file, _BLOCK):
            yield block
    except OSError as error:
        raise _unreadable(name, error) from None


def _unreadable(name: bytes, error: OSError) -> ContentError | OSError:
    if error.errno in SHORTAGES:
        return error
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EINVAL, errno.ENOENT):
        return _changed(name)
    return ContentError(name, f"cannot be read: {error.strerror}")


def _changed(name: bytes) -> ContentError:
    return ContentError(name, "was changed while it was read")
