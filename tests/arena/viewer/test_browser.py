"""The page in Chromium: driven by keyboard and mouse, without an error, each seat's eyes as its bot was told."""

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from arena.replay import recording_of, recording_of_seat
from arena.viewer import page_of
from protocol.codec import decode_server_message
from protocol.messages import Opened as OpenedWindow
from referee.match import Out
from referee.transcript import read_transcript, seat_lines
from tests.arena.in_browser import Opened
from tests.arena.viewer.matches import HOSTILE, LONG_NOTE, SEATS, VARIANTS, written

expect.set_options(timeout=60_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
STEPS = 30
"""So many are drawn with all eyes."""
NOT_DRAWN = {"", "this cannot be drawn", "no board"}
MATCHES = {
    **{game: (game, VARIANTS[game]) for game in SEATS},
    "mist-swapped": ("mist", "heaven-and-hell"),
    "hive-mind-tempo-up": ("hive-mind", "tempo-up"),
    "hive-mind-gauntlet": ("hive-mind", "gauntlet"),
}
"""Game and variant, by name."""

# Each step's heading, pictures and list of what is known, as the page shows them.
GO_THROUGH = """(most) => {
  const slider = document.getElementById("slider"), words = document.getElementById("words"), steps = [];
  const read = (node) => {
    const list = node.querySelector(":scope > dl");
    if (!list) return node.textContent;
    const made = {};
    const names = list.querySelectorAll(":scope > dt");
    for (const name of names) made[name.textContent] = read(name.nextElementSibling);
    return made;
  };
  words.open = true;
  for (let at = 1; at <= Math.min(most ?? Infinity, Number(slider.max)); at += 1) {
    slider.value = at;
    slider.dispatchEvent(new Event("input"));
    words.dispatchEvent(new Event("toggle"));
    const part = (id) => document.getElementById(id);
    steps.push([part("heading").textContent, part("board").innerHTML, read(part("view"))]);
  }
  return steps;
}"""


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("pages")

    def of(name: str) -> Path:
        path = folder / f"{name}.jsonl"
        if not path.exists():
            game, variant = MATCHES[name]
            written(game, path, variant=variant, name=HOSTILE, note=LONG_NOTE)
        return path

    return of


@pytest.fixture(scope="module")
def pages(transcripts: Callable[[str], Path]) -> Callable[[str], Path]:
    def of(name: str) -> Path:
        path = transcripts(name).with_suffix(".html")
        if not path.exists():
            path.write_text(page_of(recording_of(transcripts(name))))
        return path

    return of


def at(page: Page, step: int) -> None:
    expect(page.locator("#where")).to_have_text(f"{step} / {page.get_attribute('#slider', 'max')}")


def test_scores_are_drawn_as_far_as_one_has_looked(opened: Opened, pages: Callable[[str], Path]) -> None:
    page = opened.open(pages("hive-mind"))
    last = int(page.get_attribute("#slider", "max") or 0)

    def farthest() -> float:
        lines = page.locator("#curve polyline").evaluate_all("all => all.map(one => one.getAttribute('points'))")
        return max((float(point.split(",")[0]) for line in lines for point in line.split()), default=0.0)

    began = farthest()
    page.locator("#slider").fill(str(last // 2))
    middle = farthest()
    page.click("#last")
    end = farthest()
    assert began < middle < end
    page.click("#first")
    assert end == farthest(), "who has seen the end may look ahead"


def test_a_match_is_gone_through_by_keyboard_and_mouse(opened: Opened, pages: Callable[[str], Path]) -> None:
    page = opened.open(pages("mist"))
    last = int(page.get_attribute("#slider", "max") or 0)
    body = page.locator("body")
    for step in range(1, 5):
        at(page, step)
        body.press("ArrowRight")
    body.press("ArrowLeft")
    at(page, 4)
    body.press("Home")
    at(page, 1)
    page.click("#last")
    at(page, last)
    page.click("#back")
    at(page, last - 1)
    page.click("#first")
    at(page, 1)
    page.click("#next")
    at(page, 2)
    page.click('#rows [data-step="0"]')
    at(page, 1)
    page.locator("#slider").fill("2")
    at(page, 2)
    page.select_option("#speed", label="60 / s")
    page.click("#play")
    at(page, last)
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play")


@pytest.mark.parametrize("name", SEATS)
def test_each_game_fits_a_phone_and_a_large_screen(
    name: str, opened: Opened, pages: Callable[[str], Path]
) -> None:
    page = opened.open(pages(name), "#step=3")
    opened.pictures(f"replay-{name}")
    page.select_option("#eyes", "1")
    opened.pictures(f"replay-{name}-seat-1")
    opened.resize({"width": 3840, "height": 2160})


@pytest.mark.parametrize("name", SEATS)
def test_names_of_40_characters_keep_the_board_in_its_place(
    name: str, opened: Opened, transcripts: Callable[[str], Path]
) -> None:
    recording = recording_of(transcripts(name))
    recording.names = [f"{seat:02}{'W' * 36}{seat:02}" for seat in range(SEATS[name])]
    wide = transcripts(name).with_name(f"{name}-wide.html")
    wide.write_text(page_of(recording))
    page = opened.open(wide, "#step=9999")
    opened.resize({"width": 360, "height": 740})
    board = page.locator("#stage").bounding_box()
    assert board is not None
    pictures = page.locator("#board svg[role=img], #more svg[role=img]").all()
    assert pictures
    for box in (each.bounding_box() for each in pictures):
        assert box is not None
        assert board["x"] <= box["x"]
        assert box["x"] + box["width"] <= board["x"] + board["width"]


@pytest.mark.parametrize("name", SEATS)
def test_a_page_has_no_serious_fault_of_accessibility(
    name: str, opened: Opened, pages: Callable[[str], Path]
) -> None:
    page = opened.open(pages(name), "#step=3")
    page.click("#words summary")
    # What a seat does not see is drawn alike everywhere, and most of it in mist.
    for eyes in ("host", "1") if name == "mist" else ("host",):
        page.select_option("#eyes", eyes)
        assert [] == opened.faults_of_accessibility()


@pytest.mark.parametrize("name", MATCHES)
def test_each_step_is_drawn_and_the_eyes_of_a_seat_are_those_of_its_own_file(
    name: str, opened: Opened, transcripts: Callable[[str], Path], pages: Callable[[str], Path]
) -> None:
    """Word by word what its bot was sent, and drawn as the page of its own file draws it."""
    # In mist the two are told most differently; elsewhere one seat shows what all keep.
    for seat in (0, 1) if name == "mist" else (1,):
        recording = recording_of(transcripts(name))
        # The file of one seat knows no other bot's name.
        recording.names = ["" if other != seat else its for other, its in enumerate(recording.names)]
        nameless = transcripts(name).with_name(f"{name}-nameless-{seat}.html")
        nameless.write_text(page_of(recording))
        whole = opened.open(nameless, f"#eyes={seat}").evaluate(GO_THROUGH)
        assert not NOT_DRAWN & {heading for heading, _, _ in whole}
        own_file = transcripts(name).with_name(f"{name}-seat-{seat}.jsonl")
        own_file.write_bytes(b"".join(seat_lines(read_transcript(transcripts(name)), seat)))
        own_page = own_file.with_suffix(".html")
        own_page.write_text(page_of(recording_of_seat(own_file)))
        own = opened.open(own_page).evaluate(GO_THROUGH)
        sent = [in_words(view) for view in views_sent(transcripts(name), seat)]
        assert sent
        known = [words for _, _, words in own[:-1]]
        assert [view for view, _ in groupby(sent)] == [view for view, _ in groupby(known)]
        drawn = iter(whole)
        # The seat's own file has a step a window of its own; the whole match has those of others between.
        assert all(any(step == each for each in drawn) for step in own[:-1])
    page = opened.open(pages(name))
    for eyes in ("host", "spectator"):
        page.select_option("#eyes", eyes)
        headings = [heading for heading, _, _ in page.evaluate(GO_THROUGH, STEPS)]
        assert len(headings) > 2
        assert not NOT_DRAWN & set(headings)


def views_sent(transcript: Path, seat: int) -> list[Any]:
    frames = [each for each in read_transcript(transcript) if isinstance(each, Out) and each.seat == seat]
    messages = [decode_server_message(bytes(each.frame)) for each in frames]
    return [each.view for each in messages if isinstance(each, OpenedWindow)]


def is_something(value: Any) -> bool:
    """Whether anything in a value is there."""
    if isinstance(value, dict | list):
        return any(map(is_something, value.values() if isinstance(value, dict) else value))
    return value is not None and value != ""


def without_usual(named: dict[str, Any]) -> dict[str, Any]:
    """Six or more entries with one simple value are said at once, if they are half of all."""
    spelled = {name: json.dumps(each) for name, each in named.items() if not isinstance(each, dict | list)}
    usual, often = next(iter(Counter(spelled.values()).most_common(1)), ("", 0))
    if often < 6 or 2 * often < len(named):
        return named
    others = {name: each for name, each in named.items() if spelled.get(name) != usual}
    return others | {"all others" if others else "all": json.loads(usual)}


def in_words(value: Any) -> Any:
    """A view as the page says it: names with what stands under them, and lists of simple things in one line."""
    if isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        return ", ".join("none" if each is None else str(each) for each in value) or "none"
    if isinstance(value, list):
        value = {str(at): each for at, each in enumerate(value)}
    if isinstance(value, dict):
        there = {name.replace("_", " "): each for name, each in value.items() if is_something(each)}
        return {name: in_words(each) for name, each in without_usual(there).items()}
    if isinstance(value, str):
        return value
    return {"null": "none", "true": "yes", "false": "no"}.get(json.dumps(value), json.dumps(value))


def test_the_mist_of_a_seat_covers_what_its_bot_was_not_shown(
    opened: Opened, transcripts: Callable[[str], Path], pages: Callable[[str], Path]
) -> None:
    page = opened.open(pages("mist"), "#eyes=1")
    shown = set()
    for step in range(1, int(page.get_attribute("#slider", "max") or 0)):
        at(page, step)
        cells = page.locator(".cell:not(.unseen) title").all_text_contents()
        shown.add(frozenset(cell.split(":")[0] for cell in cells))
        page.locator("body").press("ArrowRight")
    sent = {frozenset(view["visible"]) for view in views_sent(transcripts("mist"), 1)}
    assert len(sent) > 2
    assert sent <= shown
    page.keyboard.press("h")
    page.locator("body").press("ArrowLeft")
    expect(page.locator(".cell.unseen")).to_have_count(0)


def test_names_and_notes_of_others_are_text(opened: Opened, pages: Callable[[str], Path]) -> None:
    page = opened.open(pages("mist"))
    page.click("#told summary")
    for step in range(1, 14):
        at(page, step)
        assert 0 == page.locator("img").count()
        if page.locator("#facts .note").count():
            assert "</script><script>alert(1)</script><img src=x" in page.inner_text("#facts .note")
            break
        page.locator("body").press("ArrowRight")
    else:
        pytest.fail("no step shows the note")
    assert "&amp;" in page.inner_text("#standing")
    assert "\\u202egnp" in page.inner_text("#standing")
    page.keyboard.press("1")
    expect(page.locator("#facts .note")).to_have_count(0)


def test_a_name_of_10_000_characters_leaves_room_for_the_rest(opened: Opened, tmp_path: Path) -> None:
    recording = recording_of(written("mist", tmp_path / "m.jsonl"))
    recording.names = ["<b>\u202e" + "long" * 2_500, *recording.names[1:]]
    (tmp_path / "m.html").write_text(page_of(recording))
    page = opened.open(tmp_path / "m.html", "#step=3")
    opened.resize({"width": 360, "height": 800})
    box = page.locator("#standing li").first.bounding_box()
    assert box is not None
    assert box["height"] < 200
    assert "<b>" in page.inner_text("#standing")


def test_a_link_opens_a_step_with_its_eyes(opened: Opened, pages: Callable[[str], Path]) -> None:
    page = opened.open(pages("mist"), "#step=5&eyes=1")
    assert page.inner_text("#where").startswith("5 / ")
    assert "1" == page.input_value("#eyes")
    page.evaluate("location.hash = '#step=99999&eyes=<b>'")
    expect(page.locator("#where")).to_have_text("13 / 13")
    assert "1" == page.input_value("#eyes")
    page.locator("body").press("ArrowLeft")
    expect(page).to_have_url(f"file://{pages('mist')}#step=12&eyes=1")


def test_a_row_of_the_list_stays_the_row_of_its_step(opened: Opened, tmp_path: Path) -> None:
    """Rows come and go as the list is scrolled; what is clicked is what was seen."""
    written("mist", tmp_path / "m.jsonl", turns=60)
    (tmp_path / "m.html").write_text(page_of(recording_of(tmp_path / "m.jsonl")))
    page = opened.open(tmp_path / "m.html", "#step=40")
    row = page.locator('#rows [data-step="30"]').element_handle()
    assert row is not None
    page.evaluate("document.getElementById('steps').scrollTop -= 60")
    row.click()
    at(page, 31)
    row.press("ArrowDown")
    at(page, 32)
    expect(page.locator('#rows [data-step="31"]')).to_be_focused()
    assert 1 == page.locator('#rows button[tabindex="0"]').count()


def test_every_control_is_reached_by_tab_and_shows_it(opened: Opened, pages: Callable[[str], Path]) -> None:
    page = opened.open(pages("mist"), "#step=3")
    order = ["eyes", "said", "BUTTON", "BUTTON", "slider", "first", "back", "play", "next", "key-next", "last"]
    order += ["speed", "loop", "full", "link", "keys", "BUTTON", "SUMMARY", "SUMMARY"]
    reached = []
    for _ in order:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        assert "solid" == page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert order == reached


def test_a_screen_reader_hears_the_step_and_finds_the_board_in_words(
    opened: Opened, pages: Callable[[str], Path]
) -> None:
    page = opened.open(pages("mist"), "#step=4&eyes=1")
    page.locator("body").press("ArrowRight")
    expect(page.locator("#live")).to_contain_text("Step 5 of 13, showing what bot-1 sees.")
    for name in ("The board", "Controls", "Bots and scores", "All steps"):
        expect(page.get_by_role("region", name=name, exact=True)).to_be_visible()
    expect(page.locator("#board [role=img]")).to_have_attribute(
        "aria-label", re.compile("in mist: [0-9]+ of 61 hexes")
    )
    page.click("#words summary")
    expect(page.locator("#view")).to_contain_text("in mist:")


def test_reserve_that_was_used_is_seen_in_the_bars(opened: Opened, tmp_path: Path) -> None:
    written("mist", tmp_path / "m.jsonl", main_ms=20, reserve_ms=5_000)
    (tmp_path / "m.html").write_text(page_of(recording_of(tmp_path / "m.jsonl")))
    page = opened.open(tmp_path / "m.html", "#step=1")
    page.click("#told summary")
    assert 2 == page.get_by_text("reserve 5.0 s of 5.0 s").count()
    page.locator("body").press("End")
    expect(page.get_by_text("used 50 ms, main 20 ms")).to_have_count(2)
    expect(page.get_by_text("reserve 4.8 s of 5.0 s")).to_have_count(2)
