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
        # An index of its own: another git at work in the same repository is not disturbed.
        index = {"GIT_INDEX_FILE": str(making / "index")}
        failed = f"git cannot export {tree} into {cache}"
        _git(top, "read-tree", tree, complaint=failed, more=index)
        _git(top, "checkout-index", "--all", f"--prefix={making}/content/", complaint=failed, more=index)
        (making / "content").mkdir(exist_ok=True)
        (making / "content").rename(wanted)
    except OSError:
        # Somebody else was faster: a folder that is not empty is never replaced.
        if not wanted.is_dir():
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return wanted


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
