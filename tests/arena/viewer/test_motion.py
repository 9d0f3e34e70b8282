"""Motion between two drawings in Chromium: from the old place to the new, and none where it is unwanted."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.arena.in_browser import Opened

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
DRAWN = """
const root = document.getElementById("root");
const dot = (id, x, y, extra = "") => draw("g", { "data-id": id, class: extra, transform: `translate(${x} ${y})` },
  draw("circle", { r: 5 }));
const bar = (width) => draw("rect", { "data-id": "bar", x: 0, y: 90, width, height: 5 });
const show = (dots, width, ms) => redraw(root, [picture(100, 100, "dots", dots, bar(width))], ms);
const places = () => Object.fromEntries([...root.querySelectorAll("[data-id]")].map((node) => {
  const box = node.getBoundingClientRect(), on = root.firstChild.getBoundingClientRect();
  const parts = [box.left - on.left, box.top - on.top, box.width];
  return [node.dataset.id, parts.map((each) => Math.round(each / on.width * 100))];
}));
const half = () => { for (const each of document.getAnimations()) { each.pause(); each.currentTime = 500; } };
"""


@pytest.fixture
def page(opened: Opened, tmp_path: Path) -> Page:
    """Open a page with a function `show` for dots and a bar, and one for their places in percent."""
    assets = files("arena.viewer").joinpath("assets")
    script = "\n".join(assets.joinpath(name).read_text() for name in ("svg.js", "motion.js"))
    path = tmp_path / "motion.html"
    body = '<!doctype html><body data-ready><p>dots</p><div id="root"></div>'
    path.write_text(f"{body}<script>{script}{DRAWN}</script>")
    return opened.open(path)


def halfway(page: Page) -> dict[str, Any]:
    """Return the places in the middle of the motion: left, top and width, in percent."""
    page.evaluate("half()")
    places: dict[str, Any] = page.evaluate("places()")
    return places


def test_a_node_with_an_id_moves_and_a_bar_grows(page: Page) -> None:
    page.evaluate("show([dot('a', 10, 20), dot('b', 50, 50)], 20, 0)")
    assert 0 == page.evaluate("document.getAnimations().length")
    page.evaluate("show([dot('b', 50, 50), dot('a', 70, 80)], 60, 1000)")
    assert {"a": [35, 45, 10], "b": [45, 45, 10], "bar": [0, 90, 40]} == halfway(page)
    page.evaluate("document.getAnimations().forEach((each) => each.finish())")
    assert {"a": [65, 75, 10], "b": [45, 45, 10], "bar": [0, 90, 60]} == page.evaluate("places()")


def test_a_new_node_fades_in_and_one_that_went_fades_out_and_is_gone(page: Page) -> None:
    page.evaluate("show([dot('a', 10, 20)], 20, 0)")
    page.evaluate("show([dot('b', 50, 50)], 20, 1000)")
    halfway(page)
    opacities = page.eval_on_selector_all("#root g", "all => all.map((one) => getComputedStyle(one).opacity)")
    assert ["0.5", "0.5"] == opacities
    assert 1 == page.locator("#root g[aria-hidden]").count()
    page.evaluate("show([dot('b', 50, 50)], 20, 0)")
    assert 1 == page.locator("#root g").count()
    assert 0 == page.evaluate("document.getAnimations().length")


def test_what_is_fresh_grows_in_its_place(page: Page) -> None:
    page.evaluate("show([dot('a', 10, 20)], 20, 0)")
    page.add_style_tag(content=".fresh { transform-box: fill-box; transform-origin: center }")
    page.evaluate("show([dot('a', 10.1, 20.1, 'fresh')], 20, 1000)")
    assert {"a": [7, 17, 7], "bar": [0, 90, 20]} == halfway(page)


def test_a_picture_of_another_size_moves_nothing(page: Page) -> None:
    page.evaluate("show([dot('a', 10, 20)], 20, 0)")
    page.evaluate("redraw(root, [picture(200, 100, 'dots', dot('a', 10, 20), bar(20))], 1000)")
    assert 0 == page.evaluate("document.getAnimations().length")
