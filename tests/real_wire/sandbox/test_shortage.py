"""Where the machine runs out of something as a bot starts, runs or ends: it is said soon, and nothing is left."""

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trio

from referee.linux import cgroups
from referee.linux.processes import descendants
from referee.sandbox import bwrap, prefork
from referee.sandbox.host_machine import find_layers
from referee.sandbox.meter import Meter
from referee.sandbox.process import NO_MEMORY, NO_PROCESSES
from tests.real_wire.sandbox.lab import How, Lab
from tests.real_wire.sandbox.test_end import left_over

pytestmark = pytest.mark.usefixtures("sandboxed")

SLEEPS = "import time\ntime.sleep(1000)\n"
SOON_SECONDS = 60.0
"""Less than the time after which a sandbox that does not stand is given up, also on a busy machine."""
SOME_MB = 48


def no_more(*_: object, **__: object) -> Any:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


async def settled(lab: Lab, how: How) -> tuple[int, set[Path]]:
    """Make all that is made once; return what is open then, and what groups there are."""
    async with lab.started(lab.bot(SLEEPS), how):
        pass
    return left_over()


async def test_a_bot_that_was_never_handed_over_is_ended_with_its_match(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end raised what had run out, and told nobody that it was over: who waited for that waited for ever."""
    before = await settled(lab, "warm")
    starting = trio.Event()

    async def stands_late(_box: prefork.PreforkedSandbox) -> None:
        starting.set()
        await trio.sleep_forever()

    monkeypatch.setattr(prefork, "_number_of", no_more)
    monkeypatch.setattr(prefork.PreforkedSandbox, "ready", stands_late)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lab.start, nursery, lab.bot(SLEEPS), "warm")
        await starting.wait()
        nursery.cancel_scope.cancel()
    assert before == left_over()
    assert [] == lab.alive()


@pytest.mark.usefixtures("all_walls")
@pytest.mark.parametrize("how", ["warm", "strict"])
async def test_whatever_the_end_of_a_bot_raises_who_waits_for_it_goes_on(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, how: How
) -> None:
    kind: Any = prefork.PreforkedSandbox if how == "warm" else bwrap.BubblewrapSandbox
    end = kind.end

    async def fails(box: Any) -> int:
        await end(box)
        no_more()
        return 0

    monkeypatch.setattr(kind, "end", fails)
    with pytest.raises(ExceptionGroup) as raised:
        async with trio.open_nursery() as nursery:
            process = await lab.start(nursery, lab.bot(SLEEPS), how)
            with trio.CancelScope(shield=True):
                await process.kill()
    assert raised.group_contains(OSError, match="Too many open files")


async def test_a_bot_whose_first_process_cannot_be_held_is_ended_at_once(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await settled(lab, "strict")
    outer = bwrap.BubblewrapSandbox.__init__

    def begun(box: bwrap.BubblewrapSandbox, *given: Any, **more: Any) -> None:
        outer(box, *given, **more)
        monkeypatch.setattr(os, "pidfd_open", no_more)

    monkeypatch.setattr(bwrap.BubblewrapSandbox, "__init__", begun)
    with trio.fail_after(SOON_SECONDS):
        with pytest.raises(ExceptionGroup) as raised:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(lab.start, nursery, lab.bot(SLEEPS), "strict")
        assert raised.group_contains(OSError, match="Too many open files")
    monkeypatch.undo()
    assert before == left_over()
    assert [] == lab.alive()


@contextmanager
def starter_may_open(files: int) -> Iterator[None]:
    """Let the process that bots are forked from get no descriptor of this number or above; it keeps its own."""
    below = descendants(prefork._living_starter()._popen.pid)
    # Above it are bubblewrap's processes, below it the one that makes inits.
    server = next(pid for pid in below if b"prefork_server" in _command(pid)[1])
    had = resource.prlimit(server, resource.RLIMIT_NOFILE)
    resource.prlimit(server, resource.RLIMIT_NOFILE, (files, had[1]))
    try:
        yield
    finally:
        resource.prlimit(server, resource.RLIMIT_NOFILE, had)


def _command(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


async def test_a_starter_without_descriptors_reports_it_and_continues(lab: Lab) -> None:
    """Descriptors that do not fit are dropped by the kernel: without those of its groups a bot had no bounds."""
    await settled(lab, "warm")
    starter, outcomes = prefork._living_starter(), set[str]()
    for files in range(3, 24):
        with starter_may_open(files), trio.fail_after(SOON_SECONDS):
            try:
                async with trio.open_nursery() as nursery:
                    process = await lab.start(nursery, lab.bot(SLEEPS), "warm")
                    group = process._box.group
                    if group is not None:
                        pids = {words for place in group._folders.values() for words in _processes(place)}
                        assert str(process.pid) in pids
                        assert all(str(process.pid) in _processes(place) for place in group._folders.values())
                    outcomes.add("started")
                    await process.kill()
            except ExceptionGroup as group_of_one:
                (error,) = group_of_one.exceptions
                assert isinstance(error, OSError), error
                assert errno.EMFILE == error.errno
                outcomes.add("refused")
    assert starter is prefork._living_starter()
    assert {"started", "refused"} == outcomes
    assert [] == lab.alive()


def _processes(place: Path) -> list[str]:
    return (place / "cgroup.procs").read_text().split()


@pytest.mark.parametrize("how", ["warm", "strict"])
async def test_a_frozen_bot_is_ended_without_a_descriptor(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, how: How
) -> None:
    if find_layers().no_groups is not None:
        pytest.skip("no control groups")
    with trio.fail_after(SOON_SECONDS):
        async with trio.open_nursery() as nursery:
            process = await lab.start(nursery, lab.bot(SLEEPS), how)
            process.freeze()
            with monkeypatch.context() as scarcity:
                scarcity.setattr(os, "open", no_more)
                await process.kill()
    assert [] == lab.alive()


async def test_counters_that_cannot_be_opened_are_no_counters_of_a_bot_that_is_gone(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without them a bot that waited for a processor would be found guilty."""
    async with lab.started(lab.bot(SLEEPS)) as process:
        meter = Meter(process._box.roots, process._box.group, 1.0)
        with monkeypatch.context() as scarcity:
            scarcity.setattr(os, "open", no_more)
            with pytest.raises(OSError, match="Too many open files"):
                meter.read()
        meter.close()


async def test_a_bot_that_the_kernel_ends_for_want_of_the_machine_s_memory_is_not_at_fault(lab: Lab) -> None:
    """All groups of this arena together have less here than one bot may have."""
    if find_layers().no_groups is not None:
        pytest.skip("no control groups")
    place = cgroups.tree().places["memory"]
    bound = place / ("memory.limit_in_bytes" if cgroups.tree().version == 1 else "memory.max")
    had = bound.read_text()
    eats = "kept = []\nwhile True:\n    kept.append(bytearray(b'x' * 1_000_000))\n"
    for how in ("strict", "warm"):
        bound.write_text(str(SOME_MB * 1024 * 1024))
        try:
            async with lab.started(lab.bot(eats, limits="memory_mb = 512"), how) as process:
                await process.wait()
                assert NO_MEMORY == process.lost
        finally:
            bound.write_text(had)
        async with lab.started(lab.bot(eats, limits="memory_mb = 64\naddress_space_mb = 2048"), how) as process:
            await process.wait()
            assert ("", "killed: memory over 64 MB") == (process.lost, process.why_ended())


FORKS = """
import os, time
made = 0
while made < {most}:
    try:
        pid = os.fork()
    except BlockingIOError:
        raise SystemExit(made)
    if pid == 0:
        time.sleep(1000)
    made += 1
"""


@pytest.mark.parametrize("how", ["strict", "warm"])
async def test_a_bot_that_is_refused_a_process_below_its_own_bound_is_not_at_fault(lab: Lab, how: How) -> None:
    """All groups of this arena together may have fewer here than one bot. One that had all its own is at fault."""
    if find_layers().no_groups is not None:
        pytest.skip("no control groups")
    await settled(lab, how)
    place = cgroups.tree().places["pids"]
    bound, now = place / "pids.max", int((place / "pids.current").read_text())
    had = bound.read_text()
    bound.write_text(str(now + 10))
    try:
        async with lab.started(lab.bot(FORKS.format(most=50), limits="processes = 64"), how) as process:
            assert 0 < await process.wait() < 50
            assert NO_PROCESSES == process.lost
        async with lab.started(lab.bot("print()"), how) as process:
            assert (0, "") == (await process.wait(), process.lost)
    finally:
        bound.write_text(had)
    async with lab.started(lab.bot(FORKS.format(most=50), limits="processes = 8"), how) as process:
        # Itself is one of the eight.
        assert 7 == await process.wait()
        assert "" == process.lost
        why = "it exited with code 7; it had wanted more processes and threads than the 8 it may have (processes)"
        assert why == process.why_ended()


@pytest.mark.parametrize("what", ["f_bavail", "f_favail"])
async def test_a_bot_without_a_sandbox_that_fails_where_no_space_is_left_is_not_at_fault(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    fields = {"f_blocks": 100, "f_bavail": 10, "f_files": 100, "f_favail": 10} | {what: 0}
    monkeypatch.setattr(os, "statvfs", lambda _place: SimpleNamespace(**fields))
    for code in (1, 0):
        async with lab.started(lab.bot(f"exit({code})"), "none") as process:
            assert code == await process.wait()
            assert bool(code) is ("No space left on device" in process.lost)
    monkeypatch.undo()
    async with lab.started(lab.bot("exit(1)"), "none") as process:
        assert (1, "") == (await process.wait(), process.lost)
