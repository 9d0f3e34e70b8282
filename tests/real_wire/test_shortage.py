"""Whole matches on a machine that runs out of something: void, by name, and no bot is charged."""

import errno
import json
import os
import resource
import socket
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from protocol.refusals import Conduct
from referee.bot_folder.manifest import find_bot
from referee.host import files_needed
from referee.host.kept_bots import open_kept_bots
from referee.host.one_match import play
from referee.host.plan import AttemptResult, Plan
from referee.host.players import Player, SandboxedBot
from referee.match.terms import Policy
from referee.sandbox import SandboxError
from referee.sandbox.host_machine import Isolation, find_layers
from referee.wire.local import SOCKET_NAME, open_wire
from tests.builders.plans import mist_plan
from tests.builders.programs import run_arena

PLAN = mist_plan(6, isolation="none")
SEATS = 2
PATIENCE_SECONDS = 100
MADE_ONCE: set[Isolation] = set()
"""For which sandboxes this process has all that is made once."""
Patch = Callable[[pytest.MonkeyPatch, OSError], None]


def bots() -> list[Player]:
    return [SandboxedBot(find_bot("mist_random"))] * SEATS


async def outcome(folder: Path, plan: Plan) -> AttemptResult | OSError | SandboxError:
    """Play a match; return its result, or what stopped it."""
    folder.mkdir()
    with trio.fail_after(PATIENCE_SECONDS):
        try:
            return await play(plan, bots(), transcript=folder / "match.jsonl")
        except (OSError, SandboxError) as error:
            return error


def raising(error: OSError) -> Callable[..., Any]:
    def fails(*_: object, **__: object) -> None:
        raise OSError(error.errno, error.strerror)

    return fails


def of_a_line(call: str) -> Patch:
    """Make a call that fails for the sockets that bots have connected to."""

    def patch(scarcity: pytest.MonkeyPatch, error: OSError) -> None:
        there_is = getattr(socket.socket, call)

        def fails(it: socket.socket, *given: object) -> object:
            if str(it.getsockname()).endswith(SOCKET_NAME):
                raise OSError(error.errno, error.strerror)
            return there_is(it, *given)

        scarcity.setattr(socket.socket, call, fails)

    return patch


def of(where: object, name: str) -> Patch:
    return lambda scarcity, error: scarcity.setattr(where, name, raising(error))


def group_files(scarcity: pytest.MonkeyPatch, error: OSError) -> None:
    there_is = Path.mkdir

    def fails(path: Path, *given: Any, **more: Any) -> None:
        if "mist-arena." in str(path.parent):
            raise OSError(error.errno, error.strerror, str(path))
        there_is(path, *given, **more)

    scarcity.setattr(Path, "mkdir", fails)


CASES: dict[str, tuple[Isolation, Patch, tuple[int, ...]]] = {
    "a line is made": ("none", of(tempfile, "mkdtemp"), (errno.ENOSPC, errno.EDQUOT)),
    "a bot connects": (
        "none", of_a_line("accept"), (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
    ),
    "a bot is heard": ("none", of_a_line("recv"), (errno.ENOBUFS, errno.ENOMEM)),
    "a bot is sent something": ("none", of_a_line("send"), (errno.ENOBUFS, errno.ENOMEM)),
    "a process is started": ("none", of(subprocess, "Popen"), (errno.EAGAIN, errno.ENOMEM)),
    "a process is held": ("none", of(os, "pidfd_open"), (errno.EMFILE,)),
    "a sandbox is set up": ("strict", of(os, "memfd_create"), (errno.EMFILE, errno.ENOMEM, errno.ENOSPC)),
    "a log is made": ("strict", of(os, "pipe"), (errno.EMFILE, errno.ENFILE)),
    "a group is made": ("strict", group_files, (errno.ENOSPC, errno.EAGAIN, errno.EACCES, errno.ENOENT)),
}  # fmt: skip


@pytest.mark.parametrize("where", CASES)
async def test_wherever_the_machine_runs_out_of_something_the_attempt_is_void_and_no_bot_is_charged(
    tmp_path: Path, where: str
) -> None:
    """Each error that says so is tried; with the last match, the machine has everything again."""
    isolation, patch, numbers = CASES[where]
    if isolation == "strict" and find_layers().no_groups is not None:
        pytest.skip("no control groups")
    plan = replace(PLAN, isolation=isolation, warm=False)
    if isolation not in MADE_ONCE:  # What is made once is made.
        MADE_ONCE.add(isolation)
        await outcome(tmp_path / "first", plan)
    for number in numbers:
        with pytest.MonkeyPatch.context() as scarcity:
            patch(scarcity, OSError(number, os.strerror(number)))
            came = await outcome(tmp_path / f"scarce {number}", plan)
        if isinstance(came, AttemptResult):
            assert came.void is not None
            assert f"the machine has run out of something: {os.strerror(number)}" in came.void
            assert {Conduct.OK} == set(came.conduct)
        else:
            assert os.strerror(number) in str(came)
    last = await outcome(tmp_path / "last", plan)
    assert isinstance(last, AttemptResult), last
    assert last.void is None
    assert {Conduct.OK} == set(last.conduct)


async def test_a_kept_bot_whose_log_has_no_place_is_not_charged_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = replace(PLAN, policy=Policy(processes="kept"))
    async with open_wire() as wire, open_kept_bots(wire) as kept:
        for number in range(3):
            with trio.fail_after(PATIENCE_SECONDS), monkeypatch.context() as scarcity:
                path = tmp_path / f"{number}.jsonl"
                if number == 1:
                    assert kept.idle
                    scarcity.setattr(
                        "referee.sandbox.process.BotLog.begin", raising(OSError(errno.ENOSPC, "No space left"))
                    )
                    with pytest.raises(OSError, match="No space left"):
                        await play(plan, bots(), transcript=path, wire=wire, kept=kept)
                else:
                    result = await play(plan, bots(), transcript=path, wire=wire, kept=kept)
                    assert (None, {Conduct.OK}) == (result.void, set(result.conduct))


def arena(*words: str, files: int | None = None, folder: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process that may have so many files open."""

    def bound() -> None:
        if files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    return run_arena(*words, cwd=folder, env=more, preexec_fn=bound)


@pytest.mark.parametrize(
    ("game", "bot", "seats", "files"),
    [("hive-mind", "hive_mind_random", 5, 64), ("pointing", "pointing_random", 13, 128)],
)
def test_no_match_is_played_with_too_few_descriptors_and_the_needed_number_is_named(
    tmp_path: Path, game: str, bot: str, seats: int, files: int
) -> None:
    """It was played once, and those bots had never started that could not connect."""
    done = arena("match", game, "--fill", bot, "--isolation", "none", files=files, folder=tmp_path)
    needed = max(256, files_needed(1, seats))
    assert 3 == done.returncode, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("arena:")]
    assert f"1 match of {seats} bots at once in one process need {needed} open files" in line
    assert f"this machine allows {files}: ulimit -Hn {needed}" in line


@pytest.mark.parametrize("isolation", ["strict", "none"])
def test_the_number_that_is_said_to_be_needed_is_enough(tmp_path: Path, isolation: str) -> None:
    if isolation == "strict" and find_layers().no_groups is not None:
        pytest.skip("no control groups")
    for how in ("--warm", "--cold"):
        done = arena(
            "match", "pointing", "--fill", "pointing_random", "--isolation", isolation, how, "--json",
            files=files_needed(1, 13), folder=tmp_path,
        )  # fmt: skip
        assert 0 == done.returncode, done.stderr
        assert {"ok"} == set(json.loads(done.stdout)["conduct"])


CUP = """
game = "pointing"
bots = ["pointing_random", "pointing_loyal"]
fill = "pointing_random"
blocks = 8
rotations = 1
isolation = "none"
results = "results"
"""


@pytest.mark.parametrize("files", [512, 1024])
def test_a_tournament_is_refused_before_its_first_match(tmp_path: Path, files: int) -> None:
    """One match has room with the second of these numbers, and not with the first."""
    (tmp_path / "cup.toml").write_text(CUP)
    asked = ("tournament", "cup.toml", "--no-check", "--concurrency", "8", "--workers", "2")
    done = arena(*asked, files=files, folder=tmp_path)
    assert 3 == done.returncode, done.stderr
    assert f"need {files_needed(4, 13)} open files, and this machine allows {files}" in done.stderr
    assert [] == list(tmp_path.glob("results/transcripts/*"))


@pytest.mark.parametrize("command", ["tournament", "match", "check"])
def test_a_folder_for_temporary_files_whose_path_is_too_long_is_named_before_anything_is_played(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "cup.toml").write_text(CUP)
    long = Path(tempfile.mkdtemp(prefix="x" * 80))
    words = {
        "tournament": ("tournament", "cup.toml", "--no-check"),
        "match": ("match", "mist", "mist_random", "mist_random", "--isolation", "none"),
        "check": ("check", "mist_random", "--isolation", "none"),
    }[command]
    try:
        done = arena(*words, folder=tmp_path, TMPDIR=str(long))
    finally:
        long.rmdir()
    assert 3 == done.returncode, done.stderr
    most = 79 if command == "match" else 64
    assert f"arena: TMPDIR: {long}: its path has {len(str(long))} bytes" in done.stderr
    assert f"room in one of at most {most}: set TMPDIR to a shorter one" in done.stderr
    assert not list(tmp_path.glob("**/*.jsonl*"))


def test_a_folder_for_temporary_files_of_the_longest_path_is_played_in(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(f"{CUP.replace('blocks = 8', 'blocks = 2')}[policy]\nmain_ms = 1000\n")
    long = Path(tempfile.gettempdir(), "x" * (64 - len(tempfile.gettempdir()) - 1))
    long.mkdir(exist_ok=True)
    done = arena("tournament", "cup.toml", "--no-check", "--concurrency", "1", folder=tmp_path, TMPDIR=str(long))
    assert 0 == done.returncode, done.stderr
    assert [] == list(long.iterdir())
    long.rmdir()
