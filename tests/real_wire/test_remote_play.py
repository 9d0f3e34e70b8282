"""Whole matches with a bot on another machine: here another process, behind a line that can be cut."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
import trio

from bots.remote import relay
from protocol.codec import decode_server_message, encode
from protocol.messages import Hello, Invited
from protocol.news import Dismissed
from protocol.refusals import Conduct
from referee.bot_folder.manifest import find_bot
from referee.host import players as playing
from referee.host.one_match import play
from referee.host.plan import AttemptResult, Plan
from referee.host.players import Player, RemoteBot, SandboxedBot, WrongPlayersError
from referee.match.records import Header, In, Judged, bot_seed
from referee.transcript.replayer import replay
from referee.wire.keys import new_pair, write_pair, z85
from referee.wire.remote import Address, open_lobby
from tests.builders.plans import actions_of, mist_plan, records_of
from tests.builders.programs import start_program
from tests.real_wire.processes import PATIENCE_SECONDS
from tests.real_wire.remote import HERE, Client, CutLine, Door, open_door
from tests.real_wire.seat import BotSocket, hear
from tests.real_wire.test_stdio import PLACES, shell_bot

ROOT = Path(__file__).parents[2]
HUNTER = ROOT / "bots" / "mist_hunter"
OPTIONS = encode({"first": 0, "max_turns": 40})


def plan(*, match: str = "test", **policy: object) -> Plan:
    return mist_plan(40, match=match, policy={"unfair": "note"} | policy, isolation="none")


async def hosted(door: Door, folder: Path, the_plan: Plan) -> AttemptResult:
    """Play a match of the remote bot, in seat 0, against one of this machine."""
    players: list[Player] = [RemoteBot("alice", z85(door.bot.public)), SandboxedBot(find_bot("mist_random"))]
    with trio.fail_after(120):
        return await play(
            the_plan, players, transcript=folder / f"{the_plan.match}.jsonl", remote=door.lobby.lines
        )


@contextmanager
def author(door: Door, keys: Path, endpoint: str, bot: Path) -> Iterator["subprocess.Popen[str]"]:
    """Run the author's end, as its author runs it."""
    public, _ = write_pair(keys / "host", door.host)
    _, secret = write_pair(keys / "alice", door.bot)
    with start_program(
        "bots.remote", endpoint, bot, "--host-key", public, "--key", secret, cwd=keys, stdout=None
    ) as process:
        try:
            yield process
        finally:
            process.kill()


async def end_of(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit code, and what it said."""
    with trio.fail_after(60):
        while process.poll() is None:  # noqa: ASYNC110 - a process of a blocking module
            await trio.sleep(0.02)
    assert process.stderr is not None
    return process.returncode, process.stderr.read()


@pytest.fixture
def same_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a remote bot the seed that a local one would get, not one that is dear to try."""
    monkeypatch.setattr("referee.host.players.remote_bot_seed", bot_seed)


async def locally(folder: Path) -> list[object]:
    """Return the actions taken where both bots are on this machine."""
    players: list[Player] = [SandboxedBot(find_bot("mist_hunter")), SandboxedBot(find_bot("mist_random"))]
    return actions_of(await play(plan(), players, transcript=folder / "local.jsonl"))


@pytest.mark.slow
async def test_over_a_line_that_stands_the_bot_is_started_for_each_match_until_its_author_is_dismissed(
    tmp_path: Path,
) -> None:
    async with open_door(stands=True) as door:
        with author(door, tmp_path, door.lobby.endpoint, HUNTER) as process:
            results = []
            for match in ("first", "second"):
                results.append(await hosted(door, tmp_path, plan(match=match)))
                await door.line.rest()
            assert 0 == door.line.cuts
            door.line.tell(encode(Dismissed(text="that was all")))
            code, said = await end_of(process)
    lines = [line for line in said.splitlines() if not line.startswith("kit: ")]
    assert (0, "that was all") == (code, lines[-1])
    assert "connection lost" not in said
    assert ["connected to the host", "the match begins"] == lines[1:3]
    assert (1, 2, 1) == tuple(
        lines.count(line) for line in ("connected to the host", "the match begins", "that was all")
    )
    assert 2 == sum(
        line.startswith(("match first, seat 0: place", "match second, seat 0: place")) for line in lines
    )
    # The same deal, and nothing of the first match in the second: it is played alike.
    assert actions_of(results[0]) == actions_of(results[1])
    assert [(Conduct.OK, Conduct.OK)] * 2 == [result.conduct for result in results]


@pytest.mark.usefixtures("same_seeds")
async def test_a_remote_bot_plays_as_it_would_here_and_the_transcript_says_that_it_was_remote(
    tmp_path: Path, door: Door
) -> None:
    with author(door, tmp_path, door.lobby.endpoint, HUNTER) as process:
        result = await hosted(door, tmp_path, plan())
        code, said = await end_of(process)
    assert (0, ["connected to the host", "the match begins"]) == (code, said.splitlines()[1:3])
    # On a busy machine the kit also says how long its start took.
    place, windows = (line for line in said.splitlines()[3:] if not line.startswith("kit: "))
    assert result.outcome is not None
    assert f"seat 0: place {1 + (0 not in result.outcome.ranking[0])} of 2" in place
    assert windows.startswith(f"{result.windows[0]} windows, 0 decided by default; the longest took ")
    assert ((Conduct.OK, Conduct.OK), (0,)) == (result.conduct, result.remote)
    assert await locally(tmp_path) == actions_of(result)
    records = records_of(result)
    replayed = replay(records).match.ended
    assert replayed is not None
    assert encode(result.outcome) == encode(replayed.outcome)
    assert isinstance(records[0], Header)
    alice, local = (encode(bot) for bot in records[0].bots)
    assert b'"remote":' + encode(z85(door.bot.public)) in alice
    assert b'"remote"' not in local


@pytest.mark.usefixtures("same_seeds")
async def test_a_line_that_is_cut_comes_back_and_nothing_of_the_match_is_changed_by_it(tmp_path: Path) -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        cable = CutLine(door.lobby.endpoint, cuts=[9_000, 14_000, 20_000])
        await nursery.start(cable.run)
        with author(door, tmp_path, cable.endpoint, HUNTER) as process:
            result = await hosted(door, tmp_path, plan(main_ms=20_000))
            code, said = await end_of(process)
        assert (0, 3) == (code, said.count("connection lost"))
        assert ((Conduct.OK, Conduct.OK), (0, 0)) == (result.conduct, result.defaults)
        assert await locally(tmp_path) == actions_of(result)
        records = records_of(result)
        hellos = [record for record in records if isinstance(record, In) and '"hello"' in record.frame]
        assert 4 == sum(record.seat == 0 for record in hellos)
        nursery.cancel_scope.cancel()


async def test_a_program_that_speaks_by_lines_plays_remotely_too(tmp_path: Path) -> None:
    bot = shell_bot(tmp_path / "sh", PLACES)
    async with open_door() as door:
        with author(door, tmp_path, door.lobby.endpoint, bot.folder) as process:
            result = await hosted(door, tmp_path, plan())
            await end_of(process)
        assert Conduct.OK == result.conduct[0]
        assert {"cells": ["E5"]} in actions_of(result)


async def invited(socket: BotSocket) -> str:
    """Return the token that the host's invitation names."""
    invitation = decode_server_message(await hear(socket))
    assert isinstance(invitation, Invited)
    return invitation.token


async def test_the_token_of_an_old_match_gets_nowhere_in_the_next(tmp_path: Path, client: Client) -> None:
    tokens = []
    for match in ("first", "second"):
        async with open_door() as door, trio.open_nursery() as nursery:
            socket = client(door.lobby.endpoint, door.host.public, door.bot)

            async def speak(socket: BotSocket = socket) -> None:
                tokens.append(await invited(socket))
                socket.send(encode(Hello(token=tokens[0], name="alice", version="1", protocol=1)))

            nursery.start_soon(speak)
            result = await hosted(door, tmp_path, plan(match=match, main_ms=1))
            assert {"first": Conduct.OK, "second": Conduct.MISBEHAVED}[match] == result.conduct[0]
    assert tokens[0] != tokens[1]


async def test_a_bot_that_does_not_come_back_has_left(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "AWAY_SECONDS", 0.3)
    async with open_door() as door, trio.open_nursery() as nursery:
        socket = client(door.lobby.endpoint, door.host.public, door.bot)

        async def leave_soon() -> None:
            token = await invited(socket)
            socket.send(encode(Hello(token=token, name="alice", version="1", protocol=1)))
            assert b'"welcome"' in await hear(socket)
            socket.close()

        nursery.start_soon(leave_soon)
        result = await hosted(door, tmp_path, plan(main_ms=60_000))
    assert Conduct.DISCONNECTED == result.conduct[0]
    assert result.windows[0] == result.defaults[0] > 10


@pytest.mark.parametrize("fault", ["default", "restart"])
async def test_a_bot_that_is_not_awaited_has_lost_its_start_at_once(
    tmp_path: Path, fault: Literal["default", "restart"]
) -> None:
    async with open_door() as door:
        door.line.awaited = False
        result = await hosted(door, tmp_path, plan(fault=fault, restarts=2))
    assert Conduct.NEVER_STARTED == result.conduct[0]
    assert "it was not there, and was not waited for any more" in result.reports[0].loss


async def test_under_restart_a_bot_that_was_away_for_too_long_may_come_back_once_more(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "AWAY_SECONDS", 0.3)
    async with open_door() as door, trio.open_nursery() as nursery:
        first = client(door.lobby.endpoint, door.host.public, door.bot)

        async def hello(socket: BotSocket) -> None:
            socket.send(encode(Hello(token=await invited(socket), name="alice", version="1", protocol=1)))
            assert b'"welcome"' in await hear(socket)

        async def leave_and_come_back() -> None:
            await hello(first)
            monkeypatch.setattr(playing, "AWAY_SECONDS", 60.0)  # for what follows on its leaving
            first.close()
            await trio.sleep(1.0)
            await hello(client(door.lobby.endpoint, door.host.public, door.bot))

        nursery.start_soon(leave_and_come_back)
        result = await hosted(door, tmp_path, plan(main_ms=200, fault="restart", restarts=1, unfair="note"))
    records = records_of(result)
    hellos = [record for record in records if isinstance(record, In) and '"hello"' in record.frame]
    assert (Conduct.DISCONNECTED, 2) == (result.conduct[0], sum(not record.seat for record in hellos))


async def test_a_window_that_a_remote_bot_loses_is_its_own_fault(tmp_path: Path, client: Client) -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        socket = client(door.lobby.endpoint, door.host.public, door.bot)

        async def say_nothing_more() -> None:
            socket.send(encode(Hello(token=await invited(socket), name="alice", version="1", protocol=1)))

        nursery.start_soon(say_nothing_more)
        result = await hosted(door, tmp_path, plan(main_ms=100, unfair="note"))
    judged = [each for each in records_of(result) if isinstance(each, Judged) and not each.seat]
    assert result.defaults[0] == len(judged) > 10
    # A machine that is busy all the time may have been behind in each.
    assert {"bot"} >= {each.verdict.value for each in judged if each.evidence.behind < each.evidence.time // 4}


@pytest.mark.slow
def test_host_and_author_play_a_match_by_their_two_commands_and_its_reports_say_that_it_was_remote(
    tmp_path: Path,
) -> None:
    run = partial(start_program, cwd=tmp_path)
    for words in (("keys", "host"), ("remote", "keys", "alice")):
        with run("arena", *words) as made:
            assert 0 == made.wait(PATIENCE_SECONDS)
    keys = ("--host-key", "host.key", "--key", "alice.key_secret")
    hosting = ["host", "mist", "remote:alice.key", "mist_random", "--isolation", "none", "--json", "--log", "log"]
    with run("arena", *hosting, "--at", ":0", "--key", "host.key_secret", "--options", OPTIONS.decode()) as host:
        assert host.stderr is not None
        assert host.stderr.readline().startswith("match mist-")
        endpoint = host.stderr.readline().split()[2]
        with run("arena", "remote", "join", endpoint, "mist_hunter", *keys) as author:
            assert 0 == author.wait(PATIENCE_SECONDS)
        result, said = host.communicate(timeout=PATIENCE_SECONDS)
        assert (0, "alice is connected\n") == (host.returncode, said)
    found = json.loads(result)
    assert ([0], ["ok", "ok"]) == (found["remote"], found["conduct"])
    logged = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    alices = {(line["event"], line.get("how")) for line in logged if line.get("bot") == "alice"}
    assert {("remote_connected", None), ("bot_started", "remote"), ("hello", None)} <= alices
    assert "listening" == logged[0]["event"]
    with run("arena", "replay", found["transcript"]) as replayed:
        assert "alice (remote), mist_random" in replayed.communicate(timeout=PATIENCE_SECONDS)[0]


@pytest.mark.parametrize(
    ("changed", "why"), [({"ponder": False}, "cannot be kept from thinking"), ({}, "there is no line")]
)
async def test_options_that_a_remote_seat_cannot_have_are_refused(
    tmp_path: Path, changed: dict[str, object], why: str, door: Door
) -> None:
    if not changed:
        door.lobby.lines.clear()
    with pytest.raises(WrongPlayersError, match=why):
        await hosted(door, tmp_path, plan(**changed))  # type: ignore[arg-type]


async def test_an_author_knocks_again_until_the_key_is_known_and_no_more_once_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "KNOCK_SECONDS", 0.1)
    host, own = new_pair(), new_pair()
    said: list[str] = []
    monkeypatch.setattr(relay, "_say", said.append)

    def author(endpoint: str) -> None:
        keys = z85(own.public).encode(), z85(own.secret).encode()
        carrier = relay.RemoteRelay(endpoint, z85(host.public).encode(), keys, HUNTER, transcripts=tmp_path)
        try:
            with pytest.raises(SystemExit, match="the host does not know this key"):
                carrier.run()
        finally:
            carrier.close()

    away: list[str] = []
    strangers = partial(open_lobby, keys=host, known=[], turned_away=lambda _, why: away.append(why))
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            async with strangers(HERE) as lobby:
                here = Address("127.0.0.1", int(lobby.endpoint.rpartition(":")[2]))
                nursery.start_soon(trio.to_thread.run_sync, author, lobby.endpoint)
                while len(away) < 3:  # noqa: ASYNC110 - it is told by no event
                    await trio.sleep(0.01)
            async with open_lobby(here, host, [z85(own.public)]) as lobby:
                await lobby.lines[z85(own.public)].present()
            async with strangers(here):
                await trio.lowlevel.checkpoint()
                while nursery.child_tasks:  # noqa: ASYNC110 - as above
                    await trio.sleep(0.01)
    assert 1 == sum("does not know this key yet" in line for line in said)
