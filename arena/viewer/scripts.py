"""Runs the drawings of games outside a browser, in V8, with bounds on time and memory.

V8 gets the same scripts as a page. What it returns is plain data: the tree of a drawing's elements.
"""

from typing import Any

from msgspec import Struct
from msgspec.json import decode, encode

from arena.viewer.page import script_of_drawing, shared_script

SECONDS = 20.0
"""Maximum seconds of a script for one step, or for a match's data."""
MOST_BYTES = 256 * 1024 * 1024
"""Maximum bytes of V8's heap."""


class DrawingFailedError(Exception):
    """A drawing cannot be made; the text is the reason."""


class Drawing(Struct, frozen=True, array_like=True):
    """A drawing of one step."""

    heading: str
    legend: str
    scores: list[float | None] | None
    """Score of each seat; None if the drawing has none."""
    tree: Any
    """Name, attributes and children of the outermost element; a string for a text; None without a drawing."""


class DrawingEngine:
    """A V8 engine that draws the steps of one match after another. Not safe for threads.

    After an error its state is unknown: use another one. Leave the process by `os._exit`: V8 may never end.
    """

    def __init__(self) -> None:
        # Imported late, because it is part of an extra.
        from py_mini_racer import MiniRacer  # noqa: PLC0415

        self._engine = MiniRacer()
        self._engine.set_hard_memory_limit(MOST_BYTES)
        self._engine.eval(shared_script(), timeout_sec=SECONDS)
        self._known: set[str] = set()

    def load(self, game: str, data: bytes) -> None:
        """Take the data of a match, as `page_data` returns it, encoded as JSON.

        Raises:
            DrawingFailedError: the drawing's script is wrong, or the data takes too much time or memory.
        """
        script = script_of_drawing(game)
        if script and game not in self._known:
            name = encode(game).decode()
            self._run(f"makers[{name}] = () => {{\n{script}\nreturn drawings[{name}];\n}};0")
            self._known.add(game)
        self._run("load", data.decode())

    def draw(self, eyes: str, at: int) -> Drawing:
        """Draw a step, counted from 0. Raises DrawingFailedError as `load`."""
        text = self._run("drawn", eyes, at)
        try:
            return decode(str(text).encode(errors="replace"), type=Drawing)
        except ValueError as error:
            raise DrawingFailedError(f"the drawing returns wrong values: {error}") from None

    def _run(self, code: str, *arguments: str | int) -> object:
        """Evaluate code; with arguments, call the function that it names."""
        from py_mini_racer import JSEvalException  # noqa: PLC0415

        try:
            if arguments:
                function: Any = self._engine.eval(code)
                return function(*arguments, timeout_sec=SECONDS)
            return self._engine.eval(code, timeout_sec=SECONDS)
        except JSEvalException as error:
            raise DrawingFailedError(str(error).partition("\n")[0]) from None
