"""Workers that are forked: children of the arena like others, that end with it.

The arena of these tests is a program of its own: in a process with more threads than one, nothing is forked.
"""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import pytest

from arena.workers.fork_server import can_fork

BEGIN = """
import errno, json, os, signal, sys, time
from pathlib import Path
from arena.workers import fork_server, pool

CORES = frozenset(os.sched_getaffinity(0))

def start(cores=CORES):
    return pool._start(pool.COMMAND, [None, None], cores)

def stat(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()

def cores(pid):
    return sorted(os.sched_getaffinity(pid))

def tell(**values):
    print(json.dumps(values), flush=True)
"""


def run(code: str) -> Any:
    """Run a program that tells one thing, to its end."""
    done = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout)


LOOKS = """
with pool.workers_kept():
    worker = start(frozenset([min(CORES)]))
    pid = worker.process.pid
    group = os.getpgid(pid)
    while Path(f"/proc/{pid}/comm").read_text().strip() != "arena-worker":
        time.sleep(0.01)
    state, parent, *_ = stat(pid)
    arena, ran_on = os.getpid(), cores(pid)
    worker.line.close()
    code = worker.process.wait()
tell(is_forked=isinstance(worker.process, fork_server.ForkedWorker), is_child=int(parent) == arena,
     leads_its_group=group == pid, cores=ran_on == [min(CORES)], code=code,
     is_alone=not Path(f"/proc/{arena}/task/{arena}/children").read_text())
"""


def test_a_forked_worker_is_the_arenas_child_and_ends_when_the_arena_hangs_up() -> None:
    found = run(LOOKS)
    assert found.pop("code") == 0
    assert set(found.values()) == {True}, found


WAITS = """
with pool.workers_kept():
    workers = [start().process.pid for _ in range(2)]
    tell(workers=workers, server=pool._server._pid)
    signal.pause()
"""


def test_workers_and_what_forks_them_end_with_an_arena_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", BEGIN + WAITS], stdout=subprocess.PIPE) as arena:  # noqa: S603 - our own words
        assert arena.stdout is not None
        told = json.loads(arena.stdout.readline())
        ends = [os.pidfd_open(pid) for pid in (*told["workers"], told["server"])]
        try:
            arena.kill()
            for each in ends:
                assert select.select([each], [], [], 60)[0]
        finally:
            for each in ends:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(each, signal.SIGKILL)
                os.close(each)


KILLS = """
with pool.workers_kept():
    server = pool._server._pid
    os.kill(server, signal.SIGKILL)
    os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)
    worker = start()
    worker.line.close()
    code = worker.process.wait()
tell(is_forked=isinstance(worker.process, fork_server.ForkedWorker), code=code)
"""


def test_when_nothing_forks_any_more_a_worker_is_started_as_a_program() -> None:
    assert {"is_forked": False, "code": 0} == run(KILLS)


SHORT = """
fork, forks = os.fork, []

def short():
    forks.append(1)
    if len(forks) == {which}:
        raise OSError(errno.EAGAIN, "none left")
    return fork()

os.fork = short
with pool.workers_kept():
    before = len(os.listdir("/proc/self/fd"))
    try:
        start()
    except OSError as error:
        tell(error=error.errno == errno.EAGAIN, descriptors=len(os.listdir("/proc/self/fd")) - before)
"""


@pytest.mark.parametrize("which", [2, 3])
def test_a_machine_without_processes_is_told_from_a_server_that_is_gone(which: int) -> None:
    """The second fork is of the process between, the third of the worker."""
    assert {"error": True, "descriptors": 0} == run(SHORT.format(which=which))


def test_a_process_with_more_threads_is_not_forked() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        assert not can_fork()
    finally:
        over.set()
        thread.join()


USES = """
before = fork_server.can_fork()
from referee.sandbox.host_machine import find_layers
find_layers()
tell(before=before, after=fork_server.can_fork())
"""


def test_a_process_that_has_control_groups_is_not_forked() -> None:
    """They belong to it, as does the process that warm bots are forked from."""
    assert {"before": True, "after": False} == run(USES)


USERS = """
from referee.sandbox.bwrap_args import roots_user

nowhere = Path("/nowhere/at/all")
own = [roots_user(nowhere).number for _ in range(3)]
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, b"%d" % roots_user(nowhere).number)
    os._exit(0)
os.wait()
tell(is_anothers=int(os.read(reading, 100)) not in [*own, own[-1] + 1])
"""


def test_bots_of_two_forked_workers_are_not_the_same_users() -> None:
    """They could end each other's processes."""
    assert {"is_anothers": True} == run(USERS)
