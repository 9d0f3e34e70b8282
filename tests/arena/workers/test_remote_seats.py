"""Which match may begin: its remote bots are free, and there, or are not waited for any more."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from arena.workers import listener
from arena.workers.listener import Hosting
from arena.workers.remote_seats import RemoteSeats
from referee.host.players import RemoteBot
from referee.wire.keys import new_pair, z85
from referee.wire.remote import Address

ALICE, BOB, CAROL = (RemoteBot(name=name, key=z85(new_pair().public)) for name in ("alice", "bob", "carol"))
WAIT = 60.0


class StandInLine:
    """A line, as far as waiting for its bot goes."""

    cuts = 0

    def __init__(self) -> None:
        self.connected = self.ready = False
        self.awaited = True
        self.away_since = trio.current_time()
        self.said: list[bytes] = []

    def turn(self, *, here: bool) -> None:
        self.connected = self.ready = here
        self.away_since = trio.current_time()

    def tell(self, frame: bytes) -> None:
        self.said.append(frame)


class StandInLobby:
    """In place of `open_lobby`."""

    endpoint = "tcp://127.0.0.1:5555"

    def __init__(self) -> None:
        self.lines: dict[str, StandInLine] = {}

    @asynccontextmanager
    async def __call__(
        self, _address: object, _keys: object, known: Any, *_: Any, **__: Any
    ) -> AsyncIterator[Any]:
        self.lines = {key: StandInLine() for key in known}
        yield self


@pytest.fixture
def lobby(monkeypatch: pytest.MonkeyPatch) -> StandInLobby:
    stand_in = StandInLobby()
    monkeypatch.setattr(listener, "open_lobby", stand_in)
    return stand_in


@asynccontextmanager
async def opened(*, barred: tuple[str, ...] = ()) -> AsyncIterator[RemoteSeats]:
    seats = RemoteSeats(Hosting(Address("127.0.0.1", 0), new_pair(), WAIT), slots=3)
    seats.barred = barred
    async with seats.open(100, [ALICE, BOB, CAROL]) as (worker,):
        assert (3, seats.seat) == (worker.slots, worker.seat)
        yield seats
        seats._busy.clear()


async def test_a_match_waits_for_its_bots_and_each_has_one_match_at_a_time(
    lobby: StandInLobby, autojump_clock: object
) -> None:
    async with opened() as seats:
        assert not seats.seat([ALICE, BOB])
        lobby.lines[ALICE.key].turn(here=True)
        assert not seats.seat([ALICE, BOB])
        lobby.lines[BOB.key].turn(here=True)
        lobby.lines[CAROL.key].turn(here=True)
        assert seats.seat([ALICE, BOB])
        assert not seats.seat([ALICE, CAROL])
        assert seats.seat([CAROL])
        assert seats.seat([])


async def test_a_bot_that_is_away_for_too_long_is_not_waited_for(
    lobby: StandInLobby, autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    async with opened() as seats:
        await trio.sleep(WAIT - 1)
        lobby.lines[ALICE.key].turn(here=True)
        lobby.lines[ALICE.key].turn(here=False)
        assert not seats.seat([BOB])
        await trio.sleep(2)
        assert not seats.awaits([BOB])
        assert seats.seat([BOB])
        assert not lobby.lines[BOB.key].awaited
        assert seats.awaits([ALICE])
        assert not seats.seat([ALICE])
        lobby.lines[ALICE.key].turn(here=True)
        assert not seats.awaits([ALICE])
        assert seats.seat([ALICE])
        assert lobby.lines[ALICE.key].awaited is True
    said = capsys.readouterr().err.splitlines()
    assert 1 == said.count("bob is not here: its matches begin without it")
    assert [f"bob is not here: its matches wait, {WAIT - 1:.0f} s at most"] == [
        line for line in said if line.startswith("bob is not here: its matches wait")
    ]


async def test_a_bot_that_has_come_late_is_waited_for_when_its_line_is_cut(
    lobby: StandInLobby, autojump_clock: object
) -> None:
    async with opened() as seats:
        await trio.sleep(2 * WAIT)
        lobby.lines[ALICE.key].connected = lobby.lines[ALICE.key].ready = True
        assert seats.seat([ALICE])
        assert lobby.lines[ALICE.key].awaited is True


async def test_a_bot_that_withdraws_is_not_waited_for_but_plays_what_has_begun_if_it_is_there(
    lobby: StandInLobby, autojump_clock: object
) -> None:
    async with opened(barred=(CAROL.key,)) as seats:
        assert seats.seat([CAROL])
        assert not seats.seat([BOB])
        seats.await_no_more({BOB.key})
        assert seats.seat([BOB])


@pytest.mark.parametrize("over", [False, True])
async def test_bots_are_dismissed_when_the_tournament_is_over_and_not_when_it_stops(
    over: bool, lobby: StandInLobby, autojump_clock: object
) -> None:
    async with opened() as seats:
        seats.over = over
    assert [over] * 3 == [any(b"dismissed" in said for said in line.said) for line in lobby.lines.values()]


async def test_bots_of_a_seasons_other_groups_stay_and_nobody_waits_for_them(
    lobby: StandInLobby, autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    hosting = Hosting(Address("127.0.0.1", 0), new_pair(), WAIT)
    seats = RemoteSeats(hosting, slots=1, guests=[ALICE, BOB], goes_on=True)
    async with seats.open(100, [ALICE]):
        assert {ALICE.key, BOB.key} == set(lobby.lines)
        await trio.sleep(2 * WAIT)
        seats.over = True
    assert [[], []] == [line.said for line in lobby.lines.values()]
    said = capsys.readouterr().err
    assert "alice is not here: its matches begin without it" in said
    assert "bob" not in said
    assert 1 == len(seats.lines())
