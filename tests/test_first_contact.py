"""What arenas, workers or clones share stays whole for each, also if all begin at once on a new machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.first_contact import THINGS
from tests.long import cases

HOUSE = Path(__file__).parents[1]
ROUNDS = {"a bot's build": cases(1, 2), "a clone's environment": cases(1, 1), "control groups": cases(2, 2)}
"""Rounds of things that start many processes. `python -m tests.first_contact THING 50` plays any fifty times."""


@pytest.fixture(scope="module")
def report() -> str:
    """Play all rounds in one process, whose imports take longer than most of them; return what it prints."""
    words = [word for thing in THINGS for word in (thing, str(rounds_of(thing)))]
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.first_contact", *words],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def rounds_of(thing: str) -> int:
    return ROUNDS.get(thing, cases(2, 3))


@pytest.mark.timeout(900)  # The first of them waits for all.
@pytest.mark.parametrize("thing", THINGS)
def test_eight_programs_that_begin_at_once_share(report: str, thing: str) -> None:
    assert f"{thing}: 0 of {rounds_of(thing)} rounds went wrong" in report.splitlines(), report


def test_the_page_for_hosts_has_each_thing_that_is_tried() -> None:
    section = (
        (HOUSE / "docs/tournament.md").read_text().partition("## Two arenas at once\n")[2].partition("\n## ")[0]
    )
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    assert ["shared", *THINGS] == rows
