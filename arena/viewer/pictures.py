"""Makes PNG pictures of a match's steps by the same drawings as its page, without a browser.

It needs the extra `pictures`. V8 runs the drawings, `StyleSheet` resolves their colours, and resvg renders them.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from xml.etree.ElementTree import Element, SubElement, tostring

from msgspec import Struct

from arena.viewer.page import light_style
from arena.viewer.scripts import Drawing, DrawingEngine, DrawingFailedError

NEEDED = ("py_mini_racer", "resvg_py", "PIL", "tinycss2", "cssselect2", "font_source_sans_pro")
"""Modules of the extra `pictures`."""
FONT = "Source Sans Pro"
MOST_BOARDS = 16
"""Maximum number of boards in one picture; further ones are left out."""
MARGIN = 10
"""Free pixels at a picture's edges and between its boards."""
SMALLEST_TEXT = 6.5
"""Size in pixels of the smallest text that is drawn; smaller ones cannot be read."""
USUAL_TEXT = 16.0
"""Size of texts that state none, in units of their drawing."""
SHAPES = frozenset(
    {"circle", "clipPath", "defs", "ellipse", "g", "line", "linearGradient", "mask", "path", "pattern", "polygon",
     "polyline", "radialGradient", "rect", "stop", "svg", "text", "tspan"}
)  # fmt: skip
"""Elements of SVG that are drawn. All others are left out, above all those that load a file."""
UNIT = "px"
HALVINGS = 20
"""Number of steps of the search for the scale of boards."""
MOST_SAID = 300
"""Maximum characters of the reason why there is no picture."""
MOST_UNITS = 100_000
"""Maximum width and height of a board in its own units."""


class Box(Struct, frozen=True):
    """A place in a picture, in pixels."""

    width: int
    height: int
    left: int = 0
    top: int = 0


PICTURE = Box(560, 420)
"""Size of a match's picture."""
Format = Literal["svg", "png"]


class PictureOrder(Struct, frozen=True, kw_only=True):
    """A step of a match to be drawn."""

    game: str
    data: bytes
    """The match's `page_data`, encoded as JSON."""
    at: int
    """The step, counted from 0."""
    eyes: str = "host"
    form: Format = "svg"
    card: str | None = None
    """Title of the match's card; None: no card."""
    is_frame: bool = False
    """True to draw a video's frame: the board with names, scores, and what happened. Otherwise the board alone."""
    size: Box = PICTURE
    """Size of a picture of the board alone."""


class PictureAnswer(Struct, frozen=True):
    """A picture, or the reason why there is none."""

    content: bytes = b""
    failure: str = ""


@cache
def pictures_installed() -> bool:
    """Return whether the extra `pictures` is installed."""
    return all(find_spec(name) is not None for name in NEEDED)


def colour(name: str) -> str:
    """Return a colour of the light style sheet by its variable, such as "paper"."""
    return _colours()[f"--{name}"]


def font_file(style: str) -> Path:
    """Return the path of the font in a style, such as "Regular" or "Bold"."""
    return Path(str(files("font_source_sans_pro").joinpath("files", f"SourceSansPro-{style}.ttf")))


class PictureMaker:
    """A maker of pictures. Not safe for threads; see `DrawingEngine`."""

    def __init__(self) -> None:
        self._engine: DrawingEngine | None = None
        self._loaded: tuple[str, bytes] | None = None

    def picture(self, order: PictureOrder) -> bytes:
        """Draw a step. Raises DrawingFailedError if there is no drawing of it; a card is made without one."""
        from arena.viewer.cards import CARD, FRAME, card_svg, frame_svg  # noqa: PLC0415

        try:
            drawing = self._drawing(order)
            boards = list(_boards(drawing.tree))[:MOST_BOARDS]
        except DrawingFailedError:
            if order.card is None and not order.is_frame:
                raise
            drawing, boards = Drawing("", "", None, None), []
        if order.card is not None:
            svg, has_other_letters = card_svg(order.data, drawing, order.card, boards)
            return _written(svg, CARD, order.form, other_fonts=has_other_letters)
        if order.is_frame:
            svg, has_other_letters = frame_svg(order.data, drawing, order.at, boards)
            return _written(svg, FRAME, order.form, other_fonts=has_other_letters)
        if not boards:
            raise DrawingFailedError("there is no board")
        svg = canvas(order.size, colour("panel"))
        place_boards(svg, boards, order.size)
        return _written(svg, order.size, order.form)

    def _drawing(self, order: PictureOrder) -> Drawing:
        try:
            if self._engine is None:
                self._engine, self._loaded = DrawingEngine(), None
            if self._loaded != (order.game, order.data):
                self._engine.load(order.game, order.data)
                self._loaded = order.game, order.data
            return self._engine.draw(order.eyes, order.at)
        except DrawingFailedError:
            self._engine = None
            raise


def placeholder(text: str) -> bytes:
    """Return a picture with a short text in place of a board."""
    svg = canvas(PICTURE, colour("panel"))
    middle = {"x": str(PICTURE.width // 2), "y": str(PICTURE.height // 2), "text-anchor": "middle"}
    SubElement(svg, "text", middle | {"font-size": "24"}, fill=colour("soft")).text = in_xml(text)
    return tostring(svg)


def canvas(size: Box, background: str) -> Element:
    """Return an empty picture."""
    svg = Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {size.width} {size.height}")
    svg.set("font-family", f"{FONT}, system-ui, sans-serif")
    SubElement(svg, "rect", width=str(size.width), height=str(size.height), fill=background)
    return svg


def _written(svg: Element, size: Box, form: Format, *, other_fonts: bool = False) -> bytes:
    """Return a picture as a file. `other_fonts`: use the machine's fonts, too, which takes longer."""
    text = tostring(svg, encoding="unicode")
    if form == "svg":
        return text.encode()
    # Imported late, because it is part of an extra.
    import resvg_py  # noqa: PLC0415

    return resvg_py.svg_to_bytes(
        svg_string=text,
        width=size.width,
        height=size.height,
        skip_system_fonts=not other_fonts,
        font_files=[str(font_file(style)) for style in ("Regular", "Bold")],
        font_family=FONT,
        sans_serif_family=FONT,
    )


def _boards(node: Any) -> Iterator[Element]:
    """Yield the outermost elements `svg` of a drawing's tree that have a size, except signs within words."""
    if not isinstance(node, list):
        return
    name, attributes, children = node
    if name == "svg":
        if "viewBox" in attributes and attributes.get("class") != "badge":
            yield _element(node)
        return
    for child in children:
        yield from _boards(child)


def _element(node: list[Any]) -> Element:
    """Return an element of a drawing without what is not drawn."""
    name, attributes, children = node
    made = Element(name, {key: value for key, value in attributes.items() if _is_drawn(key, value)})
    last: Element | None = None
    for child in children:
        if isinstance(child, str):
            if last is None:
                made.text = (made.text or "") + in_xml(child)
            else:
                last.tail = (last.tail or "") + in_xml(child)
        elif child[0] in SHAPES:
            last = _element(child)
            made.append(last)
    return made


def _is_drawn(key: str, value: str) -> bool:
    return key.replace("-", "").isalnum() and (key != "href" or value.startswith("#"))


def in_xml(text: str) -> str:
    """Return a text without characters that XML forbids; `plain` in `svg.js` has written out all others."""
    return "".join(each for each in text if each >= " " and each not in "\ufffe\uffff")


def place_boards(svg: Element, boards: Sequence[Element], box: Box) -> None:
    """Add boards to a picture, in rows and as large as the box allows."""
    shapes = [_shape(board) for board in boards]
    least, most = 0.0, box.width / min(width for width, _ in shapes)
    for _ in range(HALVINGS):
        scale = (least + most) / 2
        rows = _rows(shapes, scale, box.width)
        if all(width <= box.width for width, _, _ in rows) and sum(tall for _, tall, _ in rows) <= box.height:
            least = scale
        else:
            most = scale
    rows = _rows(shapes, least, box.width)
    top = box.top + (box.height - sum(tall for _, tall, _ in rows)) / 2
    for full, tall, numbers in rows:
        left = box.left + (box.width - full) / 2 + MARGIN / 2
        for number in numbers:
            width, height = (least * length for length in shapes[number])
            place = {"x": left, "y": top + (tall - height) / 2, "width": width, "height": height}
            _add_board(svg, boards[number], place, least)
            left += width + MARGIN
        top += tall


def _rows(
    shapes: Sequence[tuple[float, float]], scale: float, room: float
) -> list[tuple[float, float, list[int]]]:
    """Fill rows with boards. Return width, height and the boards' numbers of each; margins are included."""
    rows: list[tuple[float, float, list[int]]] = []
    for number, (width, height) in enumerate(shapes):
        across, down = width * scale + MARGIN, height * scale + MARGIN
        if rows and rows[-1][0] + across <= room:
            full, tall, numbers = rows[-1]
            rows[-1] = full + across, max(tall, down), [*numbers, number]
        else:
            rows.append((across, down, [number]))
    return rows


def _add_board(svg: Element, board: Element, place: dict[str, float], scale: float) -> None:
    """Add one board with its style at a place."""
    board.attrib |= {key: f"{value:.2f}" for key, value in place.items()}
    page = Element("html")
    page.append(board)
    _style_sheet().apply(page)
    _drop_small_texts(board, SMALLEST_TEXT / scale, USUAL_TEXT)
    svg.append(board)


def _shape(board: Element) -> tuple[float, float]:
    """Return width and height of a board in its own units. Raises DrawingFailedError if it has none."""
    try:
        _, _, width, height = map(float, board.get("viewBox", "").replace(",", " ").split())
    except ValueError:
        raise DrawingFailedError("a board has no size") from None
    if not (0 < width < MOST_UNITS and 0 < height < MOST_UNITS):
        raise DrawingFailedError("a board has no size")
    return width, height


def _drop_small_texts(element: Element, smallest: float, inherited: float) -> None:
    """Remove texts whose size is below the smallest one, in units of their drawing."""
    for child in list(element):
        size = inherited
        with suppress(ValueError):
            size = float(child.get("font-size", str(inherited)).removesuffix(UNIT))
        if child.tag == "text" and size < smallest:
            element.remove(child)
        else:
            _drop_small_texts(child, smallest, size)


@cache
def _style_sheet() -> Any:
    from arena.viewer.styles import StyleSheet  # noqa: PLC0415

    return StyleSheet(light_style())


@cache
def _colours() -> dict[str, str]:
    from arena.viewer.styles import root_variables  # noqa: PLC0415

    return root_variables(light_style())


_MAKERS: list[PictureMaker] = []
"""The maker of this process, once it has made a picture."""


def make_picture(order: PictureOrder) -> PictureAnswer:
    """Make a picture in a side process."""
    if not _MAKERS:
        _MAKERS.append(PictureMaker())
    try:
        return PictureAnswer(_MAKERS[0].picture(order))
    except Exception as error:  # noqa: BLE001 - a drawing may bring about anything, and costs no more than its picture
        _MAKERS.clear()
        return PictureAnswer(failure=str(error)[:MOST_SAID])
