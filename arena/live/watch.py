"""Shows a running match to people: as a spectator sees it, as one seat does, or whole, for the host.

At a terminal the board is drawn in place. With a delay, a thread draws while the match continues, at most
`MOST_WAITING` steps behind it.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from threading import Condition, Thread
from types import TracebackType
from typing import Any, Literal, Self

from msgspec import Struct
from rich.live import Live
from rich.text import Text

from arena.errors import WrongUse
from arena.live.drawing import board_text, joined, laid_out, part_of, with_names
from arena.quantities import pluralise
from arena.terminal import Screen
from protocol.text import drawing_of
from protocol.words import Event, View
from referee.rules import Addressed, AnyGame, Table, shown

Eyes = int | Literal["spectator", "host"]
"""Viewpoint; a number is a seat."""
MOST_WAITING = 1_000
"""Most steps that wait to be drawn. Beyond it, the oldest are left out."""


class _Step(Struct, frozen=True):
    """A step to be drawn. States are immutable."""

    game: AnyGame
    state: Any
    addressed: tuple[Addressed, ...]


class Watcher:
    """Draws the events and the board after each window: call it with the table, within its `with` block."""

    def __init__(
        self, console: Screen, eyes: Eyes, names: Sequence[str], *, delay: float = 0.0, in_place: bool = True
    ) -> None:
        """Choose a viewpoint and an output.

        Args:
            console: the output.
            eyes: the viewpoint.
            names: the bots' names, indexed by seat.
            delay: minimum seconds that each step is shown.
            in_place: whether a terminal shows each step in place of the last; not where somebody types.
        """
        self._console = console
        self._eyes = eyes
        self._names = names
        self._delay = delay
        self._live = (
            Live(console=console, auto_refresh=False, vertical_overflow="crop")
            if in_place and console.is_terminal
            else None
        )
        self._told: list[Event] = []
        self._waiting: deque[_Step] = deque()
        self._left_out = 0
        self._changed = Condition()
        self._ended = self._stopped = False
        self._drawer = Thread(target=self._draw_all, daemon=True) if delay else None

    def __enter__(self) -> Self:
        """Start drawing."""
        if self._live is not None:
            self._live.start()
        if self._drawer is not None:
            self._drawer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait until all steps have been shown; if the match was stopped, drop the rest."""
        try:
            if self._drawer is not None:
                self._end(stop=error is not None)
                self._drawer.join()
        finally:
            if self._drawer is not None:
                self._end(stop=True)  # After Ctrl-C the rest is not shown.
                self._drawer.join()
            if self._live is not None:
                self._live.stop()

    def __call__(self, table: Table, addressed: Sequence[Addressed]) -> None:
        """Draw one step, or queue it for the thread."""
        step = _Step(table.game, table.state, tuple(addressed))
        if self._drawer is None:
            self._draw(step)
            return
        with self._changed:
            if len(self._waiting) == MOST_WAITING:
                self._waiting.popleft()
                self._left_out += 1
            self._waiting.append(step)
            self._changed.notify()

    def _end(self, *, stop: bool) -> None:
        with self._changed:
            self._ended, self._stopped = True, self._stopped or stop
            self._changed.notify()

    def _draw_all(self) -> None:
        """Draw queued steps; runs in the thread."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ended)
                if self._stopped or not self._waiting:
                    return
                step = self._waiting.popleft()
                behind, left_out, self._left_out = len(self._waiting), self._left_out, 0
            self._draw(step, _lag(behind, left_out))
            with self._changed:
                self._changed.wait_for(lambda: self._stopped, timeout=self._delay)

    def _draw(self, step: _Step, note: str = "") -> None:
        words_of = drawing_of(step.game.name).words
        seen = [each for each in step.addressed if self._sees(each)]
        self._told += [each.event for each in seen]
        words = [
            ("" if each.seat is None else f"to seat {each.seat} ({self._names[each.seat]}): ")
            + with_names(words_of(each.event), self._names)
            for each in seen
        ]
        board = board_text(
            step.game.name,
            self._view(step),
            [each.event for each in seen],
            plain=not self._console.is_terminal,
            told=self._told,
        )
        if self._live is None:
            self._print(board, [*words, *([note] if note else [])])
            return
        width, height = self._console.size
        lines = laid_out(self._console, board, [*words, *([note] if note else [])], width=width)
        # One line less than the height: the cursor occupies the last one.
        self._live.update(joined(part_of(lines, scroll=0, width=width, height=height - 1)[0]), refresh=True)

    def _print(self, board: Text, words: Sequence[str]) -> None:
        """Print one step below an empty line."""
        self._console.print()
        for line in words:
            self._console.print(line, highlight=False, markup=False)
        self._console.print(board, soft_wrap=True)

    def _sees(self, addressed: Addressed) -> bool:
        return addressed.seat is None or self._eyes in (addressed.seat, "host")

    def _view(self, step: _Step) -> View:
        if self._eyes == "host":
            return step.game.host_view(step.state)
        return shown(step.game, step.state, None if self._eyes == "spectator" else self._eyes)


def _lag(behind: int, left_out: int) -> str:
    """Return a note on how far the drawing is behind the match, or ""."""
    notes = [f"{pluralise(behind, 'step')} behind the match"] if behind else []
    if left_out:
        notes.append(f"{pluralise(left_out, 'step')} {'was' if left_out == 1 else 'were'} left out")
    return "; ".join(notes)


def read_eyes(option: str, text: str, seats: int) -> Eyes:
    """Parse an option's value: `spectator`, `host`, or a seat's number.

    Raises:
        WrongUse: it is none of these.
    """
    if text in ("spectator", "host"):
        return "spectator" if text == "spectator" else "host"
    with suppress(ValueError):  # Python refuses numbers of thousands of digits.
        if text.isdecimal() and int(text) < seats:
            return int(text)
    raise WrongUse(f"{option}: {text!r} is neither spectator nor host nor a seat from 0 to {seats - 1}")
