"""The arena's commit, and the build of its Python interpreter.

Packaging writes the commit into a file (`hatch_build.py`); in a clone, git returns it.
"""

import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

WRITTEN = Path(__file__).with_name("commit.txt")
_GIT = Path(__file__).parents[1] / ".git"


def commit() -> str | None:
    """Return the commit's first digits, with `-dirty` if files have changed; None without the file and git."""
    if WRITTEN.exists():
        return WRITTEN.read_text(encoding="ascii").strip()
    if not _GIT.exists():
        return None
    # The paths are explicit, so that git does not use another repository.
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
    """Return name and version of the interpreter, and whether its build used profiles, if that is known."""
    name = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.implementation.name != "cpython":
        return name
    asked, flags = (str(sysconfig.get_config_var(word) or "") for word in ("CONFIG_ARGS", "PY_CORE_CFLAGS"))
    if "--enable-optimizations" in asked or "-fprofile-use" in flags or "-fprofile-instr-use" in flags:
        return f"{name}, built with profiles"
    if not asked or sys.base_prefix == "/usr":
        # Debian's build uses profiles, but its configuration does not show it.
        return f"{name}; whether it was built with profiles, its build does not say"
    return f"{name}, built without profile-guided optimisation: 7 to 11 % slower"
