"""Who may play of a cluster's workers, what they are sent, and what of theirs is believed."""

import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.errors import MachineCannot
from arena.workers.api import WorkerGoneError
from arena.workers.cluster import (
    cluster,
    node_line,
    protocol,
    tasks,
)
from arena.workers.cluster.cluster import open_cluster
from arena.workers.cluster.protocol import Asked, Returned, received
from arena.workers.protocol import Done, encoded, failed
from referee.bot_folder.manifest import read_bot
from referee.host.plan import Plan
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

    def close(self, farewell: Callable[[str], None], argument: str) -> None:
        assert tasks.leave is farewell
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
    """The slots of those who are let play."""

    async def connected(_: str) -> Client:
        return client

    monkeypatch.setattr(cluster, "connected", connected)
    try:
        async with open_cluster(ON, asked) as roster:
            return [worker.slots for worker in roster.members.values()]
    finally:
        assert client.closed


async def refusal(monkeypatch: pytest.MonkeyPatch, client: Client, asked: Asked) -> str:
    with pytest.RaisesGroup(MachineCannot) as caught:
        await opened(monkeypatch, client, asked)
    (error,) = caught.value.exceptions
    return str(error)


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


async def test_who_cannot_play_is_named_where_others_can(
    monkeypatch: pytest.MonkeyPatch, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Client(first=INFO, second=INFO | {"resources": {}})
    assert [2] == await opened(monkeypatch, client, asked)
    assert "not played on: second has no slots for matches; start it so: dask worker" in capsys.readouterr().err


async def test_more_slots_than_the_machine_was_calibrated_for_are_told_of(
    monkeypatch: pytest.MonkeyPatch, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("arena.workers.capacity.calibrated", lambda: 1)
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

    def test_what_swells_beyond_the_bound_is_not_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(protocol, "MOST_BYTES", 1_000)
        path = tmp_path / "m.jsonl"
        received(self.returned(path, self.LAST.rjust(1_000, b"\n"), path.name), path)
        path.unlink()
        with pytest.raises(TranscriptError, match="a worker sent a file of more than 1000 bytes"):
            received(self.returned(path, bytes(1_001), path.name), path)
        assert [] == list(tmp_path.iterdir())

    @pytest.mark.parametrize("sent", [b"", b"no zlib", zlib.compress(LAST)[:-1]])
    def test_what_is_cut_short_or_no_zlib_is_not_kept(self, tmp_path: Path, sent: bytes) -> None:
        words = msgspec.msgpack.decode(self.returned(tmp_path / "m.jsonl", self.LAST, "m.jsonl"), type=Returned)
        swapped = msgspec.structs.replace(words, files={"m.jsonl": sent})
        with pytest.raises(TranscriptError, match="a worker sent"):
            received(msgspec.msgpack.encode(swapped), tmp_path / "m.jsonl")
        assert [] == list(tmp_path.iterdir())

    def test_what_is_no_answer_is_refused(self, tmp_path: Path) -> None:
        words = msgspec.msgpack.encode(Returned(answer=b'{"type":"done","number":"1"}'))
        with pytest.raises(msgspec.MsgspecError):
            received(words, tmp_path / "m.jsonl")

    def test_what_failed_comes_back_as_the_error_it_was(self) -> None:
        assert "gone" == failed(1, WorkerGoneError("x")).kind


def test_who_has_left_is_not_played_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it asked for just before may arrive just after."""
    monkeypatch.setattr(node_line, "_LEFT", set())
    tasks.leave("an arena")
    with pytest.raises(WorkerGoneError, match="its arena has left"):
        node_line.node_of("an arena", 1)
