"""The installation of the arena: its commit, its Python interpreter, and its documentation.

Packaging writes the commit and the documentation into this package (`hatch_build.py`); in a clone,
both are outside it.
"""

import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

WRITTEN = Path(__file__).with_name("commit.txt")
PACKED = Path(__file__).with_name("manual")
_CLONE = Path(__file__).parents[1]
_GIT = _CLONE / ".git"


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


def manual() -> Path:
    """Return the folder that holds README.md, the page that lists all others, and `docs`."""
    if PACKED.is_dir():
        return PACKED
    return _CLONE


def rules_page(game: str) -> Path | None:
    """Return the page with a game's rules; None if there is none, as for a game of another package."""
    page = manual() / "docs" / "games" / f"{game.replace('-', '_')}.md"
    if page.is_file():
        return page
    return None
