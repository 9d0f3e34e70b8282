"""Live pages in Chromium: they follow a real tournament, and on a projector a knock-out match by match."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace
from playwright.sync_api import FloatRect, Page, ViewportSize, expect

from arena.errors import MachineCannot
from arena.feed import FeedLine, open_feed
from arena.tournament import feed_endpoint
from protocol.codec import encode
from protocol.feed import FeedEvent
from tests.arena.commands.test_report import cup
from tests.arena.in_browser import Opened
from tests.arena.stand_in import AtOnce
from tests.arena.web.test_live import BEGUN, FIRST, ended, window

expect.set_options(timeout=60_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
ARENA = (sys.executable, "-m", "arena")
STARTED = 100
"""Seconds within which a program is there, on a machine that has other things to do."""
BLOCKS = 3
CUP = f"""
game = "mist"
variant = "contractual-obligation"
bots = ["mist_random", "patient"]
blocks = {BLOCKS}
isolation = "none"
results = "runs/cup"

[policy]
main_ms = 60000
unfair = "note"
"""
PATIENT = """
import time
from pathlib import Path

from bots.kit import run

HOLD = Path({hold!r})


def decide(window):
    while HOLD.exists():
        time.sleep(0.02)
    return window.default


run(decide)
"""
"""A bot that takes the default, but not while there is a file: a match waits until the browser has shown it."""
TOML = 'name = "patient"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
KNOCK_OUT = """\
game = "mist"
bots = ["any_random", "mist_cautious", "mist_hunter", "mist_random"]
format = "knockout"
blocks = 1
seed = 4
results = "runs/knock-out"
"""


@contextmanager
def program(*arguments: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command of the arena, which is interrupted at the end, and its words in a file of its name."""
    with (folder / f"{arguments[0]}.log").open("wb") as log:
        running = subprocess.Popen([*ARENA, *arguments], cwd=folder, stdout=log, stderr=log)  # noqa: S603 - ours
        try:
            yield running
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(STARTED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder for tournaments, whose folder `runs` is served."""
    made = tmp_path_factory.mktemp("tournaments")
    (made / "runs").mkdir()
    return made


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    """The address of a server of competitions, which finds those that come."""
    with program("serve", "--port", "0", "runs", folder=folder) as server:
        log = folder / "serve.log"
        for _ in range(10 * STARTED):
            if found := re.search(r"http://127\.0\.0\.1:\d+/", log.read_text()):
                break
            time.sleep(0.1)
        else:
            pytest.fail(log.read_text())
        no_longer_nice(server.pid)
        yield found[0]


def no_longer_nice(server: int) -> None:
    """Undo the niceness of a server, which would answer after minutes on a busy machine."""
    for thread in Path(f"/proc/{server}/task").iterdir():
        with suppress(PermissionError):
            os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))
            os.setpriority(os.PRIO_PROCESS, int(thread.name), os.getpriority(os.PRIO_PROCESS, 0))


def now(page: Page) -> str:
    return page.locator(".state").first.inner_text()


def matches(page: Page) -> int:
    """Return the number of matches that count, as the page shows it."""
    found = re.search(r"(\d+) (?:of \d+ )?match", now(page))
    assert found, now(page)
    return int(found[1])


def until(page: Page, holds: Callable[[], bool], do: Callable[[], None] = lambda: None) -> None:
    """Does this until the page says so."""
    for _ in range(600):
        do()
        if holds():
            return
        page.wait_for_timeout(200)
    pytest.fail(f"the page says still: {page.inner_text('main')}")


def box_of(page: Page, part: str) -> FloatRect:
    """Return the place of a part of a live match on the screen."""
    box = page.locator(f"#live .{part}").bounding_box()
    assert box is not None
    return box


def results(folder: Path) -> int:
    """Return the number of matches that count."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'ledger.sqlite'}?mode=ro", uri=True)) as ledger:
            return int(ledger.execute("SELECT count(*) FROM results").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_pages_follow_a_tournament_and_a_reload_loses_nothing(opened: Opened, site: str, folder: Path) -> None:
    """It is stopped and goes on: the pages that are open then show its matches, how far it is and its end."""
    (folder / "cup.toml").write_text(CUP)
    hold = folder / "hold"
    (folder / "patient").mkdir()
    (folder / "patient/bot.py").write_text(PATIENT.format(hold=str(hold)))
    (folder / "patient/bot.toml").write_text(TOML)
    with program("tournament", "cup.toml", folder=folder) as tournament:
        while not results(folder / "runs" / "cup"):
            assert tournament.poll() is None
            time.sleep(0.1)
    page = opened.page
    page.goto(site)
    page.get_by_role("link", name="cup", exact=True).click()
    before = matches(page)
    assert before < 2 * BLOCKS
    live = page.context.new_page()
    live.goto(f"{site}cup/live.html")
    page.evaluate("window.stayed = true")
    hold.touch()
    with program("tournament", "cup.toml", "--feed", folder=folder) as tournament:
        expect(live.locator("#live [role=img]").first).to_be_visible(timeout=STARTED * 1000)
        hold.unlink()
        until(page, lambda: now(page).startswith("finished"))
        assert 0 == tournament.wait(STARTED)
    live.close()
    assert page.evaluate("window.stayed"), "the page was loaded anew"
    assert f"finished: {2 * BLOCKS} matches" in now(page)
    rows = page.locator("table[data-sort]").first.locator("tbody tr")
    expect(rows).to_have_count(2)
    texts = rows.all_inner_texts()
    page.reload()
    assert texts == rows.all_inner_texts()
    opened.pictures("cup-finished")
    page.get_by_role("link", name="Matches").click()
    page.get_by_role("link", name="1a", exact=True).click()
    assert [] == opened.faults_of_accessibility()
    opened.pictures("cup-match")
    page.get_by_role("link", name="Watch the replay").click()
    page.wait_for_selector("body[data-ready]")
    page.locator("body").press("End")
    expect(page.locator("#said")).to_contain_text("over")
    page.get_by_role("link", name="Back to the match").click()
    expect(page.locator("h1")).to_have_text("Match 1a")


def test_a_projector_shows_a_knock_out_match_by_match(opened: Opened, site: str, folder: Path) -> None:
    """Names, board and clocks of a match, its end for a while, then the next match; and the next pairing.

    Of a match of many seats nothing lies over anything else.
    """
    with pytest.raises(MachineCannot):
        cup(folder, KNOCK_OUT, AtOnce(fails_after=2, failure=MachineCannot("enough")))
    page = opened.page
    until(page, lambda: httpx.get(f"{site}knock-out/kiosk.html", timeout=STARTED).status_code == 200)
    page.goto(f"{site}knock-out/kiosk.html")
    pairing = page.locator(".foot")
    expect(pairing).to_have_text("Next: mist_cautious \N{EN DASH} mist_hunter")
    expect(page.locator(".idle table")).to_contain_text("mist_hunter")
    first, second = ("any_random", "mist_random"), ("mist_cautious", "mist_hunter")

    def plays(line: FeedLine, name: str, players: tuple[str, ...], *more: object) -> None:
        begun = replace(BEGUN, match=name, players=players, alone=True)
        for message in (begun, window(1), *more):
            line.publish(f"match/{name}", encode(message))

    def shown() -> list[str]:
        return page.locator("#live article .players .name").all_inner_texts()

    with open_feed(feed_endpoint(folder / "runs" / "knock-out")) as line:
        assert line is not None
        until(page, lambda: shown() == [*first], lambda: plays(line, "m1", first))
        expect(page.locator("#live [role=img]")).to_be_visible()
        clock = page.locator("#live .owes .time")
        began = clock.inner_text()
        assert re.fullmatch(r"(reserve )?\d\.\d s", began)
        until(page, lambda: clock.inner_text() != began)
        assert [] == opened.faults_of_accessibility()
        opened.pictures("kiosk-knock-out")
        plays(line, "m2", second)
        expect(pairing).to_contain_text("Also being played: mist_cautious \N{EN DASH} mist_hunter")
        assert [*first] == shown()
        line.publish("match/m1", encode(ended(2)))
        expect(page.locator("#live .players li", has_text="mist_random").locator(".place")).to_have_text("1st")
        assert "finished" == page.inner_text("#live .state")
        until(page, lambda: shown() == [*second], lambda: plays(line, "m2", second))
        many = tuple(f"a_bot_with_a_long_name_{number}" for number in range(13))
        page.reload()
        said = FeedEvent(n=2, at_ms=2, event=FIRST)
        until(page, lambda: shown() == [*many], lambda: plays(line, "m3", many, said, window(3, 2)))
        expect(page.locator("#live .log li")).to_have_count(1)
        for size in (ViewportSize(width=1280, height=720), ViewportSize(width=360, height=740)):
            opened.resize(size)
            players, log, stage = (box_of(page, part) for part in ("players", "log", "stage"))
            assert players["y"] + players["height"] <= log["y"]
            assert stage["height"] > 200
        alike = tuple(f"the_university_of_the_{place}_end_of_the_long_river_team" for place in "abcdefghijklm")
        opened.resize(ViewportSize(width=1920, height=1080))
        line.publish("match/m3", encode(ended(4)))
        until(page, lambda: "river" in "".join(shown()), lambda: plays(line, "m4", alike))
        assert 13 == len(set(shown()))
        assert all("\N{HORIZONTAL ELLIPSIS}" in name for name in shown())
        names = page.locator("#live .players .name")
        assert names.evaluate_all("(all) => all.every((each) => each.scrollWidth <= each.clientWidth)")
