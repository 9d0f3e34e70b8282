"""Reads the name of a bot: a folder, `FOLDER@REVISION`, a sample bot's name, `remote:FILE` or `console`.

Whoever checks a name and whoever uses it must see the same folder in it. So every name is read here, once, and
what was read is passed on instead of the text.
"""

import os
import stat
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

CONSOLE = "console"
"""The name of a person at the terminal."""
REMOTE = "remote:"
"""The beginning of a name that stands for a bot on another machine; the file of its public key follows."""
BUILT_IN = Path(__file__).resolve().parents[2] / "bots"
FILE = "bot.toml"
LONGEST_PATH = 4_096
"""Bytes of what names a bot, as the kernel has it."""

Kind = Literal["folder", "sample", "remote", "console", "unknown"]


class BotName(Struct, frozen=True, kw_only=True):
    """The name of a bot, as it was read."""

    given: str
    """The name as this process would be told it: a relative path starts from the current folder."""
    kind: Kind
    beside: Path
    """The folder that a relative path starts from."""
    written: Path
    """The path of the folder or key file as it was written. A sample bot and a person have none: empty."""
    path: Path
    """The folder of the bot, or the file of its key."""
    revision: str | None = None
    """The git revision of the folder; None: as it lies there."""

    @property
    def is_remote(self) -> bool:
        """Whether the bot comes from another machine, with a key."""
        return self.kind == "remote"

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder that is there, as it is now."""
        return self.kind in {"folder", "sample"} and self.revision is None and _is_folder(self.path)

    @property
    def is_link(self) -> bool:
        """Whether the path itself is a symbolic link."""
        return self.written != Path() and _is_link(self.path)

    def first_link(self) -> Path | None:
        """Return the first part of the written path that is a symbolic link, or None.

        A stranger who may write there chooses where it leads; an arena that root runs would follow it anywhere.
        """
        at = self.beside
        for part in self.written.parts:
            at = at / part
            try:
                mode = at.lstat().st_mode
            except (OSError, ValueError):
                return None  # What is not there has nothing below it: a text of thousands of parts takes no time.
            if stat.S_ISLNK(mode):
                return at
        return None

    def resolved(self) -> "BotName":
        """Return the same name with an absolute path without links, which every process reads alike."""
        if self.kind not in {"folder", "remote"}:
            return self
        try:
            path = Path(os.path.realpath(self.path))
        except ValueError:  # No path can have a NUL: whoever opens it says so.
            return self
        return replace(
            self, given=_spelled(self.kind, path, self.revision), beside=Path("/"), written=path, path=path
        )


def read_bot_name(text: str, beside: Path | None = None) -> BotName:
    """Read the name of a bot.

    A path is read part by part. As long as a part is a folder that is there, an `@` in it belongs to its name.
    In the first part that is none, the revision begins at the last `@` that has a folder before it, or else at
    the next `@`. So `in@2026/anna` is a folder if `in@2026` is one, and otherwise the revision `2026/anna` of the
    folder `in`.

    Args:
        text: the name.
        beside: the folder that relative paths start from; None: the current one.
    """
    if text == CONSOLE:
        return BotName(given=text, kind="console", beside=Path(), written=Path(), path=Path())
    if text.startswith(REMOTE):
        return _of_path(text, "remote", beside, Path(text.removeprefix(REMOTE)), None)
    folder, revision = _split(text, beside or Path())
    if folder == "" or "/" in folder or _is_there((beside or Path()) / folder):
        return _of_path(text, "folder", beside, Path(folder), revision)
    sample = BUILT_IN / folder
    if _is_folder(sample) and (revision is not None or (sample / FILE).is_file()):
        return BotName(given=text, kind="sample", beside=Path(), written=Path(), path=sample, revision=revision)
    if revision is not None:  # A folder need not be there any more to be read at a revision.
        return _of_path(text, "folder", beside, Path(folder), revision)
    return BotName(given=text, kind="unknown", beside=beside or Path(), written=Path(), path=Path(folder))


def folder_name(folder: Path) -> BotName:
    """Return the name of a folder whose path is known: no `@` in it begins a revision."""
    return BotName(given=str(folder), kind="folder", beside=Path(), written=folder, path=folder)


def is_remote(text: str) -> bool:
    """Return whether a name is that of a bot that comes with a key, wherever its file is."""
    return text.startswith(REMOTE)


def last_part(text: str, beside: Path | None = None) -> str:
    """Return the last part of the path in a name, with the revision behind it.

    Looks at the text alone: what a bot is called must not change with what lies on the disk. Only `.` and `..`
    are called as the folder that they stand for.

    Args:
        text: the name.
        beside: the folder that a relative path starts from; None: the current one.
    """
    path = Path(text.removeprefix(REMOTE))
    folder, at, revision = path.name.partition("@")
    if folder in {".", ".."} or not path.name:
        stands_for = os.path.realpath((beside or Path()) / path.parent / folder)
        return f"{Path(stands_for).name}{at}{revision}"
    return path.name


def _of_path(text: str, kind: Kind, beside: Path | None, written: Path, revision: str | None) -> BotName:
    path = (beside or Path()) / written
    given = text if beside is None else _spelled(kind, path, revision)
    return BotName(given=given, kind=kind, beside=beside or Path(), written=written, path=path, revision=revision)


def _spelled(kind: Kind, path: Path, revision: str | None) -> str:
    start = REMOTE if kind == "remote" else ""
    end = "" if revision is None else f"@{revision}"
    return f"{start}{path}{end}"


def _split(text: str, beside: Path) -> tuple[str, str | None]:
    """Return the path in a name, and its revision if it has one."""
    if len(text) > LONGEST_PATH:
        return text, None
    begin = 0
    for slash in (*(at for at, character in enumerate(text) if character == "/"), len(text)):
        if not _is_there(beside / text[:slash]):
            ends = (at for at in range(slash, begin, -1) if text[at : at + 1] == "@")
            end = next((at for at in ends if _is_there(beside / text[:at])), text.find("@", begin))
            return (text, None) if end < 0 else (text[:end], text[end + 1 :])
        begin = slash + 1
    return text, None


def _is_there(path: Path) -> bool:
    """Return whether a folder is there, or a link, which is refused rather than read as something else."""
    return _is_folder(path) or _is_link(path)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # No folder can have such a name, or nobody here may look.
        return False


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:
        return False
