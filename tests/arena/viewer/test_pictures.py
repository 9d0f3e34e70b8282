"""Pictures of matches without a browser: all games, and what strangers may bring."""

import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import msgspec
import pytest

from arena.processes import ProcessLostError, SideProcess
from arena.replay import recording_of
from arena.viewer import PictureOrder, make_picture, page, page_data, placeholder
from arena.viewer.cards import card_svg
from arena.viewer.pictures import PICTURE, SHAPES, PictureAnswer
from arena.viewer.scripts import Drawing
from arena.viewer.styles import StyleSheet
from tests.arena.viewer.matches import HOSTILE, SEATS, written

NAMESPACE = "{http://www.w3.org/2000/svg}"
Make = Callable[[PictureOrder], PictureAnswer]


@pytest.fixture(scope="module")
def make() -> Iterator[Make]:
    """Makes a picture in a process beside."""
    process: SideProcess[PictureOrder, PictureAnswer] = SideProcess(make_picture)
    yield lambda order: process.ask(order, 60)
    process.kill()


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PictureOrder]:
    """The last position of a match, by game."""
    folder = tmp_path_factory.mktemp("matches")
    return {game: order_of(written(game, folder / f"{game}.jsonl", name=HOSTILE)) for game in SEATS}


def order_of(transcript: Path) -> PictureOrder:
    data = page_data(recording_of(transcript))
    return PictureOrder(game=data["game"], data=msgspec.json.encode(data), at=len(data["steps"]) - 1)


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize("game", SEATS)
def test_each_game_has_a_picture_that_holds_shapes_only(
    game: str, orders: dict[str, PictureOrder], make: Make
) -> None:
    made = make(orders[game])
    assert not made.failure
    tree = fromstring(made.content)  # noqa: S314 - our own
    names = {each.tag.removeprefix(NAMESPACE) for each in tree.iter()}
    assert names <= SHAPES
    assert len(names & {"circle", "line", "path", "polygon", "rect"}) > 1
    text = made.content.decode()
    assert "var(" not in text
    assert "color-mix" not in text
    assert {"fill", "stroke"} <= {key for each in tree.iter() for key in each.attrib}


def test_a_picture_is_an_image_of_its_size(orders: dict[str, PictureOrder], make: Make) -> None:
    order = msgspec.structs.replace(orders["mist"], form="png")
    assert (PICTURE.width, PICTURE.height) == size_of(make(order).content)


@pytest.mark.parametrize("game", SEATS)
def test_a_card_says_the_title_and_is_an_image(game: str, orders: dict[str, PictureOrder], make: Make) -> None:
    order = msgspec.structs.replace(orders[game], card="The cup")
    words = list(fromstring(make(order).content).itertext())  # noqa: S314 - our own
    assert "The cup" in words
    assert any(word.startswith("bot-") for word in words)
    assert (1200, 630) == size_of(make(msgspec.structs.replace(order, form="png")).content)


TITLES = ["W" * 5_000, "\u202egnp\x00\ufffe]]>", "\u7af6\u6280\u4f1a 2026", "x\udc80y", ""]


@pytest.mark.parametrize("title", TITLES)
def test_any_title_fits_on_a_card(title: str, orders: dict[str, PictureOrder], make: Make) -> None:
    made = make(msgspec.structs.replace(orders["mist"], card=title))
    assert not made.failure
    words = list(fromstring(made.content).itertext())  # noqa: S314 - our own
    assert max(map(len, words)) < 200
    assert all(map(str.isprintable, words)), "a mark for right to left would turn the line around"


@pytest.mark.parametrize(
    "script",
    [
        "drawings.mist = { board() { for (;;) {} } };",
        "drawings.mist = { board() { throw new Error('no'); } };",
        "drawings.mist = { board() { const all = []; for (;;) all.push('x'.repeat(99) + all.length); } };",
        "drawings.mist = { board() { return { node: { nodeName: 7 } }; } };",
        "drawings.mist = { board() { return { node: draw('svg', { viewBox: '0 0 0 nan' }) }; } };",
        "drawings.mist = { board() { return { node: el('p') }; } };",
        "this is no script",
    ],
)
def test_a_drawing_that_fails_costs_its_picture_only(
    script: str, orders: dict[str, PictureOrder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "_drawing", lambda _: script)
    process: SideProcess[tuple[str, PictureOrder], PictureAnswer] = SideProcess(make_with)
    try:
        failed = process.ask((script, orders["mist"]), 60)
        assert failed.failure
        assert not failed.content
        assert process.ask(("", orders["mist"]), 60).content
        assert process.ask((script, msgspec.structs.replace(orders["mist"], card="cup")), 60).content
    finally:
        process.kill()


def make_with(asked: tuple[str, PictureOrder]) -> PictureAnswer:
    """Make a picture by this script instead of the game's drawing; "": by the game's."""
    script, order = asked
    with pytest.MonkeyPatch.context() as patch:
        if script:
            patch.setattr("arena.viewer.scripts.script_of_drawing", lambda _: f"{page._asset('svg.js')}\n{script}")
        return make_picture(order)


@pytest.mark.parametrize(("scores", "shown"), [([6, 1, 4], ["6", "4", "1"]), ([2, 6, 4], ["1st", "2nd", "3rd"])])
def test_a_card_has_places_where_scores_do_not_decide_them(scores: list[float | None], shown: list[str]) -> None:
    match = {
        "title": "Cups",
        "variant": "plain",
        "seats": 3,
        "places": [1, 3, 2],
        "names": ["anna", "bob", "carl"],
    }
    svg, _ = card_svg(msgspec.json.encode(match), Drawing("", "", scores, None), "The cup", [])
    texts = list(svg.itertext())
    assert shown == [texts[texts.index(name) + 1] for name in ("anna", "carl", "bob")]


def test_a_picture_without_a_board_says_so() -> None:
    said = "chess & <go>: no picture"
    assert [said] == list(fromstring(placeholder(said)).itertext())  # noqa: S314 - our own


def test_styles_follow_selectors_variables_and_mixed_colours() -> None:
    sheet = StyleSheet(
        ":root { --own: red; --thin: 1.5 } .p1 { --own: #0000ff } .piece > circle { fill: var(--own) }"
        " svg text { font-size: 2rem; fill: var(--missing, green) }"
        " .piece circle.big { stroke-width: var(--thin) }"
        " g + g { fill: black } rect { fill: color-mix(in srgb, #000 25%, #fff); width: 9px }"
        " @media (prefers-color-scheme: dark) { rect { fill: black } }"
    )
    root, svg = Element("html"), Element("svg")
    root.append(svg)
    made = {}
    for name, its in (("piece", "circle"), ("piece p1", "circle"), ("", "text"), ("", "rect")):
        group = Element("g", {"class": name})
        made[name + its] = Element(its, {"class": "big", "fill": "white"})
        group.append(made[name + its])
        svg.append(group)
    sheet.apply(root)
    assert ("red", "1.5") == (made["piececircle"].get("fill"), made["piececircle"].get("stroke-width"))
    assert "#0000ff" == made["piece p1circle"].get("fill")
    assert ("32px", "green") == (made["text"].get("font-size"), made["text"].get("fill"))
    assert ("rgb(191, 191, 191)", None) == (made["rect"].get("fill"), made["rect"].get("width"))
    assert {None} == {group.get("fill") for group in svg}


def test_a_process_beside_that_takes_too_long_or_ends_is_replaced() -> None:
    process: SideProcess[float, None] = SideProcess(time.sleep)
    try:
        assert process.ask(0, 60) is None
        with pytest.raises(ProcessLostError, match="longer than"):
            process.ask(600, 0.1)
        assert process.ask(0, 60) is None
        with pytest.raises(ProcessLostError, match="ended"):
            process.ask(-1, 60)  # An exception ends it.
        assert process.ask(0, 60) is None
    finally:
        process.kill()
