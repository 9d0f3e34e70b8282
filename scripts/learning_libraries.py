"""Runs the tests of each learning library, and prints its version and the results.

Run by `scripts/learning_libraries`, which makes the environment. Exits 1 if a test failed or was skipped.
"""

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from msgspec import Struct

from arena.quantities import Column, Table
from arena.terminal import Grid, grid, print_json, results_console, say, show

TESTS = "tests/arena/learning"
LIBRARIES = {
    "gymnasium": [("test_gymnasium.py", "")],
    "pettingzoo": [("test_environments.py", ""), ("test_refusals.py", "")],
    "open-spiel": [("test_openspiel.py", ""), ("test_tutorials.py", "cfr or is_mcts or winning_answer")],
    "torchrl": [("test_libraries.py", "torchrl")],
    "stable-baselines3": [("test_libraries.py", "stable_baselines3")],
    "sb3-contrib": [("test_libraries.py", "maskable_ppo"), ("test_tutorials.py", "learns and sb3_contrib")],
    "torch": [("test_tutorials.py", "learns and torch")],
    "nbclient": [("test_tutorials.py", "notebooks")],
}
"""By library: files of tests, and which of their tests (pytest's `-k`)."""


class Row(Struct, frozen=True):
    """The results of a library."""

    library: str
    version: str
    passed: int
    failed: int
    skipped: int
    seconds: float

    @property
    def is_good(self) -> bool:
        """True if all its tests ran and passed."""
        return self.passed > 0 and not self.failed and not self.skipped


COLUMNS: tuple[Column[Row], ...] = (
    Column("library", lambda row: row.library, is_text=True),
    Column("version", lambda row: row.version, is_text=True),
    Column("passed", lambda row: row.passed),
    Column("failed", lambda row: row.failed),
    Column("skipped", lambda row: row.skipped),
    Column("time", lambda row: row.seconds, "{:.0f} s".format),
)


def main() -> None:
    """Run all libraries, or those named, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"of {', '.join(LIBRARIES)}; none: all")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    given = parser.parse_args()
    if unknown := set(given.libraries) - set(LIBRARIES):
        parser.error(f"there is no library {min(unknown)}; there are {', '.join(LIBRARIES)}")
    rows = []
    for name in given.libraries or LIBRARIES:
        sys.stderr.write(f"{name} {version_of(name)} ...\n")
        rows.append(tested(name))
    if given.json:
        print_json(rows)
    else:
        show(results_console(), table_of(rows))
        bad = [row.library for row in rows if not row.is_good]
        say(
            f"failed or skipped: {', '.join(bad)}" if bad else f"Python {sys.version.split()[0]}: all tests passed"
        )
    sys.exit(not all(row.is_good for row in rows))


def table_of(rows: Sequence[Row]) -> Grid:
    """Return the table of results with one row per library."""
    return grid(Table(COLUMNS, rows))


def version_of(library: str) -> str:
    """Return the version that is installed."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "missing"


def tested(library: str) -> Row:
    """Run a library's tests; print failures to standard error."""
    began = time.monotonic()
    counts = {"passed": 0, "failed": 0, "skipped": 0, "error": 0}
    for file, chosen in LIBRARIES[library]:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{TESTS}/{file}", "-k", chosen]
        done = subprocess.run([*command, "--timeout=900"], capture_output=True, text=True, check=False)
        last = done.stdout.rstrip().rpartition("\n")[2]
        for number, outcome in re.findall(r"(\d+) (passed|failed|skipped|error)", last):
            counts[outcome] += int(number)
        if done.returncode:
            sys.stderr.write(done.stdout + done.stderr)
            counts["error"] += not counts["failed"] + counts["error"]
    failed = counts["failed"] + counts["error"]
    seconds = round(time.monotonic() - began, 1)
    return Row(library, version_of(library), counts["passed"], failed, counts["skipped"], seconds)


if __name__ == "__main__":
    main()
