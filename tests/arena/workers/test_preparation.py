"""Whether there is room for matches: reckoned, and refused by number."""

import errno
import os
import resource
from pathlib import Path

import pytest

from arena.errors import MachineCannot
from arena.workers import machine
from arena.workers.machine import demand_room
from referee.bot_folder import BotFolder
from referee.bot_folder.manifest import Limits, find_bot
from referee.host import files_needed, plan
from referee.sandbox import Isolation, walls


def demanded(
    bot: BotFolder | None = None, isolation: Isolation = "strict", *, seats: int = 2, at_once: int = 1
) -> str:
    """Return the error for so many simultaneous matches, or "" if there is none."""
    try:
        demand_room([bot or find_bot("mist_random")], isolation, seats=seats, shares=[at_once])
    except MachineCannot as error:
        return error.format_message()
    return ""


@pytest.mark.parametrize("seats", [2, 5, 13])
def test_one_open_file_too_few_is_refused_with_the_number(monkeypatch: pytest.MonkeyPatch, seats: int) -> None:
    needed = files_needed(8, seats)
    monkeypatch.setattr(machine, "files_allowed", lambda: needed)
    assert "" == demanded(seats=seats, at_once=8)
    monkeypatch.setattr(machine, "files_allowed", lambda: needed - 1)
    said = demanded(seats=seats, at_once=8)
    assert f"8 matches of {seats} bots at once in one process need {needed} open files" in said
    assert f"this machine allows {needed - 1}: ulimit -Hn {needed}" in said


def test_a_bot_is_not_given_fewer_open_files_than_it_is_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "files_allowed", lambda: 255)
    assert "need 256 open files" in demanded()


def test_one_process_too_few_is_refused_with_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = plan.processes_needed(8, 2, 1, Limits().processes)
    monkeypatch.setattr(machine, "processes_left", lambda: (needed, "pids.max is 9"))
    assert "" == demanded(at_once=8)
    monkeypatch.setattr(machine, "processes_left", lambda: (needed - 1, "pids.max is 9"))
    said = demanded(at_once=8)
    assert (
        f"may have {needed} processes and threads, and there is room for {needed - 1} more (pids.max is 9)" in said
    )
    assert "" == demanded(isolation="none", at_once=8), "it bounds no number of processes"


@pytest.mark.parametrize(
    ("name", "allowed", "said"),
    [
        ("AS", 9, "1073741824 bytes of address space, and this machine allows 9: ulimit -Hv 1048576"),
        ("FSIZE", 1_000, "67108864 bytes in a file, and this machine allows 1000: ulimit -Hf 65536"),
        ("NPROC", 63, "64 processes, and this machine allows 63: ulimit -Hu 64"),
        ("CPU", 100, "ends a process after 100 s of processor time: ulimit -Ht unlimited"),
    ],
)  # fmt: skip
def test_a_bound_of_the_arena_s_own_that_would_bind_bots_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, allowed: int, said: str
) -> None:
    """The kernel hands it down: a bot would end for what it was promised."""
    there_is = resource.getrlimit

    def bounded(kind: int) -> tuple[int, int]:
        return (allowed, allowed) if kind == getattr(resource, f"RLIMIT_{name}") else there_is(kind)

    monkeypatch.setattr(walls.resource, "getrlimit", bounded)  # type: ignore[attr-defined]
    monkeypatch.setattr(machine, "processes_left", lambda: None)
    assert said in demanded()


def test_a_missing_folder_for_temporary_files_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    monkeypatch.setattr("tempfile.gettempdir", none)
    assert "TMPDIR: no folder for temporary files can be written: No such file or directory" == demanded()


def test_the_page_says_the_same_numbers() -> None:
    page = (Path(__file__).parents[3] / "docs/operating.md").read_text()
    assert f"One match of 2 seats needs {files_needed(1, 2)}, one of 13 seats {files_needed(1, 13)}" in page
    own, match, seat = plan.PROCESS_FILES, plan.MATCH_FILES, plan.SEAT_FILES
    assert f"{own}, and for each match at once {match} and {seat} for each seat" in page
