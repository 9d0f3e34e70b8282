"""Pages in Chromium, from a server that forbids inline scripts and styles: sorted, searched, at two widths."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from arena.pages import Competition, Website, replay_path
from arena.tournament import TRANSCRIPTS
from referee.transcript import verify_transcript
from tests.arena.pages.folders import folder_of
from tests.arena.simulated import result, tournament
from tests.arena.viewer.matches import HOSTILE, written

expect.set_options(timeout=30_000)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="there is no Chromium on this machine: scripts/chromium installs it"
    ),
]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self';"
    " form-action 'none'"
)


@contextmanager
def served(website: Website) -> Iterator[str]:
    """A server of these pages; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = website.page(self.path.lstrip("/").partition("?")[0])
            self.send_response(404 if page is None else 200)
            self.send_header("content-security-policy", POLICY)
            self.send_header("content-type", "text/plain" if page is None else page.kind)
            self.end_headers()
            self.wfile.write(b"" if page is None else page.body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def website(tmp_path_factory: pytest.TempPathFactory) -> Website:
    """A cup of twelve with strangers' names, of which one match has its transcript; and a regression test."""
    place = tmp_path_factory.mktemp("runs")
    names = [HOSTILE, "a bot whose name has forty characters ok", *(f"bot_{number}" for number in range(10))]
    played = tournament(np.random.default_rng(2), np.linspace(-1, 1, 12), 2, 1, alike=0.3, ties=0.2)
    transcript = written("mist", place / "match.jsonl", note=HOSTILE)
    head = verify_transcript(transcript).head
    first = result(0, 0, played[0].entrants, [[0], [1]], head=head)
    folder = folder_of(place / "cup", names, [first, *played[1:]])
    (folder / TRANSCRIPTS).mkdir()
    shutil.copy(transcript, folder / TRANSCRIPTS / "00001a.jsonl")
    luck = np.random.default_rng(4)
    test = [
        result(block, seating, ((0, 1), (1, 0))[seating], [[0], [1]] if luck.random() < 0.5 else [[1], [0]])
        for block in range(40)
        for seating in (0, 1)
    ]
    terms: dict[str, Any] = {"test__elo0": 0.0, "test__elo1": 30.0}
    regression = folder_of(place / "regress", ["base", "head"], test, format=None, blocks=None, **terms)
    return Website([Competition("cup", folder), Competition("regress", regression)], live=False)


@pytest.fixture
def page(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield page, complaints
    context.close()


PATHS = [
    "index",
    "cup/index",
    "cup/matches",
    "cup/match/0-0",
    "cup/bots",
    "cup/bot/0",
    "cup/schedule",
    "regress/index",
]


@pytest.mark.parametrize("width", [360, 1280])
def test_no_page_complains_or_is_wider_than_the_screen(
    website: Website, page: tuple[Page, list[str]], width: int, tmp_path: Path
) -> None:
    tab, complaints = page
    tab.set_viewport_size({"width": width, "height": 800})
    with served(website) as address:
        for path in PATHS:
            tab.goto(f"{address}/{path}.html")
            assert 0 >= tab.evaluate("document.documentElement.scrollWidth - innerWidth"), path
            tab.screenshot(path=tmp_path / f"{path.replace('/', '-')}-{width}.png", full_page=True)
    assert [] == complaints


def test_a_table_is_sorted_by_its_heading(website: Website, page: tuple[Page, list[str]]) -> None:
    tab, complaints = page
    with served(website) as address:
        tab.goto(f"{address}/cup/index.html")
        heading = tab.locator("section", has_text="Standings").locator("th", has_text="rating").first
        table = heading.locator("xpath=ancestor::table")
        heading.get_by_role("button").click()
        expect(heading).to_have_attribute("aria-sort", "descending")
        falling = table.locator("tbody tr td:nth-child(4)").all_inner_texts()
        assert sorted(map(int, falling), reverse=True) == list(map(int, falling))
        heading.get_by_role("button").press("Enter")
        expect(heading).to_have_attribute("aria-sort", "ascending")
        assert falling[::-1] == table.locator("tbody tr td:nth-child(4)").all_inner_texts()
    assert [] == complaints


def test_a_bot_is_found_by_a_part_of_its_name(website: Website, page: tuple[Page, list[str]]) -> None:
    tab, complaints = page
    with served(website) as address:
        tab.goto(f"{address}/cup/match/0-0.html")
        tab.get_by_role("link", name="Bots").click()
        tab.get_by_label("Find a bot").fill("FORTY")
        tab.get_by_role("search").get_by_role("link").click()
        expect(tab.locator("h1")).to_have_text("a bot whose name has forty characters ok")
        tab.get_by_role("link", name="Matches", exact=True).click()
        tab.get_by_label("Go to block").fill("7")
        tab.get_by_role("button", name="Go").click()
        expect(tab.locator("h1")).to_have_text("Match 7a")
    assert [] == complaints


def test_a_replay_is_drawn_with_shared_files_from_a_server_and_from_a_disk(
    website: Website, page: tuple[Page, list[str]], tmp_path: Path
) -> None:
    tab, complaints = page
    with served(website) as address:
        tab.goto(f"{address}/cup/match/0-0.html")
        tab.get_by_role("link", name="Watch the replay").click()
        tab.wait_for_selector("body[data-ready]")
        path = tab.url.removeprefix(f"{address}/")
    assert 1 == len(tab.locator("#board svg").all())
    head = path.removeprefix("replay/")[:64]
    assert replay_path(head) == path
    for each in (path, *website.shared_paths()):
        found = website.page(each)
        assert found is not None
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).write_bytes(found.body)
    tab.goto(f"file://{tmp_path / path}")
    tab.wait_for_selector("body[data-ready]")
    assert [] == complaints


def test_a_page_from_a_disk_is_sorted_and_searched(
    website: Website, page: tuple[Page, list[str]], tmp_path: Path
) -> None:
    tab, complaints = page
    for each in (*website.shared_paths(), "cup/index.html"):
        found = website.page(each)
        assert found is not None
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).write_bytes(found.body)
    tab.goto(f"file://{tmp_path}/cup/index.html")
    heading = tab.locator("th", has_text="rating").first
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    tab.get_by_label("Find a bot").fill("FORTY")
    expect(tab.get_by_role("search").get_by_role("link")).to_have_count(1)
    assert [] == complaints
