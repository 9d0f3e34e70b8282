"""Every way out that we know is really tried: it fails where its level says so, and leads out where no wall is.

Without the second half the first would mean little: an attempt that cannot succeed proves no wall.
"""

import errno
import os
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from referee import sandbox
from referee.bot_folder.manifest import BotFolder, find_bot
from referee.proofs.escapes.examination import (
    AGAIN,
    ONLY_STRICT,
    Examination,
    ExaminationReport,
    examine,
    guaranteed,
)
from referee.proofs.escapes.fixture import BotPlace, ExaminationError, How, open_fixture, start
from referee.proofs.escapes.host_snapshot import LAYERS
from referee.proofs.escapes.inside.attempt import Scene
from referee.proofs.escapes.inside.running import IN_ORDER
from referee.sandbox.bwrap_args import arguments
from referee.sandbox.host_machine import PROJECT, Isolation, SandboxWalls, landlock_version
from tests.real_wire.sandbox.lab import Lab

NAMES = {attempt.name for attempt in IN_ORDER}

ASKED_FOR = {
    "reading secrets of the host": "reads-the-hosts-files reads-system-secrets reads-homes reads-transcripts "
    "reads-the-referees-code inherits-secrets opens-devices reads-the-kernels-memory reads-the-kernels-log "
    "sees-the-machines-name sees-the-machines-control-groups reads-others-shared-memory",
    "another bot's folder": "reads-another-bots-folder",
    "another program under one hash": "runs-what-its-hash-does-not-cover",
    "another bot's scratch": "reads-another-bots-scratch",
    "another bot's socket": "reaches-another-bots-socket",
    "another bot's log": "reads-another-bots-log",
    "writing outside the scratch": "writes-to-the-system writes-to-its-own-folder writes-beside-its-socket "
    "writes-to-what-is-others writes-to-dev changes-kernel-settings changes-the-machines-name",
    "network by TCP": "reaches-tcp",
    "network by UDP": "reaches-udp",
    "network by abstract sockets": "reaches-abstract-sockets",
    "network by path sockets": "reaches-path-sockets reaches-the-machines-services",
    "raw and netlink sockets": "opens-raw-sockets opens-new-network-sockets sees-the-machines-network",
    "the referee's other endpoints": "reaches-the-referees-other-endpoints",
    "seeing other processes and the referee": "sees-other-processes finds-secrets-in-proc",
    "tracing them": "traces-others copies-others-memory traces-itself",
    "signalling them": "signals-others changes-how-others-run",
    "talking to another bot by files that both may read": "locks-shared-files",
    "seeing which files another bot uses": "watches-shared-files",
    "a memory of the last match in what the kernel keeps of files": "asks-what-lies-in-memory "
    "steers-what-lies-in-memory leaves-marks-by-reading",
    "giving the referee files to free": "sends-descriptors",
    "another bot's terminals": "sees-others-terminals",
    "/proc of the referee: environ": "reads-the-referees-environment",
    "/proc of the referee: mem": "reads-others-memory",
    "/proc of the referee: fd": "takes-others-descriptors",
    "forking without end": "forks-without-end starts-threads-without-end",
    "memory by heap": "takes-memory-in-one-process takes-memory-in-many-processes takes-memory-by-sockets",
    "memory by memfd": "takes-memory-by-memfd",
    "memory by shm": "takes-memory-by-system-v fills-shared-memory",
    "memory by tmpfs": "fills-its-scratch",
    "filling the disk": "fills-the-disk makes-one-huge-file",
    "burning CPU beyond the limit": "burns-many-processors burns-beyond-its-processor-time raises-its-priority",
    "being kept waiting on purpose": "has-itself-kept-waiting",
    "also while it is the other's turn": "burns-in-the-others-turn",
    "many file descriptors": "opens-files-without-end raises-its-limits",
    "io_uring": "sets-up-io-uring",
    "userfaultfd": "uses-userfaultfd",
    "bpf": "uses-bpf",
    "keyctl": "uses-keyrings",
    "perf": "opens-performance-events",
    "new user namespaces": "makes-a-user-namespace makes-other-namespaces enters-other-namespaces "
    "mounts-file-systems changes-its-root opens-new-file-systems opens-files-by-handle",
    "processes that are nobody's": "makes-a-child-of-its-parents",
    "other calls": "changes-its-personality calls-by-other-numbers loads-kernel-code",
    "set-uid": "gains-by-a-set-uid-program becomes-root has-capabilities makes-a-device",
    "time going backwards": "sets-the-clock",
    "typing into a terminal": "types-into-a-terminal",
    "outliving by double fork": "outlives-by-a-double-fork",
    "outliving by daemon": "outlives-as-a-daemon",
    "outliving by ignored signals": "outlives-by-ignoring-signals",
    "outliving by stopped processes": "outlives-by-being-stopped",
    "outliving by being frozen": "outlives-a-killed-referee",
}
"""What a host fears, and the attempts at it."""

WITHOUT_WALLS = (
    "reads-the-hosts-files reads-transcripts reads-homes reads-the-referees-code "
    "reads-another-bots-folder reads-another-bots-scratch reads-another-bots-log writes-to-its-own-folder "
    "writes-beside-its-socket writes-to-what-is-others fills-the-disk reaches-tcp reaches-udp "
    "reaches-abstract-sockets reaches-path-sockets reaches-another-bots-socket "
    "reaches-the-referees-other-endpoints opens-new-network-sockets sees-the-machines-name "
    "sees-other-processes finds-secrets-in-proc reads-the-referees-environment signals-others "
    "changes-how-others-run reads-others-shared-memory types-into-a-terminal has-capabilities "
    "forks-without-end starts-threads-without-end fills-its-scratch fills-shared-memory "
    "takes-memory-in-many-processes takes-memory-by-memfd takes-memory-by-system-v traces-itself "
    "changes-its-personality locks-shared-files watches-shared-files sees-others-terminals "
    "asks-what-lies-in-memory steers-what-lies-in-memory sends-descriptors makes-a-child-of-its-parents "
    "has-itself-kept-waiting"
)
"""What anybody's process gets that nothing stops."""
ROOTS = (
    "reads-system-secrets writes-to-the-system writes-to-dev makes-a-device changes-kernel-settings "
    "opens-raw-sockets changes-the-machines-name becomes-root sets-the-clock reads-others-memory "
    "copies-others-memory traces-others takes-others-descriptors makes-a-user-namespace "
    "makes-other-namespaces enters-other-namespaces mounts-file-systems changes-its-root "
    "opens-files-by-handle raises-its-priority reads-the-kernels-log opens-new-file-systems"
)
"""What root's gets beside that; others may, by the machine's settings."""


@cache
def report(level: Isolation, *, warm: bool = False) -> ExaminationReport:
    return trio.run(examine, How(isolation=level, warm=warm))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make no attempt again of which a busy machine cannot tell: here it need not be proved."""
    monkeypatch.setattr("referee.proofs.escapes.examination.AGAIN", 0)


def possible(level: Isolation) -> None:
    """Skips where this machine cannot give a level."""
    try:
        sandbox.demand(level)
        sandbox.find_isolation()
    except sandbox.SandboxError as error:
        pytest.skip(str(error))


examined_once = pytest.mark.xdist_group("escapes")
"""These tests look at the same examination, which one process makes and keeps."""


@examined_once
@pytest.mark.parametrize(
    ("level", "warm"),
    [
        ("strict", True),
        pytest.param("strict", False, marks=pytest.mark.slow),
        pytest.param("standard", True, marks=pytest.mark.slow),
        pytest.param("standard", False, marks=pytest.mark.slow),
    ],
)
def test_a_level_holds_what_it_promises(level: Isolation, warm: bool) -> None:
    possible(level)
    found = report(level, warm=warm)
    # Other work on this machine may keep an attempt from telling; that is no hole.
    unproved = [each for each in found.findings if not each.is_proved]
    assert {} == {each.attempt: each.evidence for each in unproved if each.result != "too busy"}
    assert found.holds == (not unproved)
    assert {} == {each.attempt: each.evidence for each in found.findings if each.result == "failed"}


@examined_once
@pytest.mark.parametrize("warm", [pytest.param(False, marks=pytest.mark.slow), True])
def test_under_strict_every_layer_is_in_force_that_the_machine_has(warm: bool) -> None:
    possible("strict")
    lacking = set() if landlock_version() else {"Landlock"}
    assert lacking == {each.layer for each in report("strict", warm=warm).layers if each.in_force is False}


@examined_once
@pytest.mark.slow
def test_without_walls_the_same_attempts_get_out() -> None:
    found = report("none")
    wanted = set((WITHOUT_WALLS if os.geteuid() else f"{WITHOUT_WALLS} {ROOTS}").split())
    told = [each for each in found.findings if each.result != "too busy"]
    held = {each.attempt: each.evidence for each in told if each.result != "escaped"}
    assert {} == {name: held[name] for name in sorted(wanted & set(held))}
    assert {} == {name: why for name, why in held.items() if name.startswith("outlives") and "left" not in why}


@examined_once
@pytest.mark.slow
def test_without_walls_nothing_is_promised_and_limits_of_each_process_hold() -> None:
    found = {each.attempt: each.result for each in report("none").findings}
    assert report("none").holds
    limits = ("takes-memory-in-one-process", "opens-files-without-end", "burns-beyond-its-processor-time")
    assert {found[name] for name in limits} <= {"held", "too busy"}


def test_whatever_a_host_fears_is_attempted_and_no_attempt_is_for_nothing() -> None:
    asked = [name for names in ASKED_FOR.values() for name in names.split()]
    assert sorted(NAMES) == sorted(asked)


def test_every_attempt_says_what_it_does_and_which_layer_it_is_about() -> None:
    assert [] == [each.name for each in IN_ORDER if each.layer not in LAYERS or not each.what.endswith(".")]


def test_strict_promises_all_and_standard_all_but_system_calls_and_sums_over_processes() -> None:
    sums = {each.name for each in IN_ORDER if each.layer in {"memory group", "processor group"}}
    calls = {each.name for each in IN_ORDER if each.layer == "system-call filter"}
    assert NAMES == guaranteed("strict", has_filter=False)
    assert NAMES - sums - calls == guaranteed("standard", has_filter=False)
    assert set() == guaranteed("none", has_filter=False)
    assert set(LAYERS) >= ONLY_STRICT


def test_standard_with_a_filter_of_system_calls_promises_the_filters_walls() -> None:
    calls = {each.name for each in IN_ORDER if each.layer == "system-call filter"}
    assert calls == guaranteed("standard", has_filter=True) - guaranteed("standard", has_filter=False)
    assert set() == guaranteed("none", has_filter=True)
    assert {"locks-shared-files", "watches-shared-files"} <= calls


async def examined(name: str, level: Isolation) -> Examination:
    """One attempt alone."""
    with open_fixture() as fixture:
        examination = Examination(fixture, How(isolation=level, warm=False), lambda _made, _all: None)
        examination.said = dict.fromkeys(NAMES - {name}, ("held", ""))
        async with trio.open_nursery() as nursery:
            await examination.run(nursery)
            nursery.cancel_scope.cancel()
        return examination


async def one_attempt(name: str, level: Isolation) -> tuple[str, str]:
    findings = (await examined(name, level)).findings()
    return next((each.result, each.evidence) for each in findings if each.attempt == name)


async def not_in_force() -> set[str]:
    """Return the layers of `standard` that this machine lacks."""
    layers = (await examined("reads-transcripts", "standard")).layers
    return {each.layer for each in layers if not each.in_force}


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize(
    ("words", "layer"),
    [
        (("--unshare-net",), "network namespace"),
        (("--unshare-ipc",), "ipc namespace"),
        (("--unshare-uts", "--hostname", "bot"), "host name namespace"),
        (("--unshare-cgroup-try",), "control group namespace"),
    ],
)
async def test_a_wall_that_is_left_out_is_reported(
    words: tuple[str, ...], layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(*given: object) -> list[str]:
        all_words = arguments(*given)  # type: ignore[arg-type]
        for word in words:
            all_words.remove(word)
        return all_words

    before = await not_in_force()
    monkeypatch.setattr("referee.sandbox.bwrap.arguments", without)
    assert before | {layer} == await not_in_force()


@pytest.mark.usefixtures("sandboxed")
async def test_walls_that_the_machine_lacks_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = SandboxWalls(no_filter="it is not there", no_groups="there are none")
    monkeypatch.setattr("referee.sandbox.bwrap.find_layers", lambda: lacking)
    monkeypatch.setattr("referee.sandbox.host_machine.landlock_version", lambda: 0)
    assert {"Landlock", "system-call filter", "memory group", "processor group"} == await not_in_force()


@pytest.mark.usefixtures("sandboxed")
async def test_a_hole_in_a_wall_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's temporary folder, mounted where the bot's own should be."""

    def with_a_hole(*given: object) -> list[str]:
        words = arguments(*given)  # type: ignore[arg-type]
        at = words.index("--chdir")
        return [*words[:at], "--bind", "/tmp", "/tmp", *words[at:]]  # noqa: S108 - the machine's

    assert "held" == (await one_attempt("reads-another-bots-folder", "standard"))[0]
    monkeypatch.setattr("referee.sandbox.bwrap.arguments", with_a_hole)
    monkeypatch.setattr("tempfile.tempdir", "/tmp")  # noqa: S108
    result, evidence = await one_attempt("reads-another-bots-folder", "standard")
    assert ("escaped", True) == (result, evidence.endswith("the bait was read")), evidence


@pytest.mark.usefixtures("sandboxed")
async def test_a_folder_with_more_in_it_than_its_hash_covers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_it_lies(given: str) -> BotFolder:
        return replace(find_bot(given), folder=Path(given))

    monkeypatch.setattr("referee.proofs.escapes.fixture.find_bot", as_it_lies)
    assert "escaped" == (await one_attempt("runs-what-its-hash-does-not-cover", "standard"))[0]


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
async def test_a_bot_that_is_not_frozen_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.Process, "freeze", lambda _: None)
    assert "escaped" == (await one_attempt("burns-in-the-others-turn", "standard"))[0]


@pytest.mark.parametrize(("busy", "told"), [(1, "held"), (10, "too busy")])
async def test_attempts_for_which_the_machine_was_too_busy_are_repeated(
    busy: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[tuple[str, ...]] = []

    async def made(examination: Examination, nursery: trio.Nursery, scene: Scene) -> None:
        tried.append(tuple(NAMES - set(scene.done)))
        examination.said["burns-many-processors"] = "too busy" if len(tried) < busy else "held", ""

    monkeypatch.setattr(Examination, "_attempts", made)
    monkeypatch.setattr("referee.proofs.escapes.examination.AGAIN", AGAIN)
    monkeypatch.setattr("referee.proofs.escapes.examination.QUIET_SECONDS", 0)
    with open_fixture() as fixture:
        examination = Examination(fixture, How(isolation="none", warm=False), lambda _made, _all: None)
        examination.said = dict.fromkeys(NAMES, ("held", "")) | {"burns-many-processors": ("too busy", "")}
        async with trio.open_nursery() as nursery:
            await examination.make_again(nursery, fixture.scene)
    assert [("burns-many-processors",)] * min(busy, AGAIN) == tried
    assert (set(NAMES), told) == (set(examination.said), examination.said["burns-many-processors"][0])


async def test_a_machine_that_is_too_slow_for_a_bot_to_begin_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.proofs.escapes.fixture.BEGIN_SECONDS", 0.01)
    told = pytest.RaisesExc(
        ExaminationError, match="did not begin within 0.01 s: this machine is too busy or too slow"
    )
    with pytest.RaisesGroup(told, flatten_subgroups=True):
        await one_attempt("reads-transcripts", "none")


async def test_a_bot_whose_processor_time_is_up_before_it_begins_is_named(lab: Lab) -> None:
    place = BotPlace(lab.bot("while True: pass", limits="cpu_seconds = 1"), lab.line, lab.log)
    async with trio.open_nursery() as nursery:
        subject = await start(nursery, place, lab.token, How(isolation="none", warm=False))
        with pytest.raises(ExaminationError, match="used up its processor time before it began"):
            await subject.first("seen")


def test_an_attempt_that_is_ended_by_a_signal_is_held_and_one_that_breaks_has_failed() -> None:
    program = """
import os, signal, time
from referee.proofs.escapes.inside import running
from referee.proofs.escapes.inside.attempt import EscapeAttempt
from referee.proofs.escapes.inside.running import _made

def breaks(scene):
    raise ValueError("wrong")

sleeps, leaves = lambda _: time.sleep(60), lambda _: os._exit(4)
for run in (lambda _: os.kill(os.getpid(), signal.SIGSYS), breaks, leaves, sleeps):
    running.idle_seconds = time.monotonic  # one processor is idle
    print(_made(EscapeAttempt("name", "layer", "What.", run, 0.5), None))
running.idle_seconds = lambda: 0.0
print(_made(EscapeAttempt("name", "layer", "What.", sleeps, 0.5), None))
"""
    said = subprocess.run(  # noqa: S603 - as above
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    too_busy = "did not end within 0.5 s; other programs used the processors"
    assert [
        "AttemptVerdict(result='held', evidence='ended by SIGSYS')",
        "AttemptVerdict(result='failed', evidence='ValueError: wrong')",
        "AttemptVerdict(result='failed', evidence='exit code 4')",
        "AttemptVerdict(result='failed', evidence='did not end within 0.5 s')",
        f"AttemptVerdict(result='too busy', evidence='{too_busy}')",
    ] == said.stdout.splitlines()


class WithoutIPv6(socket.socket):
    """A kernel that was booted with ipv6.disable=1 refuses the socket, not only the address."""

    def __init__(self, family: int = -1, *more: Any, **named: Any) -> None:
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
        super().__init__(family, *more, **named)


def test_a_machine_without_ipv6_is_examined_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", WithoutIPv6)
    with open_fixture() as fixture:
        for found in (fixture.scene.tcp, fixture.scene.udp):
            hosts = [host for host, _ in found]
            assert "127.0.0.1" in hosts
            assert "::1" not in hosts


async def test_an_examination_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # A socket's path is short.
    with TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.chdir(folder)
        monkeypatch.setattr("tempfile.tempdir", folder)
        monkeypatch.setenv("HOME", folder)
        assert "escaped" == (await one_attempt("reads-transcripts", "none"))[0]
        assert [] == list(Path(folder).iterdir())
    assert ["lock"] == [path.name for path in (tmp_path / "mist-arena" / "contents").iterdir()]
