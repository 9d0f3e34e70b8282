"""Who lets others go first, as the kernel says it."""

import os
import subprocess
import sys

import pytest

from referee.linux.processes import AUTOGROUP

NICER = """\
import os
from referee.linux.processes import AUTOGROUP, be_nice
be_nice(7)
print(os.nice(0), os.sched_getscheduler(0), AUTOGROUP.read_text().split()[-1] if AUTOGROUP.exists() else None)
"""


def said(*command: str) -> list[str]:
    """By a command that leads a session of its own."""
    process = subprocess.run(  # noqa: S603 - our own words
        command, check=True, capture_output=True, text=True, start_new_session=True
    )
    return process.stdout.split()


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel has no autogroups")
def test_one_that_leads_its_session_makes_all_of_it_nicer() -> None:
    nice = str(min(19, os.nice(0) + 7))
    assert [nice, str(os.SCHED_BATCH), nice] == said(sys.executable, "-c", NICER)


def test_one_that_does_not_lead_its_session_leaves_the_others_alone() -> None:
    nice = str(min(19, os.nice(0) + 7))
    before = ["0"] if AUTOGROUP.exists() else ["None"]
    assert [nice, str(os.SCHED_BATCH), *before] == said("sh", "-c", '"$0" -c "$1"; true', sys.executable, NICER)
