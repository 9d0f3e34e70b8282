"""One match from the command line: where it is written, who may pause it, and how its failures are told."""

import errno
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
import trio
import trio.testing
from msgspec import Raw
from msgspec.structs import replace

from arena.errors import AnswerIsNo, MachineCannot, WrongUse
from arena.live import single_match
from arena.live.single_match import Watch, play_hosted, play_match
from arena.workers import remote_seats
from arena.workers.remote_seats import TURNED_AWAY_SHOWN, Hosting
from referee.host.one_match import play as really_play
from referee.host.plan import AttemptResult, Plan
from referee.host.players import RemoteBot
from referee.sandbox import SandboxError
from referee.transcript.chain import TranscriptError
from referee.wire.keys import new_pair, z85
from referee.wire.remote import Address
from tests.arena.live.local_bots import draws
from tests.arena.stand_in import result

PLAN = Plan(match="m", game="mist", variant="contractual-obligation", seed=1)


def failing(error: Exception | None = None, **changed: Any) -> Any:
    """Plays by failing, or by a result with something changed."""

    async def play(plan: Plan, players: Sequence[str], *, transcript: Path, **_: object) -> AttemptResult:
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
    ) -> AttemptResult:
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
    ) -> AttemptResult:
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
def test_faults_of_the_machine_are_distinguished_from_wrong_use(
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


KEYS = new_pair()
ALICE, BOB = (RemoteBot(name=name, key=z85(new_pair().public)) for name in ("alice", "bob"))


class StandInLine:
    """A remote bot's line, as far as waiting for it goes."""

    def __init__(self) -> None:
        self.connected = False
        self._change = trio.Event()

    async def present(self) -> None:
        while not self.connected:
            await self._change.wait()

    def turn(self, *, here: bool) -> None:
        self.connected = here
        self._change.set()
        self._change = trio.Event()


class StandInLobby:
    """In place of `open_lobby`, of which the tests of the wire say what it does."""

    def __init__(self) -> None:
        self.lines: dict[str, StandInLine] = {}
        self.endpoint = "tcp://127.0.0.1:5555"
        self.turned_away: Callable[[str, str], None]
        self.open = False

    @asynccontextmanager
    async def __call__(
        self, address: Address, keys: object, known: list[str], away: Any, came: Any, **rest: Any
    ) -> AsyncIterator[Any]:
        del came, rest
        if address.port == 1:
            raise PermissionError(13, "Permission denied")
        self.lines = {key: StandInLine() for key in known}
        self.turned_away = away
        self.open = True
        yield self
        self.open = False


@pytest.fixture
def lobby(monkeypatch: pytest.MonkeyPatch) -> StandInLobby:
    stand_in = StandInLobby()
    monkeypatch.setattr(remote_seats, "open_lobby", stand_in)
    return stand_in


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch, lobby: StandInLobby) -> list[Any]:
    """Return the arguments of each match that was played while the port was open."""
    calls: list[Any] = []

    async def play(plan: Plan, players: object, **rest: Any) -> str:
        assert lobby.open
        await trio.lowlevel.checkpoint()
        calls.append(SimpleNamespace(plan=plan, players=players, **rest))
        return "the result"

    monkeypatch.setattr(single_match, "play", play)
    return calls


async def host(*players: Any, seconds: float = 60, at: Address | None = None, **rest: Any) -> Any:
    hosting = Hosting(at or Address("127.0.0.1", 0), KEYS, seconds)
    given = {"transcript": Path("m.jsonl"), "watch": None, "operator": None, **rest}
    return await play_hosted(hosting, PLAN, players, **given)


async def coming(lobby: StandInLobby, *turns: tuple[float, RemoteBot, bool]) -> None:
    """Bots come, and leave again: after so many seconds, who, and whether it is here then."""
    for seconds, bot, here in turns:
        await trio.sleep(seconds)
        lobby.lines[bot.key].turn(here=here)


async def test_when_all_are_here_the_match_is_played_behind_the_open_port(
    lobby: StandInLobby, played: list[Any], autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    players = (ALICE, draws("local"), BOB)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(coming, lobby, (3, BOB, True), (4, ALICE, True))
        assert "the result" == await host(*players, publish=print)
    (call,) = played
    assert (PLAN, players, Path("m.jsonl"), print) == (call.plan, call.players, call.transcript, call.publish)
    assert call.remote is lobby.lines
    assert {ALICE.key, BOB.key} == set(lobby.lines)
    assert not lobby.open
    assert 7 == trio.current_time()
    said = capsys.readouterr().err
    assert f"listening at {lobby.endpoint} (only from this machine: another --at opens it), key" in said
    assert z85(KEYS.public) in said
    assert z85(KEYS.secret) not in said
    assert -1 < said.index("bob is connected") < said.index("alice is connected")


async def test_all_must_be_here_at_once(
    lobby: StandInLobby, played: list[Any], autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    moves = ((2, ALICE, True), (5, ALICE, False), (5, BOB, True), (5, ALICE, True))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(coming, lobby, *moves)
        await host(ALICE, BOB)
    assert (1, 17) == (len(played), trio.current_time())
    said = [line for line in capsys.readouterr().err.splitlines() if line.endswith("connected")]
    assert ["alice is connected", "alice is disconnected", "bob is connected", "alice is connected"] == said


async def test_a_bot_that_does_not_connect_in_time_is_named_and_no_match_is_played(
    lobby: StandInLobby, played: list[Any], autojump_clock: object
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(coming, lobby, (1, BOB, True))
        with pytest.raises(AnswerIsNo, match=r"^alice did not connect within 30 s$"):
            await host(ALICE, BOB, seconds=30)
    assert ([], 30) == (played, trio.current_time())


async def test_no_bot_is_awaited_without_a_remote_seat(
    lobby: StandInLobby, played: list[Any], autojump_clock: object
) -> None:
    await host(draws("a"), draws("b"))
    assert (1, 0) == (len(played), trio.current_time())


async def test_strangers_do_not_fill_the_screen(
    lobby: StandInLobby, played: list[Any], autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    async def knock() -> None:
        for number in range(20 * TURNED_AWAY_SHOWN):
            lobby.turned_away(f"192.0.2.{number // 2}", "no known key")
        await coming(lobby, (1, ALICE, True))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(host, ALICE)
        await trio.sleep(0.1)
        nursery.start_soon(knock)
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("refused")]
    assert TURNED_AWAY_SHOWN == len(said) == len(set(said))
    assert "refused 192.0.2.0: no known key" == said[0]
    assert said[-1].endswith("; further ones are not shown")


async def test_a_port_that_cannot_be_opened_is_reported(lobby: StandInLobby, played: list[Any]) -> None:
    with pytest.raises(MachineCannot, match=r"^tcp://127.0.0.1:1: cannot listen there: Permission denied$"):
        await host(ALICE, at=Address("127.0.0.1", 1))
    assert [] == played


async def test_a_port_for_other_machines_is_not_said_to_be_for_this_one_only(
    lobby: StandInLobby, played: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    await host(at=Address("192.0.2.7", 0))
    said = capsys.readouterr().err
    assert "listening at" in said
    assert "only from this machine" not in said
