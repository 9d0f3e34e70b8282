"""A bot's content as it was at a git revision. What git reads of the repository is its objects, and nothing else.

A bot's repository may be a stranger's, and git does what a repository's settings say: fetches what is missing
through a command that they name, runs filters, hooks and monitors, borrows objects from elsewhere. So git works in
a bare repository of our own, with settings of our own; it is only lent the other's folder of objects, in which no
link leads elsewhere. Which repository it is, and what its branches and tags point at, is read here.
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
from referee.linux.regular_file import read_regular
from referee.printable import printable

SECONDS = 120
"""For each run of git: what it reads may have been made to keep it busy for ever."""
MEMORY_BYTES = 2048 * MEGABYTE
"""Address space of git: a small file may be packed so that it takes any amount to unpack."""
MOST_REFS = 100_000
"""Branches, tags and the like."""
MOST_PACKED_BYTES = 32 * MEGABYTE
"""Of the file that lists most of them."""
MOST_OBJECT_FILES = 2_000_000
SHORT_BYTES = 4_096
"""Of a file that holds one line."""
MOST_LINKS = 5
"""From one branch's name to another's."""
WORDS = 400
"""Characters of git's complaints."""
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
"""By the digits of a hash."""
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs(?:/(?!\.)(?:(?!\.\.|@\{)[^\x00-\x20\x7f~^:?*\[\\/])+(?<!\.lock)(?<!\.))+")
_LISTED = re.compile(rb"(\d{6}) (\w+) ([0-9a-f]+) +(\d+|-|BAD)\t(.*)", re.DOTALL)
_FILES = {b"100644": b"f", b"100664": b"f", b"100755": b"x", b"120000": b"l"}
_SUBMODULE = b"160000"


class RevisionError(ValueError):
    """The folder or the revision is not there, or cannot be read safely. The text says which and why."""


@contextmanager
def revision_items(folder: Path, revision: str) -> Iterator[Iterator[Item]]:
    """All files and links of a folder as it was. Nothing is written in the repository, nothing of it is run.

    Args:
        folder: a folder in a git work tree; it need not exist in the work tree's present state.
        revision: whatever names a commit: a branch, a tag, a hash or its beginning, `HEAD~2`.

    Raises:
        RevisionError: there is no such folder at that revision, it is in no git repository, or in one that keeps
            its objects elsewhere. Also while it is read.
        ContentError: while it is read, as the content of any bot.
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
    """The folder with the repository that a folder belongs to."""
    for top in (anchor, *anchor.parents):
        if os.path.lexists(top / ".git"):
            return top
    raise RevisionError(f"{folder} is in no git repository")


class _Git:
    """Git at work on the objects of a repository."""

    def __init__(self, top: Path, ours: Path) -> None:
        """Args: the folder with the repository; an empty folder for ours.

        Raises:
            RevisionError: it is no repository that can be read safely.
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
        # The arena's own environment may name a repository (in a git hook) and programs: only git's place is kept.
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
        """The line that git prints.

        Raises:
            RevisionError: it fails; the complaint, and git's own words where it has any.
        """
        with self._running(*arguments) as process:
            assert process.stdout is not None  # noqa: S101 - asked for
            output = process.stdout.read(SHORT_BYTES)
            if process.wait() != 0:
                raise RevisionError(self._complaint(complaint))
        return output.decode(errors="replace").strip()

    def items(self, tree: str) -> Iterator[Item]:
        """The files of a tree."""
        listed = sorted(self._listed(tree))
        with self._running("cat-file", "--batch") as process:
            for name, kind, size, blob in listed:
                yield Item(name, kind, size, self._blocks(process, name, blob))

    def _listed(self, tree: str) -> Iterator[tuple[bytes, bytes, int, bytes]]:
        """Name, kind, size and hash of all files of a tree that count as a bot's content."""
        with self._running("ls-tree", "-r", "-z", "-l", tree) as process:
            assert process.stdout is not None  # noqa: S101 - asked for
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
        """The bytes of one file."""
        assert process.stdin is not None  # noqa: S101 - asked for
        assert process.stdout is not None  # noqa: S101 - asked for
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
        """Git at work, for so long, with so much memory; at the end it is ended."""
        with (self._here / "said").open("wb") as said:
            try:
                process = subprocess.Popen(  # noqa: S603 - no shell, and a revision cannot be taken for an option
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
                assert stream is not None  # noqa: S101 - asked for
                with suppress(OSError):
                    stream.close()
            process.wait()

    def _complaint(self, complaint: str) -> str:
        """With git's own words."""
        with (self._here / "said").open(errors="replace") as file:
            words = printable(" ".join(file.read(WORDS).split()))
        return f"{complaint}: {words}" if words else complaint


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """What ends with NUL, each as long as a name may be."""
    rest = b""
    while block := stream.read(MEGABYTE):
        *lines, rest = (rest + block).split(b"\0")
        yield from lines
        if len(rest) > DEEPEST * LONGEST_NAME:
            raise RevisionError("git lists a name that is too long")


def _repository(top: Path) -> tuple[Path, Path]:
    """The repository's folder for this work tree, and the one that all its work trees share.

    Raises:
        RevisionError: it lies elsewhere, and knows nothing of this folder: it may be anybody's.
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
    """The folder of a repository's objects, all of which lie there.

    Raises:
        RevisionError: some may lie elsewhere.
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
    """What HEAD says, and the hash that each branch, tag and the like points at.

    Raises:
        RevisionError: they are not kept in files of their usual kinds and sizes.
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
            value = said.get(value.removeprefix("ref: "), value)  # noqa: PLW2901 - follows it
        if _HASH.fullmatch(value) and _REF.fullmatch(name):
            refs[name] = value
    return head, refs


def _packed(file: Path) -> Iterator[tuple[str, str]]:
    """The branches and tags that are listed in one file."""
    if os.path.lexists(file):
        for line in _text(file, MOST_PACKED_BYTES).split("\n"):
            value, _, name = line.partition(" ")
            yield name, value


def _loose(folder: Path, common: Path) -> Iterator[tuple[str, str]]:
    """Those that have a file of their own."""
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
    """What is in a folder that is no link."""
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
    """The text of a file of a repository. What is no UTF-8 in it names nothing that can be asked for."""
    try:
        content = read_regular(file, most, follow=False)
    except OSError as error:
        raise RevisionError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise RevisionError(f"{file}: cannot be read: {error}") from None
    return content.decode(errors="replace")
