"""A folder as it was at a git revision: exported once into a cache, under the hash that git gives its content."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path


class RevisionError(ValueError):
    """The folder or the revision is not there, or git cannot be used. The text says which."""


def folder_at(folder: Path, revision: str) -> Path:
    """The exported folder. The work tree and the repository's index stay as they are.

    Args:
        folder: a folder in a git work tree; it need not exist in the work tree's present state.
        revision: whatever names a commit: a branch, a tag, a hash, `HEAD~2`.

    Raises:
        RevisionError: there is no such folder at that revision, or it is in no git repository.
    """
    anchor = folder.absolute()
    while not anchor.is_dir():
        anchor = anchor.parent
    top = Path(_git(anchor, "rev-parse", "--show-toplevel", complaint=f"{folder} is in no git repository"))
    inside = (anchor.resolve() / folder.absolute().relative_to(anchor)).relative_to(top.resolve()).as_posix()
    commit = _git(
        top,
        *("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"),
        complaint=f"git knows no revision {revision!r} in {top}",
    )
    path = "" if inside == "." else inside
    absent = f"revision {revision} has no folder {inside}"
    tree = _git(top, "rev-parse", "--verify", "--quiet", f"{commit}:{path}", complaint=absent)
    if _git(top, "cat-file", "-t", tree, complaint=absent) != "tree":
        raise RevisionError(absent)
    return _export(top, tree)


def cache_folder() -> Path:
    """Where the arena keeps what it can make again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mist-arena"


def _export(top: Path, tree: str) -> Path:
    """The content of a tree, in the cache: complete, or not there."""
    cache = cache_folder() / "revisions"
    wanted = cache / tree
    if wanted.is_dir():
        return wanted
    try:
        cache.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix="making-", dir=cache))
    except OSError as error:
        raise RevisionError(f"{cache} cannot be written: {error.strerror}") from None
    try:
        failed = f"git cannot export {tree} into {cache}"
        ours = _repository(top, making, failed)
        _git(making, "read-tree", tree, complaint=failed, more=ours)
        _git(making, "checkout-index", "--all", f"--prefix={making}/content/", complaint=failed, more=ours)
        (making / "content").mkdir(exist_ok=True)
        (making / "content").rename(wanted)
    except OSError:
        # Somebody else was faster: a folder that is not empty is never replaced.
        if not wanted.is_dir():
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return wanted


def _repository(top: Path, making: Path, failed: str) -> dict[str, str]:
    """A repository of our own that has the other's objects, and nothing else of it; what git is to be told of it.

    The other may be a stranger's, and its settings name programs that git would run: filters, hooks, a monitor.
    Nor is another git disturbed that is at work there.
    """
    kind = _git(top, "rev-parse", "--show-object-format", complaint=failed)
    objects = _git(top, "rev-parse", "--path-format=absolute", "--git-path", "objects", complaint=failed)
    ours = making / "repository"
    bare = ("init", "--quiet", "--bare", "--template=", f"--object-format={kind}", str(ours))
    _git(making, *bare, complaint=failed)
    (ours / "objects/info").mkdir(exist_ok=True)
    (ours / "objects/info/alternates").write_text(f"{objects}\n")
    return {"GIT_DIR": str(ours), "GIT_WORK_TREE": str(making), "GIT_INDEX_FILE": str(making / "index")}


def _git(where: Path, *arguments: str, complaint: str, more: dict[str, str] | None = None) -> str:
    """What git prints.

    Raises:
        RevisionError: it fails; the complaint, and git's own words where it has any.
    """
    # A repository named by the environment (in a git hook) would be asked instead of the folder's own.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | (more or {})
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and a revision cannot be taken for an option
            ["git", "-C", str(where), *arguments],  # noqa: S607 - the user's own git
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
    except FileNotFoundError:
        raise RevisionError("git is not installed, and is needed for FOLDER@REVISION") from None
    if done.returncode != 0:
        said = " ".join(done.stderr.split())
        raise RevisionError(f"{complaint}: {said}" if said else complaint)
    return done.stdout.strip()
