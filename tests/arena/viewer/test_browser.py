"""The page in Chromium: driven by keyboard and mouse, without an error, hostile names as text, at three widths."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from arena.replay import recording_of
from arena.viewer import page_of
from tests.arena.viewer.matches import HOSTILE, LONG_NOTE, SEATS, written

expect.set_options(timeout=30_000)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="there is no Chromium on this machine: scripts/chromium installs it"
    ),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


class Opened:
    """A page, and all that it complained of."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self._asked(request.url))

    def _asked(self, url: str) -> None:
        if not url.startswith("file:"):
            self.complaints.append(url)

    def open(self, path: Path, link: str = "") -> Page:
        self.page.goto(f"file://{path}{link}")
        self.page.wait_for_selector("body[data-ready]")
        return self.page


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = Opened(context.new_page())
    yield opened
    context.close()
    assert opened.complaints == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for game in SEATS:
        transcript = written(game, folder / f"{game}.jsonl", name=HOSTILE, note=LONG_NOTE)
        made[game] = folder / f"{game}.html"
        made[game].write_text(page_of(recording_of(transcript)))
    return made


@pytest.mark.parametrize("game", SEATS)
def test_each_game_is_gone_through_by_keyboard_and_mouse(
    game: str, opened: Opened, pages: dict[str, Path]
) -> None:
    page = opened.open(pages[game])
    last = int(page.get_attribute("#slider", "max") or 0)
    assert last > 2
    for eyes in ("host", "spectator", "1"):
        page.select_option("#eyes", eyes)
        page.keyboard.press("Home")
        for step in range(1, min(last, 20) + 1):
            expect(page.locator("#where")).to_have_text(f"{step} / {last}")
            assert page.inner_text("#heading") not in ("", "this cannot be drawn", "no board")
            page.locator("body").press("ArrowRight")
        page.locator("body").press("Home")
    page.click("#last")
    expect(page.locator("#where")).to_have_text(f"{last} / {last}")
    page.click("#back")
    row = page.locator("#rows button").first
    step = int(row.get_attribute("data-step") or 0) + 1
    row.click()
    expect(page.locator("#where")).to_have_text(f"{step} / {last}")
    page.select_option("#speed", label="60 / s")
    page.locator("h1").click()
    page.locator("body").press(" ")
    expect(page.locator("#where")).to_have_text(f"{last} / {last}")
    for width in (360, 1280, 3840):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(f"document.documentElement.scrollWidth === {width}")


def test_names_and_notes_of_others_are_text(opened: Opened, pages: dict[str, Path]) -> None:
    page = opened.open(pages["mist"])
    for _ in range(13):
        page.locator("body").press("ArrowRight")
        assert 0 == page.locator("img").count()
        if page.locator("#facts .note").count():
            assert "</script><script>alert(1)</script><img src=x" in page.inner_text("#facts .note")
            break
    else:
        pytest.fail("no step shows the note")
    assert "\\u202egnp" in page.inner_text("#standing")
    page.keyboard.press("1")
    assert 0 == page.locator("#facts .note").count()


def test_a_link_opens_a_step_with_its_eyes(opened: Opened, pages: dict[str, Path]) -> None:
    page = opened.open(pages["mist"], "#step=5&eyes=1")
    assert page.inner_text("#where").startswith("5 / ")
    assert "1" == page.input_value("#eyes")
    page.evaluate("location.hash = '#step=99999&eyes=<b>'")
    expect(page.locator("#where")).to_have_text("13 / 13")
    assert "1" == page.input_value("#eyes")


def test_the_mist_of_a_seat_hides_what_its_view_does_not_have(opened: Opened, pages: dict[str, Path]) -> None:
    page = opened.open(pages["mist"], "#step=4&eyes=spectator")
    assert 61 == page.locator(".cell.unseen").count()
    page.keyboard.press("h")
    assert 0 == page.locator(".cell.unseen").count()
