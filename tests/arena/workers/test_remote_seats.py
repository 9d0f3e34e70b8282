"""Which match may begin: its remote bots are free, and there, or are not waited for any more."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio

from arena.workers import remote_seats
from arena.workers.api import WorkerGoneError
from arena.workers.remote_seats import Hosting, RemoteSeats
from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.host.plan import AttemptResult, Plan
from referee.host.players import RemoteBot
from referee.wire.keys import new_pair, z85
from referee.wire.remote import Address

ALICE, BOB, CAROL = (RemoteBot(name=name, key=z85(new_pair().public)) for name in ("alice", "bob", "carol"))
WAIT = 60.0


class StandInLine:
    """A line, as far as waiting for its bot goes."""

    cuts = 0
    delay: float | None = None

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

    async def told(self) -> None:
        await trio.lowlevel.checkpoint()

    async def rest(self) -> None:
        await trio.lowlevel.checkpoint()

    async def present(self) -> None:
        if not self.connected:
            await trio.sleep_forever()


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
def in_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files where they are asked for: virtual time would jump while a thread reads them."""

    async def run_sync(function: Any, *args: Any, **_: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return function(*args)

    monkeypatch.setattr(trio.to_thread, "run_sync", run_sync)


@pytest.fixture
def lobby(monkeypatch: pytest.MonkeyPatch) -> StandInLobby:
    stand_in = StandInLobby()
    monkeypatch.setattr(remote_seats, "open_lobby", stand_in)
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
    assert 1 == said.count("bob is not connected: its matches begin without it")
    assert [f"bob is not connected: its matches wait for it, {WAIT - 1:.0f} s at most"] == [
        line for line in said if line.startswith("bob is not connected: its matches wait")
    ]


async def test_the_remaining_wait_of_a_match_is_shown_up_to_the_last_second(
    lobby: StandInLobby, autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bot whose match lasted longer than its line did is missed when that match is over."""
    async with opened() as seats:
        seats._busy.add(BOB.key)
        await trio.sleep(WAIT - 0.5)
        lobby.lines[BOB.key].away_since += 0.9
        seats._busy.discard(BOB.key)
        await trio.sleep(2)
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("bob")]
    assert [
        "bob is not connected: its matches wait for it, 1 s at most",
        "bob is not connected: its matches begin without it",
    ] == said


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


async def test_bots_of_a_seasons_other_groups_stay_and_are_not_waited_for(
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
    assert "alice is not connected: its matches begin without it" in said
    assert "bob" not in said
    assert 1 == len(seats.lines())


OUTCOME = Outcome(ranking=((1,), (0, 2)), winners=(1,), eliminated=None, scores={"0": 0, "1": 5}, reason="decided")


def result_of_three(outcome: Outcome | None, void: str | None) -> AttemptResult:
    """Return a match of three in which seat 2's bot ended early."""
    return AttemptResult(
        match="cup-0-0",
        outcome=outcome,
        conduct=(Conduct.OK, Conduct.OK, Conduct.CRASHED),
        void=void,
        charged_us=(0, 0, 0),
        windows=(1, 1, 1),
        defaults=(0, 0, 0),
        transcript="there is none",
        head="ab" * 32,
    )


async def told_of_a_match(lobby: StandInLobby, came: AttemptResult | Exception) -> list[dict[str, Any]]:
    """Play a match of carol, alice and bob, and return the reports they are sent, by seat. Bob's line is cut."""

    async def play(*_: object, **__: object) -> AttemptResult:
        lobby.lines[BOB.key].turn(here=False)
        if isinstance(came, Exception):
            raise came
        return came

    async with opened() as seats:
        for bot, delay in ((ALICE, None), (BOB, 0.002), (CAROL, 0.0123456)):
            lobby.lines[bot.key].turn(here=True)
            lobby.lines[bot.key].delay = delay
        assert seats.seat([CAROL, ALICE, BOB])
        with suppress(WorkerGoneError):
            plan = cast("Plan", SimpleNamespace(match="cup-0-0"))
            await seats._play(play, plan, [CAROL, ALICE, BOB], transcript=Path("there is none"))
        await trio.sleep(1)
        assert [] == lobby.lines[BOB.key].said
        lobby.lines[BOB.key].turn(here=True)
        await trio.sleep(60)
        assert seats.seat([CAROL, ALICE, BOB])
    frames = [frame for bot in (CAROL, ALICE, BOB) for frame in lobby.lines[bot.key].said]
    return [json.loads(frame) for frame in frames]


async def test_each_author_is_told_place_score_and_delay_also_one_whose_line_was_cut(
    lobby: StandInLobby, in_line: None, autojump_clock: object
) -> None:
    told = await told_of_a_match(lobby, result_of_three(OUTCOME, None))
    same = {"type": "report", "match": "cup-0-0", "seats": 3, "reason": "decided", "head": "ab" * 32}
    assert [
        same | {"seat": 0, "place": 2, "score": 0, "conduct": "ok", "delay_ms": 12.35, "standing": None},
        same | {"seat": 1, "place": 1, "score": 5, "conduct": "ok", "delay_ms": None, "standing": None},
        same | {"seat": 2, "place": 2, "score": None, "conduct": "crashed", "delay_ms": 2.0, "standing": None},
    ] == told


async def test_authors_are_sent_the_reason_of_a_void_attempt_and_no_place(
    lobby: StandInLobby, in_line: None, autojump_clock: object
) -> None:
    told = await told_of_a_match(lobby, result_of_three(None, "the host is at fault"))
    assert [(None, None, "the host is at fault")] * 3 == [
        (each["place"], each["score"], each["reason"]) for each in told
    ]


async def test_authors_are_sent_nothing_about_an_attempt_without_a_result(
    lobby: StandInLobby, in_line: None, autojump_clock: object
) -> None:
    assert [] == await told_of_a_match(lobby, WorkerGoneError("killed by SIGKILL"))


async def test_each_remote_bots_matches_delays_and_disconnections_are_reported_at_the_end(
    lobby: StandInLobby, in_line: None, autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    async def play(*_: object, **__: object) -> AttemptResult:
        await trio.lowlevel.checkpoint()
        return result_of_three(OUTCOME, None)

    plan = cast("Plan", SimpleNamespace(match="cup-0-0"))
    async with opened() as seats:
        seats._came(ALICE, True)
        for delay in (0.012, None, 0.002, 0.005):
            for bot in (ALICE, BOB):
                lobby.lines[bot.key].turn(here=True)
                lobby.lines[bot.key].delay = delay if bot is ALICE else None
            assert seats.seat([ALICE, BOB])
            await seats._play(play, plan, [ALICE, BOB], transcript=Path("there is none"))
            await trio.sleep(1)
        lobby.lines[ALICE.key].cuts = 3
        lobby.lines[BOB.key].cuts = -1
    seats._came(BOB, False)
    assert 8 == seats.matches
    assert [
        "alice (remote): 4 matches, network delay 2 to 12 ms (round trip), disconnected 3 times",
        "bob (remote): 4 matches, no delay measured, never disconnected",
        "carol (remote): 0 matches, no delay measured, never disconnected",
    ] == sorted(seats.lines())
    said = capsys.readouterr().err
    assert "alice is connected" in said
    assert "bob is disconnected" not in said
