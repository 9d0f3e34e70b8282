"""Pages that are kept: made once for all who ask, and not more often than a busy ledger deserves."""

import os
import time
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from threading import Event

import pytest
import trio
import trio.testing

from arena.pages import PATHS, Overview, Page, Website
from arena.tournament import LEDGER
from arena.web import cache
from arena.web.cache import (
    MOST_SECONDS,
    PICTURES,
    SHARE,
    SOONEST_SECONDS,
    WAITING,
    BusyError,
    Cache,
    ServedCompetition,
)
from tests.arena.commands.test_report import cup
from tests.arena.pages.folders import body_of


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
        self.spent = 0.0
        """Seconds of processor time."""
        monkeypatch.setattr("arena.web.cache.time.monotonic", lambda: self.now)
        monkeypatch.setattr("arena.web.cache.time.thread_time", lambda: self.spent)


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


class Slow(Pages):
    """Takes its time for each page, and some of a processor's."""

    def __init__(self, clock: Clock, seconds: float, spent: float) -> None:
        super().__init__()
        self._clock, self._seconds, self._spent = clock, seconds, spent

    def page(self, path: str) -> Page | None:
        self._clock.now += self._seconds
        self._clock.spent += self._spent
        return super().page(path)


async def held_for(clock: Clock, competition: ServedCompetition, pages: Slow) -> float:
    """Return for how long a page is held of a competition that changes all the time."""
    kept, all_ = Cache(), {"cup": competition}
    await kept.page(pages, "cup/index.html", all_)
    made_at = clock.now
    while len(pages.made) < 2:
        clock.now += 0.5
        played_on(competition)
        await kept.page(pages, "cup/index.html", all_)
    return clock.now - made_at - pages._seconds


async def test_what_takes_much_processor_time_is_made_seldom(clock: Clock, competition: ServedCompetition) -> None:
    assert SHARE * 0.5 == await held_for(clock, competition, Slow(clock, 0.5, 0.5))


async def test_no_page_is_held_for_longer_than_ten_seconds_after_a_look(
    clock: Clock, competition: ServedCompetition
) -> None:
    assert 4.5 <= await held_for(clock, competition, Slow(clock, 5, 5)) <= MOST_SECONDS


async def test_time_that_others_took_from_the_server_holds_no_page(
    clock: Clock, competition: ServedCompetition
) -> None:
    """A page may take a minute while matches keep all processors busy."""
    assert await held_for(clock, competition, Slow(clock, 60, 0.01)) <= SOONEST_SECONDS


async def test_no_visitor_keeps_the_ledger_from_being_looked_at(
    clock: Clock, competition: ServedCompetition
) -> None:
    kept, pages = Cache(), Slow(clock, 0.4, 0.4)
    looks = []
    for number in range(100):
        await kept.page(pages, f"cup/match/{number}-0.html", {"cup": competition})
        looked = competition._looked
        assert looked is not None
        looks.append(looked[0])
    gaps = [later - earlier for earlier, later in pairwise(sorted(set(looks)))]
    assert gaps
    assert max(gaps) <= MOST_SECONDS + 0.5


async def test_the_page_of_all_competitions_says_what_their_own_pages_say(
    clock: Clock, competition: ServedCompetition
) -> None:
    website = Website((competition,), live=True)
    kept, all_ = Cache(), {"cup": competition}

    before = await kept.page(website, "index.html", all_)
    assert before is await kept.page(website, "index.html", all_)
    played_on(competition)
    clock.now += SOONEST_SECONDS + 0.1
    await kept.page(website, "cup/index.html", all_)
    assert before is not await kept.page(website, "index.html", all_)


async def test_a_page_says_from_when_it_is_if_that_is_long_ago(
    clock: Clock, competition: ServedCompetition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.cache.time.time", lambda: 1_700_000_000.0 + clock.now)
    website = Website((competition,), live=True)
    for path in ("cup/index.html", "cup/matches.html", "index.html"):
        fresh = body_of(website, path)
        assert b"as of" not in fresh

    def slow(competition: ServedCompetition) -> Overview:
        found = read(competition)
        clock.now += MOST_SECONDS + 1
        return found

    read = ServedCompetition.overview
    monkeypatch.setattr(ServedCompetition, "overview", slow)
    clock.now += 100
    looked = clock.now
    for path in ("cup/index.html", "index.html"):
        old = body_of(website, path)
        at = datetime.fromtimestamp(1_700_000_000.0 + looked, UTC)
        assert f">{at:%H:%M:%S} UTC</time>".encode() in old
        looked = clock.now


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


async def test_pictures_leave_room_for_pages(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "WAITING_FOR_PICTURES", 2)
    kept, pages, outcomes = Cache(), Pages(), []

    async def ask(path: str) -> None:
        try:
            await kept.page(pages, path, {})
        except BusyError:
            outcomes.append(path)

    async with trio.open_nursery() as nursery:
        for number in range(4):
            nursery.start_soon(ask, f"picture/{number}.svg")
            nursery.start_soon(ask, f"card/{number}.png")
            nursery.start_soon(ask, f"replay/{number}.html")
    assert 6 == len(outcomes)
    assert {"picture", "card"} >= {path.partition("/")[0] for path in outcomes}


class Stuck(Pages):
    """Never ends with a file of a match before it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_end = Event()

    def page(self, path: str) -> Page | None:
        if path.partition("/")[0] in PATHS:
            self.may_end.wait(60)
        return super().page(path)


async def test_files_of_matches_that_take_long_keep_no_page_waiting(competition: ServedCompetition) -> None:
    kept, pages, all_ = Cache(), Stuck(), {"cup": competition}

    async def ask(path: str) -> None:
        with suppress(BusyError):
            await kept.page(pages, path, all_)

    async with trio.open_nursery() as nursery:
        for folder in PATHS:
            for number in range(WAITING):
                nursery.start_soon(ask, f"{folder}/{number}")
        await trio.testing.wait_all_tasks_blocked()
        try:
            with trio.fail_after(20):
                for path in ("index.html", "cup/index.html", "game/mist.html"):
                    assert await kept.page(pages, path, all_) is not None
            with pytest.raises(BusyError):
                await kept.page(pages, "replay/one-more", all_)
        finally:
            nursery.cancel_scope.cancel()
            pages.may_end.set()


async def test_a_picture_that_takes_long_keeps_no_replay_waiting(competition: ServedCompetition) -> None:
    kept, pages, all_ = Cache(), Pages(), {"cup": competition}
    stuck = Stuck()
    async with trio.open_nursery() as nursery:
        for folder in sorted(PICTURES):
            nursery.start_soon(kept.page, stuck, f"{folder}/x", all_)
        await trio.testing.wait_all_tasks_blocked()
        try:
            with trio.fail_after(20):
                assert await kept.page(pages, "replay/x", all_) is not None
        finally:
            nursery.cancel_scope.cancel()
            stuck.may_end.set()
