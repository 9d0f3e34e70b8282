"""Pages that are kept: made once for all who ask, and not more often than a busy ledger deserves."""

import os
import time
from pathlib import Path

import pytest
import trio
import trio.testing

from arena.pages import Page, Website
from arena.tournament import LEDGER
from arena.web import cache
from arena.web.cache import SHARE, SOONEST_SECONDS, BusyError, Cache, ServedCompetition
from tests.arena.commands.test_report import cup


class Pages(Website):
    """Makes pages that say how often they were made."""

    def __init__(self) -> None:
        super().__init__((), live=True)
        self.made: list[str] = []
        self.size = 10
        self.for_ever = False

    def page(self, path: str) -> Page | None:
        self.made.append(path)
        return None if path.endswith("none.html") else Page(os.urandom(self.size), for_ever=self.for_ever)


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr("arena.web.cache.time.monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def competition(tmp_path: Path) -> ServedCompetition:
    cup(tmp_path)
    return ServedCompetition("cup", tmp_path / "runs" / "cup")


def played_on(competition: ServedCompetition) -> None:
    """Its ledger is written."""
    os.utime(competition.folder / LEDGER, ns=(time.time_ns(), time.time_ns()))


async def test_a_page_is_made_once_while_nothing_changes(clock: Clock, competition: ServedCompetition) -> None:
    kept, pages, all_ = Cache(), Pages(), {"cup": competition}
    first = await kept.page(pages, "cup/index.html", all_)
    for _ in range(5):
        clock.now += SOONEST_SECONDS + 1
        assert first is await kept.page(pages, "cup/index.html", all_)
    played_on(competition)
    assert first is await kept.page(pages, "cup/index.html", all_)
    clock.now += SOONEST_SECONDS + 1
    assert first is not await kept.page(pages, "cup/index.html", all_)
    assert 2 == len(pages.made)


async def test_many_who_ask_at_once_wait_for_one(clock: Clock, competition: ServedCompetition) -> None:
    kept, pages = Cache(), Pages()
    found = []

    async def ask() -> None:
        found.append(await kept.page(pages, "cup/index.html", {"cup": competition}))

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(ask)
    assert 1 == len(pages.made)
    assert 1 == len(set(map(id, found)))


async def test_what_takes_long_to_make_is_made_seldom(
    clock: Clock, competition: ServedCompetition, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Pages):
        def page(self, path: str) -> Page | None:
            clock.now += 5
            return super().page(path)

    kept, pages, all_ = Cache(), Slow(), {"cup": competition}
    await kept.page(pages, "cup/index.html", all_)
    made_at = clock.now
    while len(pages.made) < 2:
        clock.now += 1
        played_on(competition)
        await kept.page(pages, "cup/index.html", all_)
    assert clock.now - made_at >= SHARE * 5


async def test_a_page_of_no_competition_is_good_for_a_moment(clock: Clock) -> None:
    kept, pages = Cache(), Pages()
    first = await kept.page(pages, "index.html", {})
    assert first is await kept.page(pages, "index.html", {})
    clock.now += SOONEST_SECONDS + 1
    assert first is not await kept.page(pages, "index.html", {})


async def test_what_is_for_ever_is_not_made_again(clock: Clock) -> None:
    kept, pages = Cache(), Pages()
    pages.for_ever = True
    for _ in range(3):
        await kept.page(pages, "replay/x.html", {})
        clock.now += 1_000
    assert 1 == len(pages.made)


async def test_no_more_is_kept_than_there_is_room_for(clock: Clock) -> None:
    kept, pages = Cache(10_000), Pages()
    pages.size, pages.for_ever = 3_000, True
    for name in "abcda":
        await kept.page(pages, f"{name}.html", {})
    assert [*"abcda"] == [path[0] for path in pages.made]
    await kept.page(pages, "d.html", {})
    assert 5 == len(pages.made)


async def test_what_is_not_there_is_not_kept(clock: Clock) -> None:
    kept, pages = Cache(), Pages()
    for _ in range(2):
        assert await kept.page(pages, "none.html", {}) is None
    assert 2 == len(pages.made)


async def test_too_many_who_wait_are_told_so(
    clock: Clock, competition: ServedCompetition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "WAITING", 2)
    kept, pages, outcomes = Cache(), Pages(), []

    async def ask(number: int) -> None:
        try:
            await kept.page(pages, f"cup/{number}.html", {"cup": competition})
        except BusyError:
            outcomes.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(ask, number)
    assert 3 == len(outcomes)
