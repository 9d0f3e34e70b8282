"""Transcripts that do not stay in the results folder."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import fsspec
import pytest

from arena.errors import WrongUse
from arena.workers import placement
from arena.workers.api import Worker
from arena.workers.cluster.transfer import Store
from arena.workers.placement import LOCAL, Placement, PoolSetup
from referee.bot_folder.manifest import find_bot
from referee.host.plan import AttemptResult, Plan
from referee.transcript.chain import TranscriptError
from tests.arena.stand_in import result


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "00001a-x[1].jsonl"
    path.write_bytes(b"{}\n")
    path.with_suffix(".seat-0.log").write_bytes(b"said")
    (tmp_path / "00001b.jsonl").touch()
    return path


def test_a_transcript_is_moved_with_its_bots_logs_and_nothing_else(transcript: Path) -> None:
    place = Store("memory://cup/one").move(transcript)
    files = fsspec.filesystem("memory")
    assert ("memory:///cup/one/00001a-x[1].jsonl", b"{}\n") == (place, files.cat_file(place))
    assert {"/cup/one/00001a-x[1].jsonl", "/cup/one/00001a-x[1].seat-0.log"} == set(files.find("/cup/one"))
    assert ["00001b.jsonl"] == [path.name for path in transcript.parent.iterdir()]


def test_a_transcript_of_another_attempt_at_the_match_stays(transcript: Path) -> None:
    others = [transcript.with_name(f"00001a-x[1].2.{end}") for end in ("jsonl.part", "seat-0.log")]
    for other in others:
        other.touch()
    Store("memory://cup/beside").move(transcript)
    assert all(other.exists() for other in others)


def test_one_that_is_there_is_not_written_over(transcript: Path, tmp_path: Path) -> None:
    store = Store(f"file://{tmp_path}/store")
    first = store.move(transcript)
    transcript.write_bytes(b"another")
    assert (f"{first}.2", b"{}\n") == (store.move(transcript), Path(first.removeprefix("file://")).read_bytes())


def test_a_url_that_is_no_store_is_named() -> None:
    with pytest.raises(WrongUse, match=r"^transcripts cannot go to nowhere://x: Protocol not known: nowhere"):
        Store("nowhere://x")


def test_a_transcript_stays_if_the_store_cannot_be_written(transcript: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TranscriptError, match=r"/file/.*: (NotADirectory|FileExists)Error"):
        Store(f"file://{tmp_path}/file").move(transcript)
    assert transcript.exists()


async def test_matches_of_this_machine_can_be_stored_too(
    monkeypatch: pytest.MonkeyPatch, transcript: Path
) -> None:
    async def play(plan: Plan, players: object, *, transcript: Path) -> AttemptResult:
        return result(plan, ("a", "b"), transcript)

    @asynccontextmanager
    async def crew(_: object, **__: object) -> AsyncIterator[list[Worker[object]]]:
        yield [Worker(play=play, slots=1)]

    monkeypatch.setattr(placement, "open_pool", crew)
    where = Placement(on=LOCAL, transcripts="memory://cup/two", concurrency=None, workers=None)
    _, pool = PoolSetup(where=where, isolation="none").pool_for([find_bot("mist_random")])
    async with pool(1) as workers:
        (worker,) = workers if isinstance(workers, list) else []
        played = await worker.play(
            Plan(match="m", game="g", variant="v", seed=0), ["a", "b"], transcript=transcript
        )
    assert "memory:///cup/two/00001a-x[1].jsonl" == played.transcript
