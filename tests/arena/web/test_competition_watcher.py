"""Updates of a server: new competitions, changed ledgers, new feeds, and blocks that count."""

import os
import shutil
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from arena.errors import WrongUse
from arena.feed import Heard
from arena.schedule import match_name
from arena.tournament import FEED_SOCKET, LEDGER
from arena.web.catalog import missing_places
from arena.web.competition_watcher import MOST_SECONDS, CompetitionWatcher
from protocol.codec import encode
from tests.arena.commands.test_report import cup
from tests.arena.web.test_live import BEGUN, ended, window
from tests.builders.tournaments import write_tournament


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    cup(folder)
    return folder / "runs" / "cup"


class Deaf:
    """Hears no feed, and remembers which it was to hear."""

    def __init__(self) -> None:
        self.heard: dict[int, str] = {}

    def hear(self, number: int, endpoint: str) -> None:
        self.heard[number] = endpoint

    def leave(self, number: int) -> None:
        del self.heard[number]

    async def run(self, take: object) -> None:
        await trio.sleep_forever()


class Followed:
    """Folders that are followed."""

    def __init__(self, place: Path, nursery: trio.Nursery, *endpoints: str) -> None:
        self.shown: list[set[str]] = []
        self.watcher = CompetitionWatcher([place], endpoints, nursery)
        self.watcher.show = lambda competitions: self.shown.append(set(competitions))
        self.feeds = Deaf()
        self.watcher._subscriber = self.feeds  # type: ignore[assignment]

    def version(self, path: str) -> Any:
        stream = self.watcher.stream_at(path)
        assert stream is not None
        return stream.snapshot()


@asynccontextmanager
async def followed(place: Path, *endpoints: str) -> AsyncIterator[Followed]:
    async with trio.open_nursery() as nursery:
        made = Followed(place, nursery, *endpoints)
        await made.watcher.scan(first=True)
        made.watcher.begin()
        await made.watcher.look()
        yield made
        nursery.cancel_scope.cancel()


async def test_a_competition_that_comes_is_served(tmp_path: Path, played: Path) -> None:
    shutil.copytree(played, tmp_path / "one")
    async with followed(tmp_path) as made:
        assert [{"one"}] == made.shown
        before = made.version("events")
        shutil.copytree(played, tmp_path / "Two!")
        await made.watcher.scan()
        assert {"one", "two"} == made.shown[-1]
        assert before != made.version("events")
        assert made.watcher.stream_at("two/live/events") is not None
        shutil.rmtree(tmp_path / "one")
        await made.watcher.scan()
        assert {"two"} == made.shown[-1]
        assert made.watcher.stream_at("one/events") is None


async def test_a_competition_keeps_its_name_when_another_of_that_name_comes(tmp_path: Path, played: Path) -> None:
    shutil.copytree(played, tmp_path / "b" / "cup")
    async with followed(tmp_path) as made:
        shutil.copytree(played, tmp_path / "a" / "cup")
        await made.watcher.scan()
        assert {"cup", "cup-2"} == made.shown[-1]
        assert "b" == made.watcher._competitions[tmp_path / "b" / "cup"].folder.parent.name
        assert "cup" == made.watcher._competitions[tmp_path / "b" / "cup"].slug


async def test_a_place_that_is_none_is_wrong_only_at_the_start(tmp_path: Path, nursery: trio.Nursery) -> None:
    (tmp_path / "file").touch()
    made = Followed(tmp_path / "file", nursery)
    with pytest.raises(WrongUse):
        await made.watcher.scan(first=True)
    await made.watcher.scan()


@pytest.mark.parametrize("name", [".", "later", "later/runs"])
async def test_a_folder_that_is_empty_or_not_there_yet_may_be_served(
    tmp_path: Path, played: Path, name: str
) -> None:
    async with followed(tmp_path / name) as made:
        assert [set()] == made.shown
        shutil.copytree(played, tmp_path / name / "cup")
        await made.watcher.scan()
        assert {"cup"} == made.shown[-1]


async def test_a_tournament_that_has_not_begun_may_be_served_by_its_file(tmp_path: Path, played: Path) -> None:
    file = write_tournament(tmp_path / "cup.toml", ["mist_random", "mist_hunter"])
    async with followed(file) as made:
        assert [set()] == made.shown
        shutil.copytree(played, tmp_path / "runs" / "cup")
        await made.watcher.scan()
        assert {"cup"} == made.shown[-1]


def test_a_folder_that_is_not_there_yet_is_named(tmp_path: Path) -> None:
    assert [tmp_path / "later"] == missing_places([tmp_path, tmp_path / "later"])
    with pytest.raises(WrongUse, match=r"typo\.toml: cannot be read: No such file"):
        missing_places([tmp_path / "typo.toml"])


async def test_pages_are_said_to_have_changed_when_the_ledger_has(tmp_path: Path, played: Path) -> None:
    shutil.copytree(played, tmp_path / "cup")
    async with followed(tmp_path) as made:
        before, of_all = made.version("cup/events"), made.version("events")
        await made.watcher.look()
        assert before == made.version("cup/events")
        os.utime(tmp_path / "cup" / LEDGER, ns=(time.time_ns(), time.time_ns()))
        (competition,) = made.watcher._competitions.values()
        competition._until = 0.0  # its stamp is held by the wall's clock
        await made.watcher.look()
        assert before != made.version("cup/events")
        assert of_all != made.version("events")


async def test_the_feed_of_a_running_arena_is_found_in_its_folder(
    tmp_path: Path, played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(played, tmp_path / "cup")
    monkeypatch.chdir(tmp_path / "cup")
    async with followed(tmp_path, "tcp://127.0.0.1:5556") as made:
        assert {0: "tcp://127.0.0.1:5556"} == made.feeds.heard
        Path(FEED_SOCKET).write_text("no socket")
        await made.watcher.look()
        assert 1 == len(made.feeds.heard)
        Path(FEED_SOCKET).unlink()
        with socket.socket(socket.AF_UNIX) as feed:
            feed.bind(FEED_SOCKET)
            await made.watcher.look()
            assert f"ipc://{tmp_path / 'cup' / FEED_SOCKET}" == made.feeds.heard[1]
        Path(FEED_SOCKET).unlink()
        await made.watcher.look()
        assert 1 == len(made.feeds.heard)


async def test_each_feed_speaks_of_its_own_competition_alone(tmp_path: Path, played: Path) -> None:
    shutil.copytree(played, tmp_path / "cup")
    async with followed(tmp_path, "ipc:///elsewhere") as made:
        made.watcher._hear(Heard(0, b"match/m1", encode(BEGUN)))
        assert b"m1" in made.version("live/live/events")
        assert b"m1" not in made.version("cup/live/events")
        assert made.watcher.stream_at("live/live/m1/events") is not None
        assert made.watcher.stream_at("cup/live/m1/events") is None
        assert made.watcher.stream_at("live/live/m2/events") is None


async def test_the_end_of_a_match_is_told_when_its_block_counts_in_the_ledger(
    tmp_path: Path, played: Path
) -> None:
    shutil.copytree(played, tmp_path / "cup")
    async with followed(tmp_path) as made:
        (competition,) = made.watcher._competitions.values()
        counted = next(iter(competition.all_matches()))
        made.watcher._feeds[7] = "cup"
        for name, head in ((b"m1", counted.played.head), (b"m2", "f" * 64)):
            for message in (replace(BEGUN, match=name.decode()), window(1), ended(2, head)):
                made.watcher._hear(Heard(7, b"match/" + name, encode(message)))
        stream = made.watcher.stream_at("cup/live/events")
        assert stream is not None
        assert 2 == stream.snapshot().count(b'"state":"over"')
        await made.watcher.look()
        told = stream.snapshot()
        assert 1 == told.count(b'"state":"over"') == told.count(b'"state":"ended"')
        called = match_name(counted.played.block, counted.played.seating)
        assert f'"link":"match/{called}.html"'.encode() in told


@pytest.mark.parametrize("path", ["", "x/events", "cup/live", "cup/events/", "cup/live/a/b/events", "live/events"])
async def test_there_are_no_other_streams(nursery: trio.Nursery, tmp_path: Path, path: str) -> None:
    assert Followed(tmp_path, nursery).watcher.stream_at(path) is None


@pytest.mark.parametrize(
    ("wall", "processor", "rest"),
    [(0.0, 0.0, 1.0), (60.0, 0.0, 1.0), (0.1, 0.1, 2.0), (60.0, 60.0, MOST_SECONDS)],
    ids=["quick", "beside a busy machine", "some work", "much work"],
)
async def test_looks_rest_by_the_processor_time_that_they_take_and_never_for_long(
    autojump_clock: object, nursery: trio.Nursery, wall: float, processor: float, rest: float
) -> None:
    watcher = CompetitionWatcher([], [], nursery)
    at: list[float] = []

    async def look() -> None:
        at.append(trio.current_time())
        await trio.sleep(wall)
        watcher._spent += processor

    with trio.move_on_after(3 * wall + 4 * rest):
        await watcher._again(1.0, look)
    assert pytest.approx(wall + rest) == at[1] - at[0]


async def test_the_processor_time_of_looks_is_counted(tmp_path: Path, nursery: trio.Nursery) -> None:
    watcher = Followed(tmp_path, nursery).watcher
    await watcher._in_thread(lambda: sum(range(1_000_000)))
    assert watcher._spent > 0.001
