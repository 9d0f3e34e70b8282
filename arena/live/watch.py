"""Boards at a terminal, and a running match: as a spectator sees it, as one seat does, or whole, for the host.

`protocol.text` draws the boards. At a terminal they are drawn in place. With a delay, a thread draws while the
match continues, at most `MOST_WAITING` steps behind it.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Condition, Thread
from types import TracebackType
from typing import Any, Literal, Self

from msgspec import Struct
from rich.live import Live
from rich.text import Text

from arena.errors import WrongUse
from arena.live.moments import Commentator, numbered_names
from arena.quantities import pluralise
from arena.terminal import Screen, shortened
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
        self._live: Live | None = None
        if in_place and console.is_terminal:
            self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop")
        self._commentator: Commentator | None = None
        """The commentator of a match that the host watches; None before the first step."""
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
            self._draw(step, behind, left_out)
            with self._changed:
                self._changed.wait_for(lambda: self._stopped, timeout=self._delay)

    def _draw(self, step: _Step, behind: int = 0, left_out: int = 0) -> None:
        """Draw a step, with the number of steps that wait and of those left out before it."""
        game = step.game.name
        events, words = [], self._remarks(step, left_out)
        for each in step.addressed:
            if may_know(self._eyes, each.seat):
                events.append(each.event)
                text = with_names(drawing_of(game).words(each.event), self._names)
                if each.seat is not None:
                    text = f"to seat {each.seat} ({self._names[each.seat]}): {text}"
                words.append(text)
        if note := _lag(behind, left_out):
            words.append(note)
        self._told += events
        view = view_of(step.game, step.state, self._eyes)
        board = board_text(game, view, events, plain=not self._console.is_terminal, told=self._told)
        if self._live is None:
            self._print(board, words)
            return
        width, height = self._console.size
        lines = laid_out(self._console, board, words, width=width)
        # One line less than the height: the cursor occupies the last one.
        self._live.update(joined(part_of(lines, scroll=0, width=width, height=height - 1)[0]), refresh=True)

    def _remarks(self, step: _Step, left_out: int) -> list[str]:
        """Return the commentary on a step for the host, who may know everything; nothing if steps are missing."""
        if self._eyes != "host":
            return []
        if self._commentator is None:
            self._commentator = Commentator(step.game.name, numbered_names(self._names))
        remarks, _ = self._commentator.comment(view_of(step.game, step.state, "host"), step.addressed)
        return [] if left_out else [remark.text for remark in remarks]

    def _print(self, board: Text, words: Sequence[str]) -> None:
        """Print one step below an empty line."""
        self._console.print()
        for line in words:
            self._console.print(line, highlight=False, markup=False)
        self._console.print(board, soft_wrap=True)


def may_know(eyes: Eyes, seat: int | None) -> bool:
    """Return whether a viewpoint may know a fact that only this seat and the host may; None: everyone may."""
    return seat is None or eyes in (seat, "host")


def view_of(game: AnyGame, state: Any, eyes: Eyes) -> View:
    """Return the board of a state for a viewpoint."""
    if eyes == "host":
        return game.host_view(state)
    return shown(game, state, None if eyes == "spectator" else eyes)


def _lag(behind: int, left_out: int) -> str:
    """Return a note on how far the drawing is behind the match, or ""."""
    notes = []
    if behind:
        notes.append(f"{pluralise(behind, 'step')} behind the match")
    if left_out:
        notes.append(f"{pluralise(left_out, 'step')} {'was' if left_out == 1 else 'were'} left out")
    return "; ".join(notes)


def read_eyes(option: str, text: str, seats: int) -> Eyes:
    """Parse an option's value: `spectator`, `host`, or a seat's number.

    Raises:
        WrongUse: it is none of these.
    """
    words: dict[str, Eyes] = {"spectator": "spectator", "host": "host"}
    if text in words:
        return words[text]
    with suppress(ValueError):  # Python refuses numbers of thousands of digits.
        if text.isdecimal() and int(text) < seats:
            return int(text)
    raise WrongUse(f"{option}: {text!r} is neither spectator nor host nor a seat from 0 to {seats - 1}")


BESIDE = 26
"""Columns that text to the right of a board needs; with fewer, it is placed below."""
GAP = "  "
LONGEST_NAME = 40
"""Longest name within a text, in columns."""
SEATS = re.compile(r"\bseats? \d+(?:, \d+)*")
"""Pattern of seats in the text of events."""
_NUMBER = re.compile(r"\d+")


def board_text(game: str, view: View, events: Sequence[Event], *, plain: bool, told: Sequence[Event]) -> Text:
    """Return a game's board under its heading: see `protocol.text.registry.Board`."""
    return Text.assemble(*drawing_of(game).board(view, events, plain=plain, told=told).runs, no_wrap=True)


def with_names(words: str, names: Sequence[str]) -> str:
    """Return the words of an event with each seat's name, where it is known: `seat 0 (anna) goes first`."""

    def named(number: re.Match[str]) -> str:
        seat = int(number[0])
        if seat >= len(names) or not names[seat]:
            return str(seat)
        return f"{seat} ({shortened(names[seat], LONGEST_NAME)})"

    return SEATS.sub(lambda seats: _NUMBER.sub(named, seats[0]), words)


def in_names(words: str, names: Sequence[str]) -> str:
    """Return the words of an event with names instead of seats, where they are known: `anna goes first`."""

    def named(seats: re.Match[str]) -> str:
        numbers = list(map(int, _NUMBER.findall(seats[0])))
        if any(seat >= len(names) or not names[seat] for seat in numbers):
            return with_names(seats[0], names)
        return ", ".join(shortened(names[seat], LONGEST_NAME) for seat in numbers)

    return SEATS.sub(named, words)


def laid_out(screen: Screen, board: Text, words: Sequence[str], *, width: int) -> list[Text]:
    """Return the lines of a board with text to its right, or below if the board is too wide for that."""
    drawn = board.split("\n")
    across = max((line.cell_len for line in drawn), default=0)
    if width - across - len(GAP) < BESIDE:
        return [*drawn, *_wrapped(screen, words, width)]
    told = list(_wrapped(screen, words, width - across - len(GAP)))
    drawn.extend(Text() for _ in range(len(told) - len(drawn)))
    lines = list(map(Text.copy, drawn))
    for line, text in zip(lines, told, strict=False):
        line.pad_right(across - line.cell_len)
        line.append(GAP).append_text(text)
    return lines


def part_of(lines: Sequence[Text], *, scroll: int, width: int, height: int) -> tuple[list[Text], int]:
    """Return the visible lines and the index of the first; `scroll` may be larger than possible."""
    first = max(0, min(scroll, len(lines) - height))
    shown = list(map(Text.copy, lines[first : first + height]))
    for line in shown:
        line.truncate(width)
    return shown, first


def joined(lines: Sequence[Text]) -> Text:
    """Join lines to one text that is not wrapped."""
    text = Text("\n", no_wrap=True, overflow="crop").join(lines)
    text.no_wrap, text.overflow = True, "crop"
    return text


def _wrapped(screen: Screen, words: Sequence[str], width: int) -> Iterator[Text]:
    for each in words:
        first, *rest = screen.render_str(each).wrap(screen, max(1, width - len(GAP))) or [Text()]
        yield first
        for line in rest:
            yield Text(GAP).append_text(line)
