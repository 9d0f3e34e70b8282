"""Pages of competitions in Chromium: served while a tournament runs, and as plain files; with hostile names."""

import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from arena.pages import Competition, Website
from tests.arena.in_browser import Opened
from tests.arena.pages.folders import folder_of
from tests.arena.simulated import result, tournament
from tests.arena.viewer.matches import HOSTILE
from tests.hostile_names import NAMES

expect.set_options(timeout=60_000)
pytestmark = pytest.mark.slow
ARENA = (sys.executable, "-m", "arena")
STARTED = 100
"""Seconds within which a program is there, on a machine that has other things to do."""
ENDED = 240_000
"""Milliseconds within which the tournament is over."""
BLOCKS = 8
CUP = """
game = "mist"
variant = "contractual-obligation"
bots = ["mist_random", "mist_cautious"]
blocks = 8
isolation = "none"
results = "runs/cup"

[policy]
main_ms = 5000
unfair = "note"
"""
PAGES = (
    "index.html", "hostile/index.html", "hostile/bots.html", "hostile/bot/0.html", "hostile/matches.html",
    "hostile/match/0-0.html", "hostile/schedule.html", "twenty/index.html", "five/index.html", "test/index.html",
)  # fmt: skip


COLUMN = """(place) => [...document.querySelector("table[data-sort]").tBodies[0].rows]
  .map((row) => row.cells[place].textContent)"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Competitions of simulated matches, one of them between bots with hostile names."""
    folder = tmp_path_factory.mktemp("competitions")
    luck = np.random.default_rng(1)
    names = [HOSTILE, "l" * 10_000, *list(NAMES.values())[:10]]
    folder_of(folder / "hostile", names, tournament(luck, np.zeros(12), 2, 1, alike=0.3, ties=0.2))
    many = tournament(luck, np.linspace(-1, 1, 20), 2, 1, alike=0.3, ties=0.2)
    folder_of(folder / "twenty", [f"a_bot_with_a_long_name_{number}" for number in range(20)], many)
    five = tournament(luck, np.linspace(-1, 1, 8), 5, 10, alike=0.2, ties=0.2)
    folder_of(folder / "five", [f"hive_{n}" for n in range(8)], five, blocks=10, rotations=5, game="hive-mind")
    better = [result(block, 0, (0, 1), [[1], [0]] if luck.random() < 0.6 else [[0], [1]]) for block in range(90)]
    back = [result(each.block, 1, (1, 0), [[0], [1]]) for each in better]
    both = sorted([*better, *back], key=lambda each: each.block)
    terms: dict[str, Any] = {"elo0": 0.0, "elo1": 30.0, "alpha": 0.05, "beta": 0.05, "model": "normalized"}
    tested: dict[str, Any] = {f"test__{name}": value for name, value in terms.items()}
    folder_of(folder / "test", ["base", "head"], both, format=None, blocks=None, **tested)
    return folder


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


@contextmanager
def served(places: Path, folder: Path) -> Iterator[str]:
    """The address of a server of competitions."""
    with program("serve", "--port", "0", str(places), folder=folder):
        log = folder / "serve.log"
        for _ in range(10 * STARTED):
            if found := re.search(r"http://127\.0\.0\.1:\d+/", log.read_text()):
                break
            time.sleep(0.1)
        else:
            pytest.fail(log.read_text())
        yield found[0]


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(runs, tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.mark.parametrize("path", PAGES)
def test_each_page_fits_and_has_no_serious_fault_of_accessibility(path: str, opened: Opened, site: str) -> None:
    answer = opened.page.goto(site + path)
    assert answer is not None
    assert 200 == answer.status
    assert [] == opened.faults_of_accessibility()
    for details in opened.page.locator("details > summary").all():
        details.click()
    opened.pictures(path.removesuffix(".html").replace("/", "-"))
    assert [] == opened.faults_of_accessibility()


def test_hostile_names_are_text_on_every_page(opened: Opened, site: str) -> None:
    """None of them is markup, and none makes a page wider than the screen."""
    for path in (path for path in PAGES if path.startswith("hostile")):
        opened.page.goto(site + path)
        assert 0 == opened.page.locator("img, b, i, iframe, object, body style").count()
        assert 1 == opened.page.locator("script").count()
        assert "\u202e" not in opened.page.content()
        opened.resize({"width": 360, "height": 800})
        opened.resize({"width": 1280, "height": 900})
    opened.page.goto(f"{site}hostile/index.html")
    assert "<img src=x" in opened.page.inner_text("main")


def test_a_bot_is_found_by_its_name_and_led_to(opened: Opened, site: str) -> None:
    page = opened.page
    page.goto(f"{site}twenty/index.html")
    page.get_by_label("Find a bot").fill("NAME_17")
    page.get_by_role("link", name="a_bot_with_a_long_name_17").first.click()
    expect(page.locator("h1")).to_contain_text("a_bot_with_a_long_name_17")


def test_plain_files_are_the_same_pages(opened: Opened, runs: Path, tmp_path: Path) -> None:
    """Opened from a disk they have their looks, sort their tables, and follow nothing."""
    website = Website([Competition("twenty", runs / "twenty")], live=False)
    for path in (*website.shared_paths(), *website.paths("twenty")):
        page = website.page(path)
        assert page is not None
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(page.body)
    opened.page.goto(f"file://{tmp_path}/index.html")
    opened.page.get_by_role("link", name="twenty").click()
    expect(opened.page.locator("h1")).to_have_text("twenty")
    assert 0 == opened.page.locator("[data-live]").count()
    button = opened.page.get_by_role("button", name="mean points")  # an arrow joins its name
    for order in ("descending", "ascending"):
        button.click()
        sorted_by = opened.page.locator(f"th[aria-sort={order}]")
        expect(sorted_by).to_have_text("mean points")
        place = sorted_by.evaluate("(head) => head.cellIndex")
        values = [float(each) for each in opened.page.evaluate(COLUMN, place)]
        assert sorted(values, reverse=order == "descending") == values
        assert values[0] != values[-1]
    opened.pictures("site-from-a-disk")


def now(page: Page) -> str:
    return page.locator(".state").first.inner_text()


def blocks(page: Page) -> int:
    """How many blocks count, as the page says."""
    found = re.search(r"(\d+) (?:of \d+ )?blocks", now(page))
    assert found, now(page)
    return int(found[1])


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Waits until the page says so. It looks each time that the page has changed, or after a while."""
    for _ in range(600):
        if holds():
            return
        page.wait_for_timeout(200)
    pytest.fail(f"the page says still: {now(page)}")


def results(folder: Path) -> int:
    """How many matches count."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'ledger.sqlite'}?mode=ro", uri=True)) as ledger:
            return int(ledger.execute("SELECT count(*) FROM results").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_pages_follow_a_tournament_and_a_reload_loses_nothing(opened: Opened, tmp_path: Path) -> None:
    """It is stopped and goes on: the pages that are open then show its matches, its blocks and its end."""
    (tmp_path / "cup.toml").write_text(CUP)
    with program("tournament", "cup.toml", folder=tmp_path) as cup:
        while not results(tmp_path / "runs" / "cup"):
            assert cup.poll() is None
            time.sleep(0.1)
    page = opened.page
    with served(tmp_path / "runs", tmp_path) as address:
        page.goto(address)
        page.get_by_role("link", name="cup", exact=True).click()
        before = blocks(page)
        assert before < BLOCKS
        live = page.context.new_page()
        live.goto(f"{address}cup/live.html")
        page.evaluate("window.stayed = true")
        with program("tournament", "cup.toml", "--feed", folder=tmp_path) as cup:
            expect(live.locator("#live [role=img]").first).to_be_visible(timeout=ENDED)
            until(page, lambda: now(page).startswith("finished"))
            assert 0 == cup.wait(STARTED)
        live.close()
        assert page.evaluate("window.stayed"), "the page was loaded anew"
        assert f"finished: {BLOCKS} blocks" in now(page)
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
        expect(page.locator("#facts")).to_contain_text("over (")
