"""The player of a replay in Chromium: what a step says to whom, key moments, touch, and a cell's history."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from arena.replay import Recording, recording_of
from arena.viewer import page_data, page_of
from protocol.text import Remark
from tests.arena.in_browser import Opened
from tests.arena.viewer.matches import written

expect.set_options(timeout=60_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
POINTER = """([kind, x, y, id]) => {
  const frame = document.getElementById("frame"), box = frame.getBoundingClientRect();
  const [clientX, clientY] = [box.left + x * box.width, box.top + y * box.height];
  const made = { clientX, clientY, pointerId: id, pointerType: "touch", bubbles: true };
  frame.dispatchEvent(new PointerEvent(`pointer${kind}`, made));
}"""
REMARK = "bot-1 joins two groups into one of <b>13</b>"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Return a match of Mist whose fifth and ninth step are key moments."""
    recording = recording_of(written("mist", tmp_path_factory.mktemp("played") / "m.jsonl", name="anna"))
    for at in (4, 8):
        recording.steps[at].remarks.append(Remark(REMARK, (1,), 2))
    return recording


@pytest.fixture(scope="module")
def path(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return its page."""
    path = tmp_path_factory.mktemp("page") / "m.html"
    path.write_text(page_of(recording))
    return path


def finger(page: Page, kind: str, x: float, y: float, number: int = 1) -> None:
    """Put a finger down at a place of the board, move it, or take it up; the place is given in shares."""
    page.evaluate(POINTER, [kind, x, y, number])


def drag(page: Page, x: float, to: float) -> None:
    """Drag a finger sideways over the board."""
    finger(page, "down", x, 0.5)
    finger(page, "move", to, 0.5)
    finger(page, "up", to, 0.5)


def scale(page: Page) -> float:
    """Return by how much the board is enlarged."""
    found: Any = page.evaluate("new DOMMatrix(document.getElementById('board').style.transform).a")
    return float(found)


def test_a_step_opens_with_its_remarks_which_only_all_eyes_see(opened: Opened, path: Path) -> None:
    page = opened.open(path, "#step=5")
    expect(page.locator("#said .w2")).to_have_text(REMARK)
    expect(page.locator('#rows [data-step="4"]')).to_contain_text(REMARK)
    assert not page.is_visible("#facts")
    for eyes in ("spectator", "0", "1"):
        page.select_option("#eyes", eyes)
        expect(page.locator("#live")).to_contain_text(f"showing {page.inner_text('#eyes option:checked')}")
        assert REMARK not in page.inner_text("body")
        assert page.inner_text("#said")
        assert page.is_disabled("#key-next")
    assert "what bot-1 sees" == page.inner_text("#eyes option:checked")


def test_a_page_for_one_viewpoint_holds_no_remark(recording: Recording) -> None:
    assert REMARK in str(page_data(recording))
    for eyes in ("spectator", 0, 1):
        data = page_data(recording, eyes)
        assert REMARK not in str(data)
        assert not any("remarks" in step for step in data["steps"])


def test_key_moments_are_marked_and_reached(opened: Opened, path: Path) -> None:
    page = opened.open(path)
    assert page.is_disabled("#key-back")
    page.click("#key-next")
    expect(page.locator("#where")).to_have_text("5 / 13")
    page.keyboard.press("n")
    expect(page.locator("#where")).to_have_text("9 / 13")
    assert 2 == page.locator("#curve .moment").count()
    page.keyboard.press("p")
    expect(page.locator("#where")).to_have_text("5 / 13")


def test_a_finger_steps_and_zooms_and_drags_what_is_zoomed(opened: Opened, path: Path) -> None:
    page = opened.open(path, "#step=5")
    drag(page, 0.8, 0.3)
    expect(page.locator("#where")).to_have_text("6 / 13")
    drag(page, 0.3, 0.8)
    drag(page, 0.3, 0.8)
    expect(page.locator("#where")).to_have_text("4 / 13")
    finger(page, "down", 0.4, 0.5, 1)
    finger(page, "down", 0.6, 0.5, 2)
    finger(page, "move", 0.3, 0.5, 1)
    finger(page, "move", 0.7, 0.5, 2)
    finger(page, "up", 0.3, 0.5, 1)
    finger(page, "up", 0.7, 0.5, 2)
    assert 2 == pytest.approx(scale(page), abs=0.01)
    drag(page, 0.8, 0.3)
    assert 2 == pytest.approx(scale(page), abs=0.01)
    expect(page.locator("#where")).to_have_text("4 / 13")
    page.click("#whole")
    assert 1 == scale(page)
    page.locator("body").press("z")
    assert scale(page) > 1


def test_a_cell_tells_its_name_and_what_was_there(opened: Opened, path: Path) -> None:
    page = opened.open(path, "#step=13")
    box = page.locator("#board .cell", has=page.locator("title", has_text=": bot-1")).first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    rows = page.locator("#history li")
    expect(rows).to_have_count(2)
    assert page.inner_text("#cell-name") in {f"{row}{column}" for row in "ABCDEFGHI" for column in range(1, 10)}
    assert "from the start empty" == rows.last.inner_text()
    since = int(page.inner_text("#history li:first-child button").rpartition(" ")[2])
    page.click("#history li:first-child button")
    expect(page.locator("#where")).to_have_text(f"{since} / 13")
    page.click("#uncell")
    assert not page.is_visible("#cell")


def test_the_end_has_a_podium_and_a_match_may_play_again_and_again(opened: Opened, path: Path) -> None:
    page = opened.open(path, "#step=13")
    assert ["1st", "2nd"] == page.locator("#podium strong").all_text_contents()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("l")
    page.select_option("#speed", label="60 / s")
    page.click("#play")
    expect(page.locator("#where")).to_have_text("13 / 13")
    page.select_option("#speed", label="0.25 / s")
    expect(page.locator("#where")).to_have_text("1 / 13")
    page.click("#play")
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play")


def test_a_link_plays_unless_reduced_motion_is_preferred(opened: Opened, path: Path) -> None:
    page = opened.open(path, "#play&loop")
    expect(page.locator("#play")).to_have_attribute("aria-label", "Pause")
    expect(page.locator("#loop")).to_have_attribute("aria-pressed", "true")
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play")
    page.keyboard.press("ArrowRight")
    assert 0 == page.evaluate("document.getAnimations().length")
    page.emulate_media(reduced_motion="no-preference")


def test_keys_are_on_a_help_that_a_key_opens_and_closes(opened: Opened, path: Path) -> None:
    page = opened.open(path)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys and gestures")).to_be_visible()
    page.keyboard.press("n")
    page.keyboard.press("?")
    assert not page.is_visible("#help")
    expect(page.locator("#where")).to_have_text("1 / 13")


def test_on_a_phone_the_board_is_above_the_controls_and_these_are_large(opened: Opened, path: Path) -> None:
    page = opened.open(path, "#step=5")
    opened.resize({"width": 360, "height": 740})
    page.wait_for_function("scrollY === 0")
    board, controls = page.locator("#board").bounding_box(), page.locator("#controls").bounding_box()
    assert board is not None
    assert controls is not None
    assert board["y"] + board["height"] < controls["y"]
    sizes = page.eval_on_selector_all(
        "#controls :is(button, select)", "all => all.map((one) => [one.offsetWidth, one.offsetHeight])"
    )
    assert all(wide >= 40 and high >= 40 for wide, high in sizes)


def test_many_moves_without_a_remark_take_one_line_of_the_list(opened: Opened, tmp_path: Path) -> None:
    recording = recording_of(written("pointing", tmp_path / "m.jsonl"))
    step = next(step for step in recording.steps if len(step.facts) > 2)
    step.remarks, step.told = [], ()
    number = recording.steps.index(step)
    (tmp_path / "m.html").write_text(page_of(recording))
    page = opened.open(tmp_path / "m.html", f"#step={number + 1}")
    expect(page.locator(f'#rows [data-step="{number}"]')).to_contain_text("13 bots act")
    lines = page.locator("#said li").all_inner_texts()
    assert list(recording.names) == [line.split(": ")[0] for line in lines if ": " in line]
