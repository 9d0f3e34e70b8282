"""Reads the name of a bot: a folder, `FOLDER@REVISION`, a sample bot's name, `remote:FILE` or `console`.

A check of a name and its later use must mean the same folder. So each name is read once, here, and the result is
passed on instead of the text.
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
"""The prefix of a name for a bot on another machine; the file of its public key follows."""
BUILT_IN = Path(__file__).resolve().parents[2] / "bots"
FILE = "bot.toml"
LONGEST_PATH = 4_096
"""Maximum bytes of a bot's name: the kernel's limit for paths."""

Kind = Literal["folder", "sample", "remote", "console", "unknown"]


class BotName(Struct, frozen=True, kw_only=True):
    """A parsed name of a bot."""

    given: str
    """The name for use in this process, where relative paths start from the current folder."""
    kind: Kind
    beside: Path
    """The folder from which a relative path starts."""
    written: Path
    """The path of the folder or key file as written; empty for a sample bot and for a person."""
    path: Path
    """The folder of the bot, or the file of its key."""
    revision: str | None = None
    """The git revision of the folder; None for its present content."""

    @property
    def is_remote(self) -> bool:
        """Whether the bot is on another machine and has a key."""
        return self.kind == "remote"

    @property
    def is_folder(self) -> bool:
        """Whether the name means the present content of a folder that exists."""
        return self.kind in {"folder", "sample"} and self.revision is None and _is_folder(self.path)

    @property
    def is_link(self) -> bool:
        """Whether the path itself is a symbolic link."""
        return self.written != Path() and _is_link(self.path)

    def first_link(self) -> Path | None:
        """Return the first part of the written path that is a symbolic link, or None.

        A user who may write there could let it lead anywhere, and an arena run by root would follow it.
        """
        at = self.beside
        for part in self.written.parts:
            at = at / part
            try:
                mode = at.lstat().st_mode
            except (OSError, ValueError):
                return None  # Nothing exists below a missing part, so a text of thousands of parts ends here.
            if stat.S_ISLNK(mode):
                return at
        return None

    def resolved(self) -> "BotName":
        """Return the same name with an absolute path without links, which means the same in every process."""
        if self.kind not in {"folder", "remote"}:
            return self
        try:
            path = Path(os.path.realpath(self.path))
        except ValueError:  # The path has a NUL, which is reported when it is opened.
            return self
        return replace(
            self, given=_spelled(self.kind, path, self.revision), beside=Path("/"), written=path, path=path
        )


def read_bot_name(text: str, beside: Path | None = None) -> BotName:
    """Read the name of a bot.

    A path is read part by part. If a part is an existing folder, an `@` in it belongs to its name. In the first
    part that is not, the revision starts after the last `@` that follows an existing folder, or else after the
    next `@`. So `in@2026/anna` is a folder if `in@2026` is one, and otherwise the revision `2026/anna` of the
    folder `in`.

    Args:
        text: the name.
        beside: the folder from which relative paths start; None: the current one.
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
    if revision is not None:  # A folder that was deleted can still be read at a revision.
        return _of_path(text, "folder", beside, Path(folder), revision)
    return BotName(given=text, kind="unknown", beside=beside or Path(), written=Path(), path=Path(folder))


def folder_name(folder: Path) -> BotName:
    """Return the name of a folder with a known path, in which `@` does not start a revision."""
    return BotName(given=str(folder), kind="folder", beside=Path(), written=folder, path=folder)


def is_remote(text: str) -> bool:
    """Return whether a name is that of a bot with a key."""
    return text.startswith(REMOTE)


def last_part(text: str, beside: Path | None = None) -> str:
    """Return the last part of the path in a name, with the revision behind it.

    Only the text counts, since a bot's name must not depend on the files on the disk. But `.` and `..` are
    replaced by the name of their folder.

    Args:
        text: the name.
        beside: the folder from which a relative path starts; None: the current one.
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
    """Return whether a path is a folder or a link. Links count so that they are refused later, not misread."""
    return _is_folder(path) or _is_link(path)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # The name is impossible, or this user has no permission.
        return False


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:
        return False
