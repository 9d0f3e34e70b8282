"""Processes as /proc shows them: orphans are found and ended, and priorities are lowered."""

import os
import subprocess
import sys
import threading

import pytest

from referee.linux import processes
from referee.linux.processes import AUTOGROUP

WAITS = (sys.executable, "-c", "input()")


@pytest.mark.parametrize("listed", [True, False])
def test_all_children_are_found_and_no_others(monkeypatch: pytest.MonkeyPatch, *, listed: bool) -> None:
    assert processes._are_listed(os.getpid())
    monkeypatch.setattr(processes, "_are_listed", lambda _: listed)
    before = {child.pid for child in processes.own_children()}
    started: list[subprocess.Popen[bytes]] = []
    may_end = threading.Event()

    def start() -> None:
        started.append(subprocess.Popen(WAITS, stdin=subprocess.PIPE))  # noqa: S603 - our own interpreter
        may_end.wait()

    thread = threading.Thread(target=start)
    thread.start()
    try:
        with subprocess.Popen(WAITS, stdin=subprocess.PIPE) as lives:  # noqa: S603 - as above
            zombie = os.fork()
            if zombie == 0:
                os._exit(0)
            os.waitid(os.P_PID, zombie, os.WEXITED | os.WNOWAIT)
            found = {child.pid: child for child in processes.own_children() if child.pid not in before}
            os.waitpid(zombie, 0)
            assert {started[0].pid, lives.pid, zombie} == set(found)
            assert (os.getpid(), os.getpgrp(), os.getsid(0)) == (
                found[zombie].parent,
                found[zombie].group,
                found[zombie].session,
            )
    finally:
        may_end.set()
        thread.join()
        for each in started:
            each.communicate()
    assert before == {child.pid for child in processes.own_children()}


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
