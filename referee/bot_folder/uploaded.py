"""Unpacks archives from authors into a folder, which is then read like any bot's folder.

Python's readers of ZIP and tar have no limits. So a separate process (`unpacking`) unpacks an archive, within
limits of memory, time and disk that the kernel enforces.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.bot_folder.bot_name import FILE
from referee.bot_folder.content import MEGABYTE, MOST_FILES, MOST_MB
from referee.linux.regular_file import open_regular
from referee.printable import printable

ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""Suffixes of the names of archives."""
MOST_MEMORY = 1_024 * MEGABYTE
MOST_SECONDS = 60
"""Maximum seconds of processor time for unpacking."""
LONGEST_COMPLAINT = 500
PATIENCE_SECONDS = 300
"""Maximum seconds of wall time for unpacking; generous, since the machine may be busy."""


class UploadError(ValueError):
    """An archive cannot be used. The text is one line with the reason, without the archive's name."""


def label_of_upload(name: str) -> str | None:
    """Return an archive's name without its suffix, or None if it is not the name of an archive."""
    ending = max((each for each in ENDINGS if name.lower().endswith(each)), key=len, default=None)
    return name[: -len(ending)] if ending and len(name) > len(ending) else None


def is_upload(path: Path) -> bool:
    """Return whether a path is a file, or a link to one, with the suffix of an archive."""
    try:
        return label_of_upload(path.name) is not None and path.is_file()
    except OSError:
        return False


@contextmanager
def unpacked_upload(archive: Path, *, most_mb: int = MOST_MB, most_files: int = MOST_FILES) -> Iterator[Path]:
    """Unpack an archive; yield the folder of the bot in it, which is removed when the block ends.

    The bot's folder is the archive's top, or its only folder.

    Args:
        archive: its path; not followed if it is a symbolic link.
        most_mb: the maximum megabytes of all its files together.
        most_files: the maximum number of files.

    Raises:
        UploadError: it cannot be read, or has content that is not allowed.
        OSError: the machine lacks memory, disk or another resource.
    """
    with tempfile.TemporaryDirectory(prefix="arena-upload-", ignore_cleanup_errors=True) as folder:
        _unpack_apart(archive, Path(folder), most_mb * MEGABYTE, most_files)
        yield _bot_in(Path(folder))


def _bot_in(folder: Path) -> Path:
    """Return the folder that holds bot.toml."""
    if (folder / FILE).is_file():
        return folder
    inner = [each for each in folder.iterdir() if each.is_dir()]
    if len(inner) == 1 and (inner[0] / FILE).is_file():
        return inner[0]
    raise UploadError(f"has no {FILE}, neither at its top nor in its only folder")


def _unpack_apart(archive: Path, into: Path, most_bytes: int, most_files: int) -> None:
    """Unpack in a separate process. Raises as `unpacked_upload`."""
    try:
        file = open_regular(archive, follow=False)
    except (OSError, ValueError) as error:
        raise UploadError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    command = [sys.executable, "-m", "referee.bot_folder.unpacking", str(into), str(most_bytes), str(most_files)]
    with file:
        try:
            done = subprocess.run(  # noqa: S603 - our own interpreter, and our own words
                command, stdin=file, capture_output=True, timeout=PATIENCE_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise UploadError(f"takes more than {PATIENCE_SECONDS} s to unpack") from None
    if done.returncode == 1:
        raise UploadError(printable(done.stdout.decode(errors="replace").strip()[:LONGEST_COMPLAINT]))
    if done.returncode != 0:
        raise UploadError(f"takes more than {MOST_SECONDS} s or {MOST_MEMORY // MEGABYTE} MB of memory to unpack")
