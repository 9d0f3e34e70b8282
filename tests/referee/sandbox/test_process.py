"""A bot that has ended is neither stopped nor let go on: its group is gone, and its number may be another's."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import trio

from referee.bot_folder.manifest import Limits
from referee.sandbox import SandboxError, bwrap, demand, find_isolation
from referee.sandbox.bot_files import Scratch
from referee.sandbox.process import NO_MEMORY, Process


class Box:
    """Of a bot whose program ends when told to."""

    pid = 0
    group = None
    lost = False

    def __init__(self) -> None:
        self.may_end = trio.Event()
        self.asked: list[str] = []

    def freeze(self) -> None:
        self.asked.append("freeze")

    def thaw(self) -> None:
        self.asked.append("thaw")

    def cpu_us(self) -> int:
        return 0

    def scratch(self) -> list[Scratch]:
        return [Scratch(Path("/"))]

    async def exited(self) -> None:
        await self.may_end.wait()

    async def end(self) -> int:
        await trio.sleep(1)
        return 0


class Log:
    """Of nothing."""

    def finish(self) -> str:
        return ""

    def complete(self) -> None:
        pass

    def begin(self, path: Path, limit_bytes: int) -> None:
        pass


def test_a_machine_that_is_too_busy_for_one_sandbox_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> None:
        raise subprocess.TimeoutExpired(("true",), 20)

    monkeypatch.setattr(bwrap, "probe", never)
    with pytest.raises(SandboxError, match=r"did not start within 20 s: this machine is too busy"):
        find_isolation()


@pytest.mark.parametrize(("complaint", "helps"), [(None, "--isolation standard"), ("no", "bubblewrap says: no")])
def test_a_level_that_cannot_be_had_either_is_not_proposed(
    monkeypatch: pytest.MonkeyPatch, complaint: str | None, helps: str
) -> None:
    monkeypatch.setattr("referee.sandbox.walls.missing", lambda: ("there are no groups",))
    monkeypatch.setattr(bwrap, "probe", lambda: complaint)
    with pytest.raises(SandboxError, match=f"^no strict sandbox: there are no groups; .*{helps}"):
        demand("strict")


@pytest.mark.parametrize("by_itself", [True, False])
async def test_an_ended_process_is_not_frozen(autojump_clock: object, by_itself: bool) -> None:
    box: Any = Box()
    log: Any = Log()
    process = Process(box, log, Limits())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(process._live)
        await trio.sleep(1)
        process.freeze()
        process.thaw()
        if by_itself:
            box.may_end.set()
        else:
            nursery.start_soon(process.kill)
        await trio.sleep(0.5)
        process.freeze()
        process.thaw()
    process.freeze()
    process.thaw()
    assert ["freeze", "thaw"] == box.asked


class Group:
    """What the kernel counts of a bot's memory, over all of its matches."""

    def __init__(self, *, counts_anew: bool) -> None:
        self.kills = self.met = self.refused = 0
        self.peak = 100
        self._counts_anew = counts_anew

    def memory_kills(self) -> int:
        return self.kills

    def bound_met(self) -> int:
        return self.met

    def wanted_processes_in_vain(self) -> bool:
        return False

    def processes_refused(self) -> int:
        return self.refused

    def peak_bytes(self) -> int:
        return self.peak

    def peak_processes(self) -> int:
        return self.peak

    def begin_peak(self) -> bool:
        if self._counts_anew:
            self.peak = 10
        return self._counts_anew


class InGroup(Box):
    """The same with a control group; its program ends with exit code 1."""

    def __init__(self, *, counts_anew: bool = True) -> None:
        super().__init__()
        self.group: Any = Group(counts_anew=counts_anew)

    async def end(self) -> int:
        return 1


async def ended(process: Process, box: Box) -> str:
    """Let it end; return why it did."""
    box.may_end.set()
    await process._live()
    return process.why_ended()


@pytest.mark.parametrize("again", [False, True])
async def test_memory_that_was_over_its_bound_in_an_earlier_match_is_no_cause_of_a_later_end(
    autojump_clock: object, tmp_path: Path, *, again: bool
) -> None:
    box, log = InGroup(), Log()
    process = Process(box, log, Limits())  # type: ignore[arg-type]
    box.group.kills = box.group.met = 3
    process.begin_match(tmp_path / "log")
    if again:
        box.group.kills = box.group.met = 4
    why = await ended(process, box)
    assert again == ("memory" in why)


@pytest.mark.parametrize("again", [False, True])
async def test_processes_that_were_refused_in_an_earlier_match_are_no_cause_of_a_later_end(
    autojump_clock: object, tmp_path: Path, *, again: bool
) -> None:
    box, log = InGroup(), Log()
    process = Process(box, log, Limits(processes=9))  # type: ignore[arg-type]
    box.group.refused = 3
    process.begin_match(tmp_path / "log")
    if again:
        box.group.refused = 4
    why = "it exited with code 1"
    if again:
        why += "; it had wanted more processes and threads than the 9 it may have (processes)"
    assert why == await ended(process, box)


async def test_memory_that_ran_out_on_the_machine_is_its_fault_although_the_bound_was_met_before(
    autojump_clock: object, tmp_path: Path
) -> None:
    box, log = InGroup(), Log()
    process = Process(box, log, Limits())  # type: ignore[arg-type]
    box.group.kills = box.group.met = 3
    process.begin_match(tmp_path / "log")
    box.group.kills = 4
    await ended(process, box)
    assert NO_MEMORY == process.lost


@pytest.mark.parametrize(("counts_anew", "expected"), [(True, [100, 10, 50]), (False, [100, None, None])])
async def test_the_most_memory_is_a_match_s_own_or_not_known(
    tmp_path: Path, *, counts_anew: bool, expected: list[int | None]
) -> None:
    box, log = InGroup(counts_anew=counts_anew), Log()
    process = Process(box, log, Limits())  # type: ignore[arg-type]
    found = [process.peak_bytes()]
    process.begin_match(tmp_path / "log")
    found.append(process.peak_bytes())
    box.group.peak = max(box.group.peak, 50)
    found.append(process.peak_bytes())
    assert expected == found
    box.group.peak = 200
    assert 200 == process.peak_bytes()


async def test_the_most_processes_are_a_match_s_own_or_not_known(tmp_path: Path) -> None:
    box, log = InGroup(), Log()
    process = Process(box, log, Limits())  # type: ignore[arg-type]
    found = [process.peak_processes()]
    process.begin_match(tmp_path / "log")
    found.append(process.peak_processes())
    box.group.peak = 200
    found.append(process.peak_processes())
    assert [100, None, 200] == found
