"""The door for bots on other machines: who is awaited and who is turned away, and what is played then."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trio

from arena.errors import AnswerIsNo, MachineCannot
from arena.live import single_match
from arena.live.single_match import play_hosted
from arena.workers import remote_seats
from arena.workers.remote_seats import TURNED_AWAY_SHOWN, Hosting
from referee.host.plan import Plan
from referee.host.players import RemoteBot
from referee.wire.keys import new_pair, z85
from referee.wire.remote import Address
from tests.arena.live.local_bots import draws

KEYS = new_pair()
PLAN = Plan(match="m", game="mist", variant="heaven-and-hell", seed=1)
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
    """The arguments of each match that was played, while the port was open."""
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


async def test_who_does_not_come_in_time_is_named_and_nothing_is_played(
    lobby: StandInLobby, played: list[Any], autojump_clock: object
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(coming, lobby, (1, BOB, True))
        with pytest.raises(AnswerIsNo, match=r"^alice did not connect within 30 s$"):
            await host(ALICE, BOB, seconds=30)
    assert ([], 30) == (played, trio.current_time())


async def test_without_a_remote_seat_nobody_is_awaited(
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


async def test_a_port_that_cannot_be_had_is_said(lobby: StandInLobby, played: list[Any]) -> None:
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
