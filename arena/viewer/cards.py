"""The card of a match: a picture with its title, bots, scores or places, and the last board, for links to it."""

from collections.abc import Sequence
from functools import cache
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from msgspec.json import decode

from arena.quantities import ordinal
from arena.viewer.pictures import Box, canvas, colour, font_file, place_boards
from arena.viewer.scripts import Drawing
from referee.display_text import cut, printable

CARD = Box(1200, 630)
BOARD = Box(560, 550, left=600, top=40)
LEFT, RIGHT = 56, 560
"""Edges of the column of words, in pixels."""
FEW, SOME = 3, 6
"""Maximum number of bots that are named in large letters, and in smaller ones; more are counted."""
SMALLER = 0.7
"""Share of its usual size to which a long name shrinks before it is cut."""
COLOURS = 13
"""Number of colours of seats."""
FRAME = Box(720, 650)
FRAME_BOARD = Box(720, 490, top=84)
EDGE = 16
"""Free pixels at both sides of a frame's words."""
IN_FRAME = 3
"""Maximum number of bots that are named above a frame."""
FRAME_TEXT = 26
"""Size of their names, in pixels."""
MOST_OF_LINE = 300
"""Maximum characters of a line of words, before it is made to fit."""
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
    _line(svg, f"{match['title']} · {match['variant']}", 140, 26, width=RIGHT - LEFT, fill="soft")
    _bots(svg, match, drawing.scores)
    _line(svg, drawing.heading, 580, 24, width=RIGHT - LEFT, fill="soft")
    return svg, any(map(_is_other, "".join(svg.itertext())))


def frame_svg(data: bytes, drawing: Drawing, at: int, boards: Sequence[Element]) -> tuple[Element, bool]:
    """Return a video's frame of a step, and whether it has letters as of `card_svg`."""
    match: dict[str, Any] = decode(data)
    svg = canvas(FRAME, colour("paper"))
    if boards:
        place_boards(svg, boards, FRAME_BOARD)
    room = FRAME.width - 2 * EDGE
    left = float(EDGE)
    named = list(range(match["seats"]))
    if len(named) > IN_FRAME and drawing.scores is not None:  # Those who lead.
        points = [score or 0 for score in drawing.scores]
        named.sort(key=lambda seat: -points[seat] if seat < len(points) else 0)
    for seat in named[:IN_FRAME]:
        score = _score(drawing.scores, seat)
        taken = 1.5 * FRAME_TEXT + _width(score, FRAME_TEXT, strong=True) + 30
        share = room / min(match["seats"], IN_FRAME) - taken
        _sign(svg, seat, left + FRAME_TEXT / 2, 34, FRAME_TEXT)
        left += FRAME_TEXT * 1.4
        left += 10 + _line(svg, _name(match, seat), 34, FRAME_TEXT, x=left, width=share)
        left += 20 + _line(svg, score, 34, FRAME_TEXT, x=left, strong=True)
    _line(svg, drawing.heading, 68, 18, x=EDGE, width=room, fill="soft")
    for line, text in enumerate(_happened(match["steps"][at])):
        _line(svg, text, FRAME.height - 54 + 26 * line, 20, x=EDGE, width=room)
    bar = {"x": "0", "y": str(FRAME.height - 6), "height": "6"}
    width = FRAME.width * (at + 1) / len(match["steps"])
    SubElement(svg, "rect", bar | {"width": f"{width:.1f}"}, fill=colour("accent"))
    return svg, any(map(_is_other, "".join(svg.itertext())))


def _happened(step: dict[str, Any]) -> list[str]:
    """Return what happened in a step in at most two lines: the weightiest remarks, in their order."""
    remarks: list[tuple[str, int]] = step.get("remarks", [])
    if not remarks:
        return [step.get("title", "")]
    by_weight = sorted(range(len(remarks)), key=lambda number: (-remarks[number][1], number))
    return [remarks[number][0] for number in sorted(by_weight[:2])]


def _name(match: dict[str, Any], seat: int) -> str:
    return match["names"][seat] or f"seat {seat}"


def _score(scores: Sequence[float | None] | None, seat: int) -> str:
    score = None if scores is None or seat >= len(scores) else scores[seat]
    return "" if score is None else f"{score:g}"


def _sign(svg: Element, seat: int, middle: float, level: float, size: float) -> None:
    """Add a seat's sign: its number on its colour."""
    circle = {"cx": f"{middle:.1f}", "cy": f"{level:.1f}", "r": f"{size / 2:.1f}"}
    SubElement(svg, "circle", circle, fill=colour(f"s{seat % COLOURS}"))
    half = _width(str(seat), size * 0.6, strong=True) / 2
    _line(svg, str(seat), level, size * 0.6, x=middle - half, fill="on", strong=True)


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
    ranked = _rank_by_scores(order, scores)
    for seat in named:
        place = places[seat]
        won = place == 1
        score = ""
        if ranked:
            score = _score(scores, seat)
        elif place is not None:
            score = ordinal(place)
        taken = _width(score, size, strong=won) + 20 * bool(score)
        _sign(svg, seat, LEFT + size * 0.5, level, size)
        left = LEFT + size * 1.35
        _line(svg, _name(match, seat), level, size, x=left, width=RIGHT - left - taken, strong=won)
        _line(svg, score, level, size, x=RIGHT - _width(score, size, strong=won), strong=won)
        level += pitch
    if len(named) < len(order):
        _line(svg, f"and {len(order) - len(named)} more", level, 28, x=LEFT + size * 1.35, fill="soft")


def _rank_by_scores(order: Sequence[int], scores: Sequence[float | None] | None) -> bool:
    """Return whether no seat has a higher score than one before it: scores that decide no place would confuse."""
    if scores is None or len(scores) < len(order):
        return False
    shown = [score for seat in order if (score := scores[seat]) is not None]
    return shown == sorted(shown, reverse=True)


def _line(
    svg: Element,
    text: str,
    level: float,
    size: float,
    *,
    x: float = LEFT,
    width: float | None = None,
    fill: str = "ink",
    strong: bool = False,
) -> float:
    """Add a line of text, its middle at a level; with a width, made to fit. Return its width in pixels."""
    text = cut(printable(text), MOST_OF_LINE)
    if width is not None:
        full = _width(text, size, strong=strong)
        size *= max(SMALLER, min(1.0, width / max(full, 1.0)))
        text = _fitting(text, size, width, strong=strong)
    weight = "bold" if strong else "normal"
    made = SubElement(svg, "text", x=f"{x:.1f}", y=f"{level + 0.35 * size:.1f}", fill=colour(fill))
    made.attrib |= {"font-size": f"{size:.1f}", "font-weight": weight}
    made.text = text
    return _width(text, size, strong=strong)


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
