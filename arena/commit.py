"""What runs here: the arena's commit, and how its interpreter was built.

The commit was written when the arena was packed (`hatch_build.py`); in a clone, git knows it.
"""

import platform
import subprocess
import sys
import sysconfig
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


def interpreter() -> str:
    """Return which Python runs, and whether it was built with profiles, as far as its build says."""
    name = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.implementation.name != "cpython":
        return name
    asked, flags = (str(sysconfig.get_config_var(word) or "") for word in ("CONFIG_ARGS", "PY_CORE_CFLAGS"))
    if "--enable-optimizations" in asked or "-fprofile-use" in flags or "-fprofile-instr-use" in flags:
        return f"{name}, built with profiles"
    if not asked or sys.base_prefix == "/usr":
        # Debian's build uses profiles, and configures without saying so.
        return f"{name}; whether it was built with profiles, its build does not say"
    return f"{name}, built without profile-guided optimisation: 7 to 11 % slower"
