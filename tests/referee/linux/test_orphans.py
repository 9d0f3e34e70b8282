"""This process's own children are found, also zombies and those of other threads, whatever the kernel lists."""

import os
import subprocess
import sys
import threading

import pytest

from referee.linux import processes

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
