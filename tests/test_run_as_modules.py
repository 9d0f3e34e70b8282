"""Programs of ours that others start as modules: their packages do not import them, of which Python would warn."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1]
OURS = ("arena", "referee", "bots", "protocol")
MODULES = sorted(
    {
        found
        for package in OURS
        for source in (HOUSE / package).rglob("*.py")
        for found in re.findall(r'"-m",\s*"((?:arena|referee|bots|protocol)[a-z_.]*)"', source.read_text())
    }
)


def test_there_are_such() -> None:
    assert {"arena.workers.worker", "arena.feed.process", "bots.stdio_bridge"} <= set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_no_package_imports_what_is_run_as_a_module_of_it(module: str) -> None:
    package = module.rpartition(".")[0] or module
    look = f"import sys, {package}; sys.exit({module!r} in sys.modules and {module!r} != {package!r})"
    told = subprocess.run(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, "-c", look], cwd=HOUSE, capture_output=True, check=False
    )
    assert (0, b"") == (told.returncode, told.stderr)
