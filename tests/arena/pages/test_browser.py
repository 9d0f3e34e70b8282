"""Pages of competitions in Chromium: from a server that forbids inline scripts and styles, and from a disk."""

import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Route, expect

from arena.pages import Competition, Website
from arena.tournament import TRANSCRIPTS
from arena.web.catalog import competitions_in, seasons_in
from arena.web.server import POLICY
from referee.transcript import verify_transcript
from tests.arena.in_browser import Opened
from tests.arena.pages.folders import body_of, folder_of
from tests.arena.season.seasons import STAGES, league, playing
from tests.arena.simulated import result, tournament
from tests.arena.viewer.matches import HOSTILE, written
from tests.hostile_names import NAMES

expect.set_options(timeout=60_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
PAGES = (
    "index.html", "hostile/index.html", "hostile/bots.html", "hostile/bot/0.html", "hostile/matches.html",
    "hostile/match/1a.html", "hostile/schedule.html", "twenty/index.html", "five/index.html", "test/index.html",
)  # fmt: skip
IN_DARK = {"hostile/index.html", "hostile/match/1a.html", "test/index.html"}
"""Those with all that has a colour: tables, seats, charts."""
FITS = "twenty/index.html"
"""It must fit; what axe-core would look at is on the page of five, too, and far less of it."""
COLUMN = """(place) => [...document.querySelector("table[data-sort]").tBodies[0].rows]
  .map((row) => row.cells[place].textContent)"""


@pytest.fixture(scope="module")
def website(tmp_path_factory: pytest.TempPathFactory) -> Website:
    """Simulated competitions. One is between bots with hostile names; a match of it has a transcript."""
    folder = tmp_path_factory.mktemp("competitions")
    rng = np.random.default_rng(1)
    names = [HOSTILE, "l" * 10_000, *list(NAMES.values())[:10]]
    played = tournament(rng, np.zeros(12), 2, 1, alike=0.3, ties=0.2)
    transcript = written("mist", folder / "match.jsonl", note=HOSTILE)
    head = verify_transcript(transcript).head
    hostile = folder_of(
        folder / "hostile", names, [result(0, 0, played[0].entrants, [[0], [1]], head=head), *played[1:]]
    )
    (hostile / TRANSCRIPTS).mkdir()
    shutil.copy(transcript, hostile / TRANSCRIPTS / "00001a.jsonl")
    many = tournament(rng, np.linspace(-1, 1, 20), 2, 1, alike=0.3, ties=0.2)
    folder_of(folder / "twenty", [f"a_bot_with_a_long_name_{number}" for number in range(20)], many)
    five = tournament(rng, np.linspace(-1, 1, 8), 5, 10, alike=0.2, ties=0.2)
    folder_of(folder / "five", [f"hive_{n}" for n in range(8)], five, blocks=10, rotations=5, game="hive-mind")
    better = [result(block, 0, (0, 1), [[1], [0]] if rng.random() < 0.6 else [[0], [1]]) for block in range(90)]
    back = [result(each.block, 1, (1, 0), [[0], [1]]) for each in better]
    both = sorted([*better, *back], key=lambda each: each.block)
    terms: dict[str, Any] = {"elo0": 0.0, "elo1": 30.0, "alpha": 0.05, "beta": 0.05, "model": "normalized"}
    tested: dict[str, Any] = {f"test__{name}": value for name, value in terms.items()}
    folder_of(folder / "test", ["base", "head"], both, format=None, blocks=None, **tested)
    return Website(
        [Competition(each, folder / each) for each in ("hostile", "twenty", "five", "test")], live=False
    )


@pytest.fixture(scope="module")
def site(website: Website) -> Iterator[str]:
    """The address of a server of these pages, which have the policy that `arena serve` gives them."""

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
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def on_disk(website: Website, folder: Path, *paths: str) -> None:
    """Writes these pages, and what all share."""
    for path in (*website.shared_paths(), *paths):
        page = body_of(website, path)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(page)


@pytest.mark.parametrize("path", PAGES)
def test_each_page_fits_and_has_no_serious_fault_of_accessibility(path: str, opened: Opened, site: str) -> None:
    """Hostile names are text on it: none is markup, and none makes the page wider than the screen."""
    answer = opened.page.goto(site + path)
    assert answer is not None
    assert 200 == answer.status
    opened.pictures(path.removesuffix(".html").replace("/", "-"))
    for details in opened.page.locator("details > summary").all():
        details.click()
    opened.resize({"width": 360, "height": 900})
    opened.resize({"width": 1280, "height": 900})
    assert path == FITS or [] == opened.faults_of_accessibility(dark=path in IN_DARK)
    assert 0 == opened.page.locator("img:not(.board), b, i, iframe, object, body style").count()
    assert 1 == opened.page.locator("script").count()
    assert "\u202e" not in opened.page.content()
    if path == "hostile/index.html":
        assert "<img src=x" in opened.page.inner_text("main")


def test_bots_and_matches_are_found_and_led_to(opened: Opened, site: str) -> None:
    page = opened.page
    page.goto(f"{site}twenty/match/1a.html")
    page.get_by_role("link", name="Bots").click()
    page.get_by_label("Find a bot").fill("NAME_17")
    page.get_by_role("search").get_by_role("link", name="a_bot_with_a_long_name_17").click()
    expect(page.locator("h1")).to_have_text("a_bot_with_a_long_name_17")
    page.get_by_role("link", name="Matches", exact=True).click()
    page.get_by_label("Go to match").fill("7")
    page.get_by_role("button", name="Go").click()
    expect(page.locator("h1")).to_have_text("Match 7a")


def test_plain_files_are_the_same_pages(opened: Opened, website: Website, tmp_path: Path) -> None:
    """Opened from a disk they have their looks, sort and search their tables, and follow nothing."""
    on_disk(website, tmp_path, "twenty/index.html")
    page = opened.page
    page.goto(f"file://{tmp_path}/index.html")
    page.get_by_role("link", name="twenty").click()
    expect(page.locator("h1")).to_have_text("twenty")
    assert 0 == page.locator("[data-live]").count()
    button = page.get_by_role("button", name="mean points")  # an arrow joins its name
    for order in ("descending", "ascending"):
        button.press("Enter") if order == "ascending" else button.click()
        sorted_by = page.locator(f"th[aria-sort={order}]")
        expect(sorted_by).to_have_text("mean points")
        place = sorted_by.evaluate("(head) => head.cellIndex")
        values = [float(each) for each in page.evaluate(COLUMN, place)]
        assert sorted(values, reverse=order == "descending") == values
        assert values[0] != values[-1]
    page.get_by_label("Find a bot").fill("NAME_7")
    expect(page.get_by_role("search").get_by_role("link")).to_have_count(1)
    opened.pictures("site-from-a-disk")


def test_a_board_is_hidden_until_its_style_is_there(opened: Opened, site: str) -> None:
    """Without its style all its shapes are black."""
    page, held = opened.page, list[Route]()
    page.route("**/drawing.*.css", lambda route: held.append(route))  # noqa: PLW0108 - it must be a function
    page.goto(f"{site}game/mist.html", wait_until="domcontentloaded")
    boards = page.locator("#board")
    expect(boards.first).to_be_attached()
    expect(boards.first).to_be_hidden()
    for route in held:
        route.continue_()
    page.unroute("**/drawing.*.css")
    expect(boards.first).to_be_visible()


def test_a_seasons_page_fits_and_everybody_can_read_it(opened: Opened, tmp_path: Path) -> None:
    """Four groups and a bracket of eight; a bot has a name of forty characters."""
    stages = STAGES.replace("groups = 2", "groups = 4")
    file = league(tmp_path, stages, bots="abcdefghijklmnopq")
    long = file.parent / "a bot whose name has forty characters ok"
    (file.parent / "a").rename(long)
    file.write_text(file.read_text().replace('"a"', f'"{long.name}"'))
    playing(file, last="final")
    competitions = competitions_in([file])
    paths = [f"{path}/index.html" for path in ("league", "league-groups-a", "league-final")]
    on_disk(Website(competitions, live=False, seasons=seasons_in(competitions)), tmp_path / "site", *paths)
    for path in ("index.html", *paths):
        opened.page.goto(f"file://{tmp_path}/site/{path}")
        opened.pictures(f"season-{path.removesuffix('.html').replace('/', '-')}")
        opened.resize({"width": 360, "height": 900})
        opened.resize({"width": 1280, "height": 900})
        if path in {"league/index.html", "league-final/index.html"}:
            assert [] == opened.faults_of_accessibility(), path


def test_a_replay_is_drawn_with_shared_files_from_a_server_and_from_a_disk(
    opened: Opened, site: str, website: Website, tmp_path: Path
) -> None:
    page = opened.page
    page.goto(f"{site}hostile/match/1a.html")
    page.get_by_role("link", name="Watch the replay").click()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#board svg").count() > 0
    page.get_by_role("link", name="Back to the match").click()
    expect(page.locator("h1")).to_have_text("Match 1a")
    page.go_back()
    path = page.url.removeprefix(site).partition("#")[0]
    on_disk(website, tmp_path, path)
    opened.open(tmp_path / path)
    assert page.locator("#board svg").count() > 0
    page.get_by_role("link", name="All competitions").click()
    expect(page.locator("h1")).to_have_text("Competitions")


@pytest.mark.parametrize("from_disk", [False, True])
def test_matches_are_filtered_by_bot_opponent_and_seat(
    website: Website, opened: Opened, site: str, tmp_path: Path, from_disk: bool
) -> None:
    page = opened.page
    on_disk(website, tmp_path, "twenty/matches.html")
    page.goto(f"file://{tmp_path}/twenty/matches.html" if from_disk else f"{site}twenty/matches.html")
    rows = page.locator("tbody tr:visible")
    whole = rows.count()
    label = page.locator("[name=bot] option").nth(1).inner_text()
    page.locator("[name=bot]").select_option(index=1)
    of_bot = rows.count()
    assert 0 < of_bot < whole
    said = f"{of_bot} of the {whole} matches on this page · all matches of {label}"
    assert said == page.inner_text(".filters [role=status]")
    assert of_bot == rows.filter(has=page.get_by_text(label, exact=True)).count()
    page.locator("[name=seat]").select_option("0")
    in_seat = rows.count()
    page.locator("[name=seat]").select_option("1")
    assert of_bot == in_seat + rows.count()
    page.locator("[name=opponent]").select_option(index=1)  # A bot does not meet itself.
    assert 0 == rows.count()
    if not from_disk:
        page.reload()
        assert 0 == rows.count(), "the address keeps the choice"
    assert [] == opened.complaints


def test_a_filter_looks_through_older_pages_when_it_is_asked_to(opened: Opened, site: str) -> None:
    """There are 380 matches, on four pages; each bot plays 38."""
    page = opened.page
    page.goto(f"{site}twenty/matches.html")
    further = page.get_by_role("button", name="Look through older pages")
    expect(further).to_be_hidden()
    page.locator("[name=bot]").select_option(index=1)
    further.click()
    expect(page.locator(".filters [role=status]")).to_contain_text("38 of the 380 matches on 4 pages")
    expect(further).to_be_hidden()
    assert 38 == page.locator("tbody tr:visible").count()
    page.locator("[name=seat]").select_option("0")
    assert 19 == page.locator("tbody tr:visible").count()
    page.locator("tbody tr:visible").last.get_by_role("link").first.click()
    expect(page.locator("h1")).to_be_visible()
    assert [] == opened.complaints
