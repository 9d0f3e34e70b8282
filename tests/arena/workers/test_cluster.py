"""Who may play of a cluster's workers, what they are sent, and what of theirs is believed."""

import errno
import shutil
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import trio
from msgspec import Raw

from arena.errors import MachineCannot, WrongUse, reason_of
from arena.workers.api import WorkerGoneError
from arena.workers.cluster import (
    cluster,
    tasks,
    transfer,
)
from arena.workers.cluster.cluster import open_cluster
from arena.workers.cluster.dask import DaskClient, SchedulerGoneError
from arena.workers.cluster.transfer import Arrival, Asked, BotsGoneError, Ordered, Returned, received
from arena.workers.machine import own_content
from arena.workers.protocol import Done, encoded, failed, order
from referee.bot_folder.manifest import read_bot
from referee.host.plan import Plan
from referee.host.players import SandboxedBot
from referee.transcript.chain import TranscriptError
from tests.arena.stand_in import result

ON = "dask://here:1"
INFO = {"resources": {"matches": 2.0}, "nthreads": 2, "host": "here"}
TOML = 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n'


class Client:
    """A cluster whose workers all are this process."""

    def __init__(self, cache: Path | None = None, **workers: dict[str, Any]) -> None:
        self._workers = workers
        self._cache = cache
        """Where they keep bots; None: where this process does."""
        self.asked: list[tuple[str, str]] = []
        self.closed = False
        self.is_cut = False
        self.dismissed: list[str] = []

    def hear(self, heard: Callable[[dict[str, Any]], None]) -> None:
        """Nobody comes or goes."""

    async def look_for(self, module: str, address: str | None = None) -> None:
        """All have it."""
        assert "arena.workers.cluster.tasks" == module

    async def workers(self) -> dict[str, dict[str, Any]]:
        return self._workers

    def submit(self, address: str, function: Callable[..., bytes], *arguments: Any, slots: int) -> "Client.Task":
        self.asked.append((address, function.__name__))
        with pytest.MonkeyPatch.context() as there:
            if self._cache is not None:
                there.setenv("XDG_CACHE_HOME", str(self._cache))
            return Client.Task(function(*arguments))

    def dismiss(self, farewell: Callable[[str], None], argument: str) -> None:
        assert tasks.leave is farewell
        self.dismissed.append(argument)

    def drop(self) -> None:
        """Do nothing: the connection is gone."""

    def close(self) -> None:
        self.closed = True

    class Task:
        """Done at once."""

        def __init__(self, answer: bytes) -> None:
            self._answer = answer

        async def outcome(self) -> bytes:
            return self._answer


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "bot.toml").write_text(TOML)
    (tmp_path / "bot" / "bot.py").write_text("")
    return Asked(bots=(read_bot(tmp_path / "bot", given="bot"),), isolation="none")


async def opened(monkeypatch: pytest.MonkeyPatch, client: Client, asked: Asked) -> list[int]:
    """Return the slots of the workers that may play."""

    async def connected(_: str) -> Client:
        return client

    monkeypatch.setattr(cluster, "connected", connected)
    monkeypatch.setattr(cluster, "_REACHED", set())
    try:
        async with open_cluster(ON, asked) as roster:
            return [worker.slots for worker in roster.members.values()]
    finally:
        assert client.closed


async def refusal(monkeypatch: pytest.MonkeyPatch, client: Client, asked: Asked) -> str:
    with pytest.RaisesGroup(MachineCannot, flatten_subgroups=True) as caught:
        await opened(monkeypatch, client, asked)
    return str(reason_of(caught.value))


async def test_a_bot_is_sent_once_to_a_host_and_not_again_another_time(
    monkeypatch: pytest.MonkeyPatch, asked: Asked, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    client = Client(there, first=INFO, second=INFO | {"resources": {"matches": 1}})
    assert [1, 2] == sorted(await opened(monkeypatch, client, asked))
    again = Client(there, first=INFO)
    await opened(monkeypatch, again, asked)
    sent = [name for _, name in client.asked + again.asked if name == "keep_bot"]
    assert ["keep_bot"] == sent


async def test_a_bot_that_was_changed_on_a_host_is_sent_again(
    monkeypatch: pytest.MonkeyPatch, asked: Asked, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    await opened(monkeypatch, Client(there, first=INFO), asked)
    (program,) = there.glob("mist-arena/contents/*/bot.py")
    program.chmod(0o644)
    program.write_text("changed")
    client = Client(there, first=INFO)
    assert [2] == await opened(monkeypatch, client, asked)
    assert "keep_bot" in [name for _, name in client.asked]
    assert "" == program.read_text()


async def test_a_worker_with_another_arena_does_not_play(monkeypatch: pytest.MonkeyPatch, asked: Asked) -> None:
    monkeypatch.setattr(tasks, "own_content", lambda: "sha256:0")
    why = "first has another version of the arena: install there what is here"
    assert f"--on {ON}: no worker there can play: {why}" == await refusal(monkeypatch, Client(first=INFO), asked)


async def test_a_worker_that_cannot_make_a_bot_does_not_play(
    monkeypatch: pytest.MonkeyPatch, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "bot" / "bot.toml").write_text(TOML + 'build = [["sh", "-c", "echo no compiler; exit 3"]]\n')
    asked = Asked(bots=(read_bot(tmp_path / "bot", given="bot"),), isolation="none")
    why = "first cannot use a bot: bot: build: exit code 3: no compiler; its log: "
    said = await refusal(monkeypatch, Client(first=INFO), asked)
    assert said.startswith(f"--on {ON}: no worker there can play: {why}")


async def test_a_worker_gets_no_bot_that_is_not_of_the_tournament(
    monkeypatch: pytest.MonkeyPatch, asked: Asked
) -> None:
    other = f"sha256:{'a' * 64}"
    arrival = Arrival(arena=own_content(), calibrated=None, missing=(other,))

    def arrive(_: bytes) -> bytes:
        return encoded(arrival)

    monkeypatch.setattr(tasks, "arrive", arrive)
    client = Client(first=INFO)
    why = f"first asks for {other}, which is no bot of these"
    assert f"--on {ON}: no worker there can play: {why}" == await refusal(monkeypatch, client, asked)
    assert [("first", "arrive")] == client.asked


async def test_a_bot_that_was_changed_here_since_is_not_sent(
    monkeypatch: pytest.MonkeyPatch, asked: Asked, tmp_path: Path
) -> None:
    program = asked.bots[0].folder / "bot.py"
    program.chmod(0o644)
    program.write_text("changed")
    with pytest.RaisesGroup(WrongUse, flatten_subgroups=True) as caught:
        await opened(monkeypatch, Client(tmp_path / "there", first=INFO), asked)
    said = f"{asked.bots[0].folder}: cannot be sent to another machine: it is not as it was made"
    assert said == str(reason_of(caught.value))


@pytest.mark.parametrize("harm", ["changed", "deleted"])
def test_a_match_is_not_played_with_a_bot_that_is_not_as_it_came(asked: Asked, tmp_path: Path, harm: str) -> None:
    (bot,) = asked.bots
    assert b"null" == tasks.make_ready(encoded(asked))
    program = bot.folder / "bot.py"
    if harm == "changed":
        program.chmod(0o644)
        program.write_text("changed")
    else:
        shutil.rmtree(tmp_path / "cache")
    plan = Plan(match="m", game="g", variant="v", seed=0)
    asked_for = order(1, plan, [SandboxedBot(bot)], tmp_path / "m.jsonl")
    ordered = Ordered(arena="an arena", slots=1, isolation="none", order=Raw(encoded(asked_for)))
    with pytest.raises(BotsGoneError):
        received(tasks.play(encoded(ordered)), tmp_path / "m.jsonl")
    if harm == "deleted":
        # The folder of all copies was removed, too.
        assert bot == read_bot(tmp_path / "bot", given="bot")


async def test_over_a_line_that_was_cut_and_is_back_old_matches_are_ended_and_workers_play_again(
    monkeypatch: pytest.MonkeyPatch, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scheduler may not have been gone itself, but it has forgotten this arena."""
    first, second = Client(first=INFO), Client(first=INFO, second=INFO)
    lines = [first, second]

    async def connected(_: str) -> Client:
        if len(lines) == 1 and not capsys.readouterr().err.endswith("waiting 60 s for it to come back\n"):
            raise MachineCannot("nobody answers")
        return lines.pop(0)

    monkeypatch.setattr(cluster, "connected", connected)
    monkeypatch.setattr(cluster, "_REACHED", set())
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.01)
    async with open_cluster(ON, asked, patience=60) as roster:
        (before,) = roster.members
        first.is_cut = True
        with trio.fail_after(60):
            while len(roster) != 2:  # noqa: ASYNC110 - it is the cluster's to say when
                await trio.sleep(0.01)
        assert before not in roster
        assert (0, 1) == (len(first.dismissed), len(second.dismissed))
    assert 2 == len(set(second.dismissed))
    assert f"--on {ON}: the scheduler is back, with 2 workers\n" == capsys.readouterr().err


async def test_a_scheduler_that_does_not_come_back_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch, asked: Asked
) -> None:
    """Also where the arena needs its workers anew, because a bot has entered."""

    async def connected(_: str) -> Client:
        raise MachineCannot("nobody answers")

    monkeypatch.setattr(cluster, "connected", connected)
    monkeypatch.setattr(cluster, "_REACHED", {ON})
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.01)
    with pytest.RaisesGroup(MachineCannot, flatten_subgroups=True) as caught:
        async with open_cluster(ON, asked, patience=0.1):
            pass
    said = "did not come back in 0.1 s"
    assert f"--on {ON}: the scheduler is gone, and {said}" == str(reason_of(caught.value))


async def test_a_worker_that_cannot_play_is_named_if_others_can(
    monkeypatch: pytest.MonkeyPatch, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Client(first=INFO, second=INFO | {"resources": {}})
    assert [2] == await opened(monkeypatch, client, asked)
    assert "not played on: second has no slots for matches; start it so: dask worker" in capsys.readouterr().err


async def test_more_slots_than_the_machine_was_calibrated_for_are_told_of(
    monkeypatch: pytest.MonkeyPatch, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tasks, "calibrated", lambda: 1)
    await opened(monkeypatch, Client(first=INFO), asked)
    assert "first plays 2 matches at once, calibrated for 1\n" == capsys.readouterr().err


class TestWhatComesBack:
    LAST = b'{"line":2}\n'

    def returned(self, transcript: Path, content: bytes, name: str) -> bytes:
        played = result(Plan(match="m", game="g", variant="v", seed=0), ("a", "b"), transcript)
        head = sha256(self.LAST).hexdigest()
        answer = encoded(Done(number=1, result=msgspec.structs.replace(played, head=head)))
        return msgspec.msgpack.encode(Returned(answer=answer, files={name: zlib.compress(content)}))

    def test_the_transcript_that_was_played_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "m.jsonl"
        answer = received(self.returned(path, b"{}\n" + self.LAST, path.name), path)
        assert (True, [path]) == (isinstance(answer, Done), list(tmp_path.iterdir()))
        assert b"{}\n" + self.LAST == path.read_bytes()

    def test_a_transcript_with_another_last_line_is_noticed(self, tmp_path: Path) -> None:
        path = tmp_path / "m.jsonl"
        with pytest.raises(TranscriptError, match="is not what was played"):
            received(self.returned(path, b"{}\n", path.name), path)

    @pytest.mark.parametrize("name", ["../m.jsonl", "/m.jsonl", "other.jsonl", "ledger.sqlite"])
    def test_a_file_of_another_name_is_not_written(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(TranscriptError, match="a worker sent a file of another name"):
            received(self.returned(tmp_path / "m.jsonl", self.LAST, name), tmp_path / "m.jsonl")
        assert [] == list(tmp_path.iterdir())

    def test_an_answer_that_inflates_beyond_the_bound_is_not_stored(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(transfer, "MOST_BYTES", 1_000)
        path = tmp_path / "m.jsonl"
        received(self.returned(path, self.LAST.rjust(1_000, b"\n"), path.name), path)
        path.unlink()
        with pytest.raises(TranscriptError, match="a worker sent a file of more than 1000 bytes"):
            received(self.returned(path, bytes(1_001), path.name), path)
        assert [] == list(tmp_path.iterdir())

    @pytest.mark.parametrize("sent", [b"", b"no zlib", zlib.compress(LAST)[:-1]])
    def test_a_truncated_or_invalid_zlib_stream_is_not_stored(self, tmp_path: Path, sent: bytes) -> None:
        words = msgspec.msgpack.decode(self.returned(tmp_path / "m.jsonl", self.LAST, "m.jsonl"), type=Returned)
        swapped = msgspec.structs.replace(words, files={"m.jsonl": sent})
        with pytest.raises(TranscriptError, match="a worker sent"):
            received(msgspec.msgpack.encode(swapped), tmp_path / "m.jsonl")
        assert [] == list(tmp_path.iterdir())

    def test_bytes_that_are_no_answer_are_refused(self, tmp_path: Path) -> None:
        words = msgspec.msgpack.encode(Returned(answer=b'{"type":"done","number":"1"}'))
        with pytest.raises(msgspec.MsgspecError):
            received(words, tmp_path / "m.jsonl")

    def test_a_failed_match_returns_its_original_error(self) -> None:
        assert "gone" == failed(1, WorkerGoneError("x")).kind


def test_no_match_is_played_for_an_arena_that_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it asked for just before may arrive just after."""
    monkeypatch.setattr(tasks, "_LEFT", set())
    tasks.leave("an arena")
    with pytest.raises(WorkerGoneError, match="its arena has left"):
        tasks.node_of("an arena", 1)


class Cut:
    """Dask's future of a task whose worker was lost as it gave what it had, or that came to another error."""

    status = "error"

    def __init__(self, error: OSError) -> None:
        self._error = error

    def add_done_callback(self, over: Callable[[object], None]) -> None:
        over(self)

    def result(self) -> bytes:
        raise self._error

    def cancel(self) -> None:
        """Do nothing: the task is over."""


class Line:
    """A line of Dask's, to the scheduler."""

    is_closed = False

    def closed(self) -> bool:
        return self.is_closed


@pytest.mark.parametrize(
    ("error", "is_the_schedulers", "told"),
    [
        (ConnectionResetError(errno.ECONNRESET, "reset"), False, WorkerGoneError),
        (OSError("in <TCP (closed)>"), False, WorkerGoneError),
        (OSError("in <TCP (closed)>"), True, SchedulerGoneError),
        (OSError(errno.ENOSPC, "No space left on device"), False, OSError),
    ],
)
async def test_a_result_that_is_lost_on_its_way_is_its_workers_loss_unless_the_schedulers_line_is_cut(
    autojump_clock: trio.testing.MockClock, error: OSError, is_the_schedulers: bool, told: type[Exception]
) -> None:
    """Which shows a moment later."""
    line = Line()
    dask = SimpleNamespace(scheduler_comm=line, submit=lambda *_, **__: Cut(error))
    task = DaskClient(dask).submit("tcp://there:1", bytes, slots=1)  # type: ignore[arg-type]

    async def cut() -> None:
        await trio.sleep(1)
        line.is_closed = is_the_schedulers

    async with trio.open_nursery() as nursery:
        nursery.start_soon(cut)
        with pytest.raises(told):
            await task.outcome()
