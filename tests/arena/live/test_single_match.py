"""One match from the command line: where it is written, who may pause it, and how its failures are told."""

import errno
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import pytest
import trio
import trio.testing
from msgspec import Raw
from msgspec.structs import replace

from arena.errors import MachineCannot, WrongUse
from arena.live.single_match import Watch, play_match
from referee.host.one_match import play as really_play
from referee.host.plan import Plan, Result
from referee.sandbox import SandboxError
from referee.transcript.chain import TranscriptError
from tests.arena.live.local_bots import draws
from tests.arena.stand_in import result

PLAN = Plan(match="m", game="mist", variant="contractual-obligation", seed=1)


def failing(error: Exception | None = None, **changed: Any) -> Any:
    """Plays by failing, or by a result with something changed."""

    async def play(plan: Plan, players: Sequence[str], *, transcript: Path, **_: object) -> Result:
        await trio.lowlevel.checkpoint()
        if error is not None:
            raise error
        return replace(result(plan, players, transcript), **changed)

    return play


def complaint(folder: Path, error: Exception | None = None, **changed: Any) -> click.ClickException:
    with pytest.raises((click.ClickException, ExceptionGroup)) as caught:
        play_match(PLAN, ("a", "b"), folder, play=failing(error, **changed), watch=None)
    failure: BaseException = caught.value
    while isinstance(failure, ExceptionGroup):
        (failure,) = failure.exceptions
    assert isinstance(failure, click.ClickException)
    return failure


def caused(error: TranscriptError, cause: OSError) -> TranscriptError:
    error.__cause__ = cause
    return error


def test_a_match_is_played_and_written_where_it_is_said_to_be(tmp_path: Path) -> None:
    seen = []
    watch: Watch = lambda table, told: seen.append((table.number, len(told)))  # noqa: E731 - it is no more than that
    folder = tmp_path / "new" / "transcripts"
    plan = replace(PLAN, options=Raw(b'{"first":0,"max_turns":2}'))
    done = play_match(plan, (draws("a"), draws("b")), folder, play=really_play, watch=watch)
    assert str(folder / "m.jsonl") == done.transcript
    assert (folder / "m.jsonl").exists()
    assert [(0, 0), (1, 3), (2, 3)] == seen


def test_one_signal_pauses_the_match_and_another_lets_it_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    orders = []

    async def play(
        plan: Plan,
        players: Sequence[str],
        *,
        transcript: Path,
        watch: Watch | None,
        operator: trio.MemoryReceiveChannel[bool] | None,
    ) -> Result:
        assert operator is not None
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGUSR1):
            os.kill(os.getpid(), number)
            orders.append(await operator.receive())
        return result(plan, players, transcript)

    play_match(PLAN, ("a", "b"), tmp_path, play=play, watch=None)
    assert [True, False, True] == orders
    assert "paused by the operator\nresumed by the operator\n" in capsys.readouterr().err


def test_an_order_that_changes_nothing_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    orders: list[bool] = []

    async def play(
        plan: Plan,
        players: Sequence[str],
        *,
        transcript: Path,
        watch: Watch | None,
        operator: trio.MemoryReceiveChannel[bool] | None,
    ) -> Result:
        assert operator is not None
        for number in (signal.SIGUSR2, signal.SIGUSR1, signal.SIGUSR1, signal.SIGUSR2, signal.SIGUSR2):
            os.kill(os.getpid(), number)
            await trio.testing.wait_all_tasks_blocked(0.01)
            with suppress(trio.WouldBlock):
                orders.append(operator.receive_nowait())
        return result(plan, players, transcript)

    play_match(PLAN, ("a", "b"), tmp_path, play=play, watch=None)
    assert [True, False] == orders
    assert "paused by the operator\nresumed by the operator\n" == capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (SandboxError("no sandbox: bwrap is not installed"), MachineCannot, "no sandbox: bwrap is not installed"),
        (
            OSError(errno.ENOLCK, "No locks available"),
            MachineCannot,
            "the machine has run out of something: No locks available (the file system has no locks)",
        ),
        (
            caused(TranscriptError("", Path("/t/m")), OSError(errno.ENOSPC, "No space left on device")),
            MachineCannot,
            "/t/m: cannot be written: No space left on device",
        ),
        (
            caused(TranscriptError("", Path("/t/m")), OSError(errno.EACCES, "Permission denied")),
            WrongUse,
            "/t/m: cannot be written: Permission denied",
        ),
    ],
)
def test_what_the_machine_cannot_do_is_told_apart_from_what_was_chosen_wrongly(
    tmp_path: Path, error: Exception, kind: type[click.ClickException], said: str
) -> None:
    failure = complaint(tmp_path, error)
    assert (kind, said) == (type(failure), failure.format_message())


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    failure = complaint(tmp_path / "file")
    assert (WrongUse, f"{tmp_path}/file: cannot be written: File exists") == (
        type(failure),
        failure.format_message(),
    )


def test_a_setup_that_breaks_the_rules_is_wrong_use(tmp_path: Path) -> None:
    plan = replace(PLAN, setup=Raw(b'{"walls":1}'))
    with pytest.RaisesGroup(
        pytest.RaisesExc(WrongUse, match="^--setup: Object contains unknown field `walls`$"),
        flatten_subgroups=True,
    ):
        play_match(plan, (draws("a"), draws("b")), tmp_path, play=really_play, watch=None)


def test_a_void_attempt_is_told_with_its_reason_and_its_transcript(tmp_path: Path) -> None:
    failure = complaint(tmp_path, outcome=None, void="out of memory")
    assert isinstance(failure, MachineCannot)
    assert f"the attempt is void: out of memory; transcript: {tmp_path}/m.jsonl" == failure.format_message()
