"""A bot's content at a git revision. Git reads only the objects of the bot's repository.

The repository is untrusted, and git obeys a repository's settings: it fetches missing objects through a command of
their choice, runs filters, hooks and monitors, and borrows objects from other places. So git runs in a temporary
bare repository with safe settings and uses only the objects folder of the bot's repository, which may contain no
links. This module finds the repository and reads its branches and tags.
"""

import os
import re
import resource
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO

from referee.bot_folder.content import (
    DEEPEST,
    IGNORED,
    LONGEST_NAME,
    MEGABYTE,
    MOST_FILES,
    ContentError,
    Item,
    check_name,
)
from referee.display_text import printable
from referee.linux.files import read_regular

SECONDS = 120
"""Maximum seconds of each run of git, since objects may be crafted to keep git busy forever."""
MEMORY_BYTES = 2048 * MEGABYTE
"""Maximum address space of git, since a small packed file may need any amount of memory."""
MOST_REFS = 100_000
"""Maximum number of loose refs: branches, tags and others."""
MOST_PACKED_BYTES = 32 * MEGABYTE
"""Maximum bytes of the file packed-refs."""
MOST_OBJECT_FILES = 2_000_000
SHORT_BYTES = 4_096
"""Maximum bytes of a file with one line."""
MOST_LINKS = 5
"""Maximum number of symbolic refs that are followed from a ref."""
WORDS = 400
"""Maximum characters quoted from git's error messages."""
_SETTINGS = """\
[core]
repositoryformatversion = 1
bare = true
commitGraph = false
multiPackIndex = false
packedGitWindowSize = 32m
packedGitLimit = 256m
deltaBaseCacheLimit = 64m
[extensions]
objectFormat = {kind}
"""
_KINDS = {40: "sha1", 64: "sha256"}
"""Git's object formats, by the number of digits in a hash."""
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs(?:/(?!\.)(?:(?!\.\.|@\{)[^\x00-\x20\x7f~^:?*\[\\/])+(?<!\.lock)(?<!\.))+")
_LISTED = re.compile(rb"(\d{6}) (\w+) ([0-9a-f]+) +(\d+|-|BAD)\t(.*)", re.DOTALL)
_FILES = {b"100644": b"f", b"100664": b"f", b"100755": b"x", b"120000": b"l"}
_SUBMODULE = b"160000"


class RevisionError(ValueError):
    """The folder or the revision does not exist or cannot be read safely. The text has the reason."""


@contextmanager
def revision_items(folder: Path, revision: str) -> Iterator[Iterator[Item]]:
    """Yield an iterator over a folder's files and links at a revision.

    Nothing in the repository is written or run.

    Args:
        folder: a folder in a git work tree; it need not exist in the work tree's present state.
        revision: any name of a commit: a branch, a tag, a hash or its first digits, `HEAD~2`.

    Raises:
        RevisionError: the folder does not exist at that revision, is in no git repository, or its repository has
            objects elsewhere. Also raised by the iterator.
        ContentError: raised by the iterator, as for the content of any bot.
    """
    anchor = folder.absolute()
    while not anchor.is_dir():
        anchor = anchor.parent
    top = _top(anchor.resolve(), folder)
    inside = (anchor.resolve() / folder.absolute().relative_to(anchor)).relative_to(top).as_posix()
    with ExitStack() as held:
        git = _Git(top, Path(held.enter_context(tempfile.TemporaryDirectory(prefix="arena-git-"))))
        if "\0" in revision:
            raise RevisionError(f"git knows no revision {revision!r} in {top}")
        commit = git.says(
            *("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"),
            complaint=f"git knows no revision {revision!r} in {top}",
        )
        absent = f"revision {revision} has no folder {inside}"
        path = "" if inside == "." else inside
        tree = git.says(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}:{path}", complaint=absent
        )
        kind = git.says("cat-file", "-t", tree, complaint=f"revision {revision} is not complete here")
        if kind != "tree":
            raise RevisionError(absent)
        yield git.items(tree)


def _top(anchor: Path, folder: Path) -> Path:
    """Return the top folder of the work tree that contains a folder."""
    for top in (anchor, *anchor.parents):
        if os.path.lexists(top / ".git"):
            return top
    raise RevisionError(f"{folder} is in no git repository")


class _Git:
    """A runner of git commands on the objects of a repository."""

    def __init__(self, top: Path, ours: Path) -> None:
        """Set up a bare repository in the empty folder `ours` for the objects of the work tree `top`.

        Raises:
            RevisionError: the work tree's repository cannot be read safely.
        """
        own, common = _repository(top)
        objects = _objects(common)
        head, refs = _refs(own, common)
        digits = len(next(iter(refs.values()), head if _HASH.fullmatch(head) else "0" * 40))
        (ours / "refs").mkdir()
        (ours / "HEAD").write_text(f"{head}\n")
        (ours / "config").write_text(_SETTINGS.format(kind=_KINDS[digits]))
        lines = (f"{value} {name}\n" for name, value in sorted(refs.items()) if len(value) == digits)
        (ours / "packed-refs").write_text("".join(lines))
        self._here = ours
        # The arena's environment may name a repository (in a git hook) and programs, so only PATH is passed on.
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(ours),
            "LC_ALL": "C.UTF-8",
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
        }

    def says(self, *arguments: str, complaint: str) -> str:
        """Return the line that git prints.

        Raises:
            RevisionError: git fails. The text is `complaint` with git's error message, if any.
        """
        with self._running(*arguments) as process:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            output = process.stdout.read(SHORT_BYTES)
            if process.wait() != 0:
                raise RevisionError(self._complaint(complaint))
        return output.decode(errors="replace").strip()

    def items(self, tree: str) -> Iterator[Item]:
        """Yield the files and links of a tree in order of their names."""
        listed = sorted(self._listed(tree))
        with self._running("cat-file", "--batch") as process:
            for name, kind, size, blob in listed:
                yield Item(name, kind, size, self._blocks(process, name, blob))

    def _listed(self, tree: str) -> Iterator[tuple[bytes, bytes, int, bytes]]:
        """Yield the name, kind, size and hash of each file of a tree that is part of a bot's content."""
        with self._running("ls-tree", "-r", "-z", "-l", tree) as process:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            for number, line in enumerate(_lines(process.stdout), start=1):
                if number > MOST_FILES:
                    raise ContentError(_LISTED.sub(rb"\5", line), f"is one too many: at most {MOST_FILES} files")
                found = _LISTED.fullmatch(line)
                if found is None:
                    raise RevisionError("git lists what it cannot")
                mode, _, blob, size, name = found.groups()
                if not IGNORED.isdisjoint(name.split(b"/")):
                    continue
                check_name(name)
                if mode == _SUBMODULE:
                    raise ContentError(name, "is a submodule, whose files no revision has")
                if mode not in _FILES:
                    raise ContentError(name, "is neither a file nor a folder")
                if not size.isdigit():
                    raise ContentError(name, "is not in the repository: is it a partial clone?")
                yield name, _FILES[mode], int(size), blob
            if process.wait() != 0:
                raise RevisionError(self._complaint("git cannot list the files"))

    def _blocks(self, process: "subprocess.Popen[bytes]", name: bytes, blob: bytes) -> Iterator[bytes]:
        """Yield the bytes of a file in blocks."""
        assert process.stdin is not None  # noqa: S101 - it is a pipe
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        try:
            process.stdin.write(blob + b"\n")
            process.stdin.flush()
        except OSError:
            raise ContentError(name, self._complaint("cannot be read from the repository")) from None
        words = process.stdout.readline(SHORT_BYTES).split()
        if words[1:2] != [b"blob"]:
            raise ContentError(name, self._complaint("cannot be read from the repository"))
        left = int(words[2])
        while left > 0 and (block := process.stdout.read(min(left, MEGABYTE))):
            left -= len(block)
            yield block
        if left or process.stdout.read(1) != b"\n":
            raise ContentError(name, self._complaint("cannot be read from the repository"))

    @contextmanager
    def _running(self, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
        """Start git with limits of time and memory; kill it at the end of the block."""
        with (self._here / "said").open("wb") as said:
            try:
                process = subprocess.Popen(  # noqa: S603 - no shell, and a revision cannot be read as an option
                    ["git", f"--git-dir={self._here}", *arguments],  # noqa: S607 - the user's own git
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    env=self._environment,
                    cwd=self._here,
                )
            except FileNotFoundError:
                raise RevisionError("git is not installed, and is needed for FOLDER@REVISION") from None
        with suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (MEGABYTE, MEGABYTE))
            resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
        watch = threading.Timer(SECONDS, process.kill)
        watch.start()
        try:
            yield process
        finally:
            watch.cancel()
            process.kill()
            for stream in (process.stdin, process.stdout):
                assert stream is not None  # noqa: S101 - it is a pipe
                with suppress(OSError):
                    stream.close()
            process.wait()

    def _complaint(self, complaint: str) -> str:
        """Return a complaint with git's error message, if any."""
        with (self._here / "said").open(errors="replace") as file:
            words = printable(" ".join(file.read(WORDS).split()))
        return f"{complaint}: {words}" if words else complaint


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the records of a stream that end with NUL. Raise RevisionError if one is too long."""
    rest = b""
    while block := stream.read(MEGABYTE):
        *lines, rest = (rest + block).split(b"\0")
        yield from lines
        if len(rest) > DEEPEST * LONGEST_NAME:
            raise RevisionError("git lists a name that is too long")


def _repository(top: Path) -> tuple[Path, Path]:
    """Return the repository's folder for this work tree, and the folder shared by all its work trees.

    Raises:
        RevisionError: `.git` names a repository that does not name this work tree, so it may be another user's.
    """
    dot = top / ".git"
    mode = dot.lstat().st_mode
    if stat.S_ISDIR(mode):
        return dot, dot
    if not stat.S_ISREG(mode):
        raise RevisionError(f"{dot}: is neither a folder nor a file")
    own = (top / _line(dot).removeprefix("gitdir:").strip()).resolve()
    stranger = f"{dot}: names {own}, which is no repository of which this is a work tree"
    try:
        common = (own / _line(own / "commondir")).resolve()
        knows = (own / _line(own / "gitdir")).resolve() == dot
    except RevisionError:
        raise RevisionError(stranger) from None
    if not knows or own.parent != common / "worktrees":
        raise RevisionError(stranger)
    return own, common


def _objects(common: Path) -> Path:
    """Return the folder of a repository's objects after checking that it contains all of them.

    Raises:
        RevisionError: some objects may be elsewhere, or the folder has too many files.
    """
    objects = common / "objects"
    borrowed = objects / "info" / "alternates"
    if os.path.lexists(borrowed):
        raise RevisionError(
            f"{borrowed}: borrows objects from elsewhere; make it whole: git repack -a -d, delete this"
        )
    found = [*_entries(objects)]
    for number, entry in enumerate(
        chain(found, *(_entries(entry) for entry in found if entry.is_dir(follow_symlinks=False)))
    ):
        if number > MOST_OBJECT_FILES:
            raise RevisionError(f"{objects}: has more than {MOST_OBJECT_FILES} files")
        _check_kind(entry)
    return objects


def _refs(own: Path, common: Path) -> tuple[str, dict[str, str]]:
    """Return the content of HEAD, and the hash of each ref (branch, tag or other) by its name.

    Raises:
        RevisionError: they are not in files of the usual kinds and sizes.
    """
    if os.path.lexists(common / "reftable"):
        raise RevisionError(f"{common}: keeps its branches in a reftable, which is not read: git refs migrate")
    head = _line(own / "HEAD")
    if not (_HASH.fullmatch(head) or _REF.fullmatch(head.removeprefix("ref: "))):
        raise RevisionError(f"{own / 'HEAD'}: names neither a branch nor a revision")
    said = dict(_packed(common / "packed-refs")) | dict(_loose(common / "refs", common))
    refs = {}
    for name, value in said.items():
        for _ in range(MOST_LINKS):
            value = said.get(value.removeprefix("ref: "), value)  # noqa: PLW2901 - the loop follows links
        if _HASH.fullmatch(value) and _REF.fullmatch(name):
            refs[name] = value
    return head, refs


def _packed(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and hash of each ref in the file packed-refs."""
    if os.path.lexists(file):
        for line in _text(file, MOST_PACKED_BYTES).split("\n"):
            value, _, name = line.partition(" ")
            yield name, value


def _loose(folder: Path, common: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and content of each ref that has a file of its own."""
    waiting, found = [folder], 0
    while waiting:
        for entry in _entries(waiting.pop()):
            _check_kind(entry)
            found += 1
            if found > MOST_REFS:
                raise RevisionError(f"{folder}: has more than {MOST_REFS} files; try git pack-refs --all")
            if entry.is_dir():
                waiting.append(Path(entry.path))
            else:
                yield Path(entry.path).relative_to(common).as_posix(), _line(Path(entry.path))


def _entries(folder: "Path | os.DirEntry[str]") -> Iterator["os.DirEntry[str]"]:
    """Yield the entries of a folder. Raise RevisionError if it is a link."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        os.close(opened)
        with os.scandir(folder) as listing:
            yield from listing
    except OSError as error:
        raise RevisionError(f"{os.fspath(folder)}: cannot be read: {error.strerror}") from None


def _check_kind(entry: "os.DirEntry[str]") -> None:
    if not entry.is_file(follow_symlinks=False) and not entry.is_dir(follow_symlinks=False):
        raise RevisionError(f"{entry.path}: is neither a file nor a folder")


def _line(file: Path) -> str:
    return _text(file, SHORT_BYTES).strip()


def _text(file: Path, most: int) -> str:
    """Return the text of a repository's file, with invalid UTF-8 replaced: no valid name contains it."""
    try:
        content = read_regular(file, most, follow=False)
    except OSError as error:
        raise RevisionError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise RevisionError(f"{file}: cannot be read: {error}") from None
    return content.decode(errors="replace")
