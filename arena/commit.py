"""The commit that this arena is of: written when it was packed (`hatch_build.py`), asked of git in a clone."""

import subprocess
from pathlib import Path

WRITTEN = Path(__file__).with_name("commit.txt")
_GIT = Path(__file__).parents[1] / ".git"


def commit() -> str | None:
    """Its first digits, with `-dirty` where files were changed since; None: there is neither file nor git."""
    if WRITTEN.exists():
        return WRITTEN.read_text(encoding="ascii").strip()
    if not _GIT.exists():
        return None
    # Named, so that no other repository is asked by mistake.
    git = ["git", f"--git-dir={_GIT}", f"--work-tree={_GIT.parent}"]
    try:
        asked = subprocess.run(  # noqa: S603 - our own words
            [*git, "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"],
            capture_output=True,
            check=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return asked.stdout.strip()
