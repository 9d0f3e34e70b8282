"""Text with styles, without a terminal, as the output of drawings; and boards of hexes in it.

Each display converts the runs to its own styles. Hexes have a corner on top, and are two lines per row and four
columns per cell; games decide the content of cells.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby, starmap
from operator import itemgetter
from typing import Any, Union

from msgspec import Struct

from protocol.games.hexes import Place

Run = tuple[str, str]
"""A text and its style (rich's words, such as `bold red`), or "" for none."""


class Picture:
    """A sequence of runs. All characters are one column wide."""

    def __init__(self, text: str = "", style: str = "") -> None:
        self.runs: list[Run] = [(text, style)] if text else []

    @classmethod
    def assemble(cls, *parts: Union[str, Run, "Picture"]) -> "Picture":
        """Join texts, runs and pictures to one picture."""
        picture = cls()
        for part in parts:
            if isinstance(part, Picture):
                picture.append_text(part)
            else:
                picture.append(*((part,) if isinstance(part, str) else part))
        return picture

    @property
    def plain(self) -> str:
        """Text without its styles."""
        return "".join(text for text, _ in self.runs)

    @property
    def width(self) -> int:
        """Width in columns of a picture of one line."""
        return len(self.plain)

    def append(self, text: str, style: str = "") -> "Picture":
        """Append a text."""
        if text:
            self.runs.append((text, style))
        return self

    def append_text(self, other: "Picture") -> "Picture":
        """Append another picture."""
        self.runs += other.runs
        return self

    def pad_right(self, columns: int) -> None:
        """Append this number of blanks; none if it is negative."""
        self.append(" " * columns)

    def lines(self) -> list["Picture"]:
        """Split into lines; the text after the last line end counts if it is not empty."""
        lines = [Picture()]
        for text, style in self.runs:
            first, *rest = text.split("\n")
            lines[-1].append(first, style)
            lines += [Picture(line, style) for line in rest]
        return lines if lines[-1].runs else lines[:-1]


def viewpoint(seat: int | None) -> str:
    """Return a text for a view's seat, or for the spectators, whose views have none."""
    return "as a spectator" if seat is None else f"as seat {seat}"


def joined(items: Iterable[object]) -> str:
    """Return items as text, set off by commas."""
    return ", ".join(map(str, items))


def pairs(form: str, items: Mapping[Any, Any], between: str = ", ") -> str:
    """Return the items of a mapping as text, each in a form such as `seat {}: {}`."""
    return between.join(starmap(form.format, items.items()))


WALL_STYLE = "bright_black"
INK = {
    "/": "\N{BOX DRAWINGS LIGHT DIAGONAL UPPER RIGHT TO LOWER LEFT}",
    "\\": "\N{BOX DRAWINGS LIGHT DIAGONAL UPPER LEFT TO LOWER RIGHT}",
    "|": "\N{BOX DRAWINGS LIGHT VERTICAL}",
}
"""Walls in ASCII to box-drawing characters."""


class Tile(Struct, frozen=True):
    """Content of one cell: three columns of text, and a style."""

    text: str
    style: str = ""


def honeycomb(
    places: Mapping[str, Place], tiles: Mapping[str, Tile], labels: Mapping[int, str], *, plain: bool
) -> Picture:
    """Draw cells at their places (in half hexes), with a label left of each row (by its y).

    `plain` uses ASCII only.
    """
    left, top = min(x for x, _ in places.values()), min(y for _, y in places.values())
    canvas: dict[tuple[int, int], tuple[str, str]] = {}
    for name, (x, y) in places.items():
        _draw(canvas, 2 * (y - top) + 1, 2 * (x - left) + 3, tiles[name], plain=plain)
    for y, label in labels.items():
        for column, character in enumerate(label):
            canvas[2 * (y - top) + 1, column] = (character, "bold")
    return canvas_text(canvas)


def _draw(
    canvas: dict[tuple[int, int], tuple[str, str]], line: int, column: int, tile: Tile, *, plain: bool
) -> None:
    """Draw one cell; its west wall is at (line, column). Shared walls are drawn twice, identically."""
    walls = ((-1, 1, "/"), (-1, 3, "\\"), (0, 0, "|"), (0, 4, "|"), (1, 1, "\\"), (1, 3, "/"))
    for down, right, wall in walls:
        canvas[line + down, column + right] = (wall if plain else INK[wall], WALL_STYLE)
    for offset, character in enumerate(tile.text):
        canvas[line, column + 1 + offset] = (character, tile.style)


def canvas_text(canvas: Mapping[tuple[int, int], tuple[str, str]]) -> Picture:
    """Return the canvas as lines, without blanks at their ends."""
    text = Picture()
    for line in range(max(line for line, _ in canvas) + 1):
        width = max((column for at, column in canvas if at == line), default=-1) + 1
        inked = [canvas.get((line, column), (" ", "")) for column in range(width)]
        for style, run in groupby(inked, key=itemgetter(1)):
            text.append("".join(character for character, _ in run), style)
        text.append("\n")
    return text
