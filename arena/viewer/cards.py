"""The card of a match: a picture with its title, its bots, their scores and the last board, for links to it."""

from collections.abc import Sequence
from functools import cache
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from msgspec.json import decode

from arena.viewer.pictures import Box, canvas, colour, font_file, in_xml, place_boards
from arena.viewer.scripts import Drawing

CARD = Box(1200, 630)
BOARD = Box(560, 550, left=600, top=40)
LEFT, RIGHT = 56, 560
"""Edges of the column of words, in pixels."""
FEW, SOME = 3, 6
"""Maximum number of bots that are named in large letters, and in smaller ones; more are counted."""
SMALLER = 0.7
"""Share of its usual size to which a long name shrinks before it is cut."""
COLOURS = 8
LAST_LETTER = "\u052f"
"""Last letter of the alphabets that the font has: Latin, Greek and Cyrillic."""
PUNCTUATION = range(0x1E00, 0x2070)
"""Further characters of the font: accented letters of Latin and Greek, and punctuation."""


def card_svg(data: bytes, drawing: Drawing, title: str, boards: Sequence[Element]) -> tuple[Element, bool]:
    """Return the card, and whether it has letters that only the machine's fonts may have."""
    match: dict[str, Any] = decode(data)
    svg = canvas(CARD, colour("paper"))
    box = {"x": BOARD.left, "y": BOARD.top, "width": BOARD.width, "height": BOARD.height, "rx": 18}
    SubElement(svg, "rect", {key: str(value) for key, value in box.items()}, fill=colour("panel"))
    if boards:
        place_boards(svg, boards, BOARD)
    _line(svg, title, 92, 40, width=RIGHT - LEFT, strong=True)
    _line(svg, f"{match['game']} · {match['variant']}", 140, 26, width=RIGHT - LEFT, fill="soft")
    _bots(svg, match, drawing.scores)
    _line(svg, drawing.heading, 580, 24, width=RIGHT - LEFT, fill="soft")
    return svg, any(map(_is_other, "".join(svg.itertext())))


def _bots(svg: Element, match: dict[str, Any], scores: Sequence[float | None] | None) -> None:
    """Add a line per bot, the best ones first, with its sign and its score."""
    places: list[int | None] = match["places"]
    order = sorted(range(match["seats"]), key=lambda seat: (places[seat] or match["seats"] + 1, seat))
    named = order
    if len(order) > SOME:
        named = order[: SOME - 1]
    size, pitch = 34, 58
    if len(named) <= FEW:
        size, pitch = 48, 92
    level = 350 - pitch * (len(named) + (len(named) < len(order)) - 1) // 2
    for seat in named:
        won = places[seat] == 1
        score = "" if scores is None or seat >= len(scores) or scores[seat] is None else f"{scores[seat]:g}"
        taken = _width(score, size, strong=won) + 20 * bool(score)
        fill = colour(f"s{seat % COLOURS}")
        middle = {"cx": str(LEFT + size * 0.5), "cy": str(level), "r": str(size * 0.5)}
        SubElement(svg, "circle", middle, fill=fill)
        _line(svg, str(seat), level, size * 0.6, x=LEFT + size * 0.5, anchor="middle", fill="on", strong=True)
        left = LEFT + size * 1.35
        name = match["names"][seat] or f"seat {seat}"
        _line(svg, name, level, size, x=left, width=RIGHT - left - taken, strong=won)
        _line(svg, score, level, size, x=RIGHT, anchor="end", strong=won)
        level += pitch
    if len(named) < len(order):
        _line(svg, f"and {len(order) - len(named)} more", level, 28, x=LEFT + size * 1.35, fill="soft")


def _line(
    svg: Element,
    text: str,
    level: float,
    size: float,
    *,
    x: float = LEFT,
    width: float | None = None,
    anchor: str = "start",
    fill: str = "ink",
    strong: bool = False,
) -> None:
    """Add a line of text, its middle at a level; with a width, made to fit."""
    text = in_xml(text)
    if width is not None:
        full = _width(text, size, strong=strong)
        size *= max(SMALLER, min(1.0, width / max(full, 1.0)))
        text = _fitting(text, size, width, strong=strong)
    weight = "bold" if strong else "normal"
    made = SubElement(svg, "text", x=f"{x:.1f}", y=f"{level + 0.35 * size:.1f}", fill=colour(fill))
    made.attrib |= {"font-size": f"{size:.1f}", "font-weight": weight, "text-anchor": anchor}
    made.text = text


def _fitting(text: str, size: float, width: float, *, strong: bool) -> str:
    """Return the text without as much of its middle as is too wide."""
    kept = len(text)
    shown = text
    while kept > 1 and _width(shown, size, strong=strong) > width:
        kept -= max(1, kept // 12)
        shown = f"{text[: kept - kept // 3]}…{text[len(text) - kept // 3 :]}"
    return shown


def _width(text: str, size: float, *, strong: bool) -> float:
    """Return the width of a text in pixels; letters that the font lacks count as wide ones."""
    others = sum(map(_is_other, text))
    known = "".join(each for each in text if not _is_other(each))
    return size * (float(_font(strong=strong).getlength(known)) / _FONT_SIZE + others)


def _is_other(character: str) -> bool:
    """Return whether the font may lack a character."""
    return character > LAST_LETTER and ord(character) not in PUNCTUATION


_FONT_SIZE = 100


@cache
def _font(*, strong: bool) -> Any:
    from PIL import ImageFont  # noqa: PLC0415

    style = "Bold" if strong else "Regular"
    return ImageFont.truetype(str(font_file(style)), _FONT_SIZE)
