"""The folder into which a site is written. Each file is replaced as a whole, and only our own files are replaced.

A manifest in the folder lists our files with their hashes. A file is listed before it is moved to its place. So a
file that is not listed belongs to somebody else, even if this process was killed, and is never touched.
"""

import errno
import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from arena.errors import MachineCannot, WrongUse, cannot_write
from arena.tournament import LEDGER
from referee.linux.files import open_regular, read_regular

HOME = ".arena-site"
"""Name of the folder, within the site, of the manifest, the lock and unfinished files."""
MANIFEST = "manifest.sqlite"
LOCK = "lock"
PARTS = "parts"
MAY_BE_THERE = frozenset({".git"})
"""Names that a folder may contain before it becomes a site."""
TABLES = """
CREATE TABLE files (
    path TEXT PRIMARY KEY,
    hash BLOB NOT NULL,
    before BLOB,  -- the hash of what may still be there if we were killed
    size INTEGER NOT NULL,
    build INTEGER NOT NULL,  -- the last one that wanted it
    source TEXT NOT NULL  -- what it was made from
) WITHOUT ROWID, STRICT;
CREATE TABLE builds (id INTEGER PRIMARY KEY) STRICT;
"""
CHUNK = 1024 * 1024
ROWS = 1_000
BEING_WRITTEN = "being written"
"""Source of a file that is not in its place yet. A killed build may have left the old file there."""


class Output:
    """An open site folder. Paths are relative to it and separated by `/`."""

    def __init__(self, folder: Path, manifest: sqlite3.Connection) -> None:
        self.folder = folder
        self._manifest = manifest
        self._real: set[Path] = {folder}
        """Folders that exist and are not symbolic links."""
        self._build = manifest.execute("INSERT INTO builds DEFAULT VALUES").lastrowid or 0

    def write(self, path: str, content: bytes, source: str = "") -> bool:
        """Write a file; return False if the same file was there already.

        Args:
            path: the file's path.
            content: the file's content.
            source: a text that identifies what the file was made from; see `has`.

        Raises:
            WrongUse: a file that is not ours is at this path, or the file cannot be written.
            MachineCannot: there is no space.
        """
        named = self._named(path)
        if named is not None and self._holds(path, content):
            if named[1] != source:
                self._note(path, sha256(content).digest(), len(content), source)
            self._want(path)
            return False
        with _errors_as_exits(self.folder / path):
            part = self.parts / "page"
            part.write_bytes(content)
        self.put(path, part, sha256(content).digest(), len(content), source)
        return True

    @property
    def parts(self) -> Path:
        """Folder in which files are written before they are moved to their places."""
        return self.folder / HOME / PARTS

    def put(self, path: str, part: Path, digest: bytes, size: int, source: str = "") -> None:
        """Move a finished file from `parts` to its place. Raises the errors of `write`."""
        place = self.folder / path
        self._make_folder(place.parent)
        self._check_free(path)
        self._note(path, digest, size, BEING_WRITTEN)
        with _errors_as_exits(place):
            part.replace(place)
            self._manifest.execute("UPDATE files SET source = ? WHERE path = ?", (source, path))

    def has(self, path: str, source: str = "") -> bool:
        """Return whether our file exists and has this source; if so, keep it. Its content is not read."""
        named = self._named(path)
        if named is None or named[1] != source or not self._is_there(path, named[0]):
            return False
        self._want(path)
        return True

    def delete_rest(self) -> tuple[int, int]:
        """Delete our files that are no part of this build.

        Returns:
            The number of deleted files, and of files left in place because somebody else had changed them.
        """
        deleted = left = 0
        with _errors_as_exits(self.folder):
            while rows := self._manifest.execute(
                "SELECT path, hash, before FROM files WHERE build < ? LIMIT ?", (self._build, ROWS)
            ).fetchall():
                for path, *digests in rows:
                    is_ours = self._is_inside(path) and _digest(self.folder / path) in digests
                    if is_ours:
                        (self.folder / path).unlink()
                        self._remove_empty(path)
                        deleted += 1
                    elif self._is_inside(path) and os.path.lexists(self.folder / path):
                        left += 1
                    self._manifest.execute("DELETE FROM files WHERE path = ?", (path,))
        return deleted, left

    def _named(self, path: str) -> tuple[int, str] | None:
        """Return the size and the source of a file in the manifest; None if it is not listed."""
        with _errors_as_exits(self.folder):
            found: tuple[int, str] | None = self._manifest.execute(
                "SELECT size, source FROM files WHERE path = ?", (path,)
            ).fetchone()
        return found

    def _note(self, path: str, digest: bytes, size: int, source: str) -> None:
        """List a file in the manifest."""
        with _errors_as_exits(self.folder):
            self._manifest.execute(
                "INSERT INTO files VALUES (?, ?, NULL, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET before = hash,"
                " hash = excluded.hash, size = excluded.size, build = excluded.build, source = excluded.source",
                (path, digest, size, self._build, source),
            )

    def _want(self, path: str) -> None:
        with _errors_as_exits(self.folder):
            self._manifest.execute("UPDATE files SET build = ? WHERE path = ?", (self._build, path))

    def _is_there(self, path: str, size: int) -> bool:
        try:
            its = (self.folder / path).lstat()
        except OSError:
            return False
        return stat.S_ISREG(its.st_mode) and its.st_size == size

    def _holds(self, path: str, content: bytes) -> bool:
        """Return whether our file has this content."""
        if not (self._is_inside(path) and self._is_there(path, len(content))):
            return False
        try:
            return read_regular(self.folder / path, len(content), follow=False) == content
        except OSError:
            return False

    def _check_free(self, path: str) -> None:
        """Check that a path is free or has a file of ours. Raises WrongUse if not."""
        place = self.folder / path
        try:
            mode = place.lstat().st_mode
        except FileNotFoundError:
            return
        except OSError as error:
            raise cannot_write(place, error) from None
        if self._named(path) is None or not stat.S_ISREG(mode):
            raise WrongUse(f"{place}: is in the way of a page, and was not written by arena site; move it")

    def _make_folder(self, folder: Path) -> None:
        """Create a folder. A symbolic link in its place is refused, because it would lead out of the site."""
        if folder in self._real:
            return
        self._make_folder(folder.parent)
        with _errors_as_exits(folder):
            with suppress(FileExistsError):
                folder.mkdir()
            _check_folder(folder)
        self._real.add(folder)

    def _is_inside(self, path: str) -> bool:
        """Return whether a path leads to a place in this folder. The manifest, and so the path, is untrusted."""
        parts = path.split("/")
        if not all(parts) or {".", "..", HOME} & set(parts) or "\0" in path:
            return False
        above = [self.folder.joinpath(*parts[:depth]) for depth in range(1, len(parts))]
        return not any(folder not in self._real and folder.is_symlink() for folder in above)

    def _remove_empty(self, path: str) -> None:
        for folder in (self.folder / path).parents:
            if folder == self.folder:
                return
            try:
                folder.rmdir()
            except OSError:
                return
            self._real.discard(folder)


@contextmanager
def open_output(folder: Path) -> Iterator[Output]:
    """Open a site folder, which is locked for this process during the block. Create it if it does not exist.

    Raises:
        WrongUse: it is a results folder or in one, or contains files but no manifest.
        MachineCannot: there is no space.
    """
    _check_place(folder)
    home = folder / HOME
    with _errors_as_exits(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            names = sorted(each.name for each in folder.iterdir())
            strange = next((name for name in names if name not in MAY_BE_THERE), None)
            if strange not in (None, HOME) and not os.path.lexists(home):
                raise WrongUse(
                    f"{folder}: holds {strange}, and was not written by arena site; give a new or an empty folder"
                )
            home.mkdir()
        _check_folder(home)
        lock = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WrongUse(f"{folder}: another arena is writing this site now") from None
        except OSError as error:
            why = error.strerror or error
            raise MachineCannot(
                f"{folder}: is on a file system without locks ({why}): give another folder"
            ) from None
        with _errors_as_exits(folder):
            _clear(home / PARTS)
        with closing(_open_manifest(home / MANIFEST)) as manifest:
            yield Output(folder, manifest)
            with _errors_as_exits(folder):
                _clear(home / PARTS)
    finally:
        os.close(lock)


def _check_place(folder: Path) -> None:
    try:
        resolved = folder.resolve()
        for above in (resolved, *resolved.parents):
            if os.path.lexists(above / LEDGER):
                inside = "is" if above == resolved else "is in"
                raise WrongUse(f"{folder}: {inside} a folder of results; a site is for all to see: give another")
    except OSError as error:
        raise cannot_write(folder, error) from None


def _check_folder(folder: Path) -> None:
    """Check that a path is a folder and no symbolic link. Raises WrongUse if not."""
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise WrongUse(f"{folder}: is in the way of a folder, and was not written by arena site; move it")


def _clear(parts: Path) -> None:
    """Remove the unfinished files of a killed build. Creates the folder if it does not exist."""
    with suppress(FileExistsError):
        parts.mkdir()
    _check_folder(parts)
    for part in parts.iterdir():
        part.unlink()


def _open_manifest(path: Path) -> sqlite3.Connection:
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise WrongUse(f"{path}: is not a file")
    with _errors_as_exits(path):
        manifest = sqlite3.connect(path, isolation_level=None)
        try:
            manifest.execute("PRAGMA journal_mode = WAL")
            manifest.execute("PRAGMA synchronous = NORMAL")
            if not _tables(manifest):
                manifest.executescript(f"BEGIN; {TABLES} COMMIT;")
            with closing(sqlite3.connect(":memory:")) as right:
                right.executescript(TABLES)
                ours = _tables(manifest) == _tables(right)
        except BaseException:
            manifest.close()
            raise
    if not ours:
        manifest.close()
        raise WrongUse(f"{path}: is not a manifest of this version of arena site; give a new folder")
    return manifest


def _tables(manifest: sqlite3.Connection) -> set[tuple[str, str | None]]:
    return set(manifest.execute("SELECT name, sql FROM sqlite_master"))


def _digest(path: Path) -> bytes | None:
    """Return the hash of a regular file; None if it is not regular or cannot be read."""
    total = sha256()
    try:
        if path.is_symlink():
            return None
        with open_regular(path) as file:
            while chunk := file.read(CHUNK):
                total.update(chunk)
    except OSError:
        return None
    return total.digest()


@contextmanager
def _errors_as_exits(path: Path) -> Iterator[None]:
    """Convert errors of files and of the manifest to errors that end the command with a message."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            raise cannot_write(path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))) from None
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
            raise WrongUse(f"{path}: the manifest in {HOME} is not valid: {error}; give a new folder") from None
        raise MachineCannot(f"{path}: {error}") from None
