"""What a match that was played on a cluster's worker leaves: there, in a store, and of an order that failed."""

import errno
import os
import shutil
from pathlib import Path

import fsspec
import pytest
from msgspec import Raw
from msgspec.structs import replace

from arena.workers.api import WorkerGoneError
from arena.workers.cluster import tasks
from arena.workers.cluster.transfer import Asked, Ordered, received
from arena.workers.protocol import Answer, Done, MatchOrder, encoded, failed, order
from referee.bot_folder.manifest import read_bot
from referee.host.plan import Plan
from referee.host.players import SandboxedBot
from referee.transcript.chain import hash_of
from tests.arena.stand_in import result

TOML = 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n'
PLAN = Plan(match="m", game="g", variant="v", seed=0)
LINE = b'{"line":1}\n'


class Node:
    """In place of a node: writes a transcript, or is gone."""

    def __init__(self) -> None:
        self.gone = False
        self.folders: list[Path] = []

    def play(self, asked: MatchOrder) -> Answer:
        self.folders.append(asked.transcript.parent)
        if self.gone:
            return failed(asked.number, WorkerGoneError("its process was killed"))
        asked.transcript.write_bytes(LINE)
        played = result(asked.whole_plan(), ("a", "b"), asked.transcript)
        return Done(number=asked.number, result=replace(played, head=HEAD))


HEAD = hash_of(LINE)


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Node:
    stand_in = Node()
    monkeypatch.setattr(tasks, "node_of", lambda _arena, _slots: stand_in)
    return stand_in


@pytest.fixture
def ordered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ordered:
    """Return a match of a bot that is stored here."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.toml").write_text(TOML)
    (folder / "bot.py").write_text("")
    bot = read_bot(folder, given="bot")
    assert b"null" == tasks.make_ready(encoded(Asked(bots=(bot,), isolation="none")))
    asked = order(1, PLAN, [SandboxedBot(bot)], tmp_path / "m.jsonl")
    return Ordered(arena="an arena", slots=1, isolation="none", order=Raw(encoded(asked)))


def test_a_transcript_comes_back_and_nothing_of_it_stays(ordered: Ordered, node: Node, tmp_path: Path) -> None:
    answer = received(tasks.play(encoded(ordered)), tmp_path / "m.jsonl")
    assert isinstance(answer, Done)
    assert LINE == (tmp_path / "m.jsonl").read_bytes()
    assert [False] == [folder.exists() for folder in node.folders]


def test_a_transcript_goes_to_the_store_if_there_is_one_and_is_not_returned(
    ordered: Ordered, node: Node, tmp_path: Path
) -> None:
    words = tasks.play(encoded(replace(ordered, store="memory://cluster/cup")))
    answer = received(words, tmp_path / "m.jsonl")
    assert isinstance(answer, Done)
    assert "memory:///cluster/cup/m.jsonl" == answer.result.transcript
    assert LINE == fsspec.filesystem("memory").cat_file(answer.result.transcript)
    assert not (tmp_path / "m.jsonl").exists()


def test_an_unplayed_match_has_nothing_to_store(ordered: Ordered, node: Node, tmp_path: Path) -> None:
    node.gone = True
    answer = received(tasks.play(encoded(replace(ordered, store="memory://cluster/none"))), tmp_path / "m.jsonl")
    assert ("gone", "its process was killed") == (getattr(answer, "kind", ""), getattr(answer, "text", ""))


def test_a_folder_that_cannot_be_removed_costs_no_match(
    ordered: Ordered, node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network's file system keeps what somebody has open."""

    def kept(path: object, **_: object) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy", str(path))

    with monkeypatch.context() as there:
        there.setattr(os, "rmdir", kept)
        words = tasks.play(encoded(ordered))
    assert isinstance(received(words, tmp_path / "m.jsonl"), Done)
    (folder,) = node.folders
    shutil.rmtree(folder)
