"""The two places where text goes: results to standard output, everything else to standard error.

All that the arena says goes through here. Text may be a bot's, an entry's name, or out of somebody's transcript:
it is shown as it stands, and neither commands the terminal nor is read as markup.
"""

import os
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType  # noqa: TID251 - this is the door
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,  # noqa: TID251 - this is the door
)
from rich.segment import Segment
from rich.text import Text

from referee.printable import printable

WIDE = 200
"""Columns where there is no terminal: what goes into a file is not to be cut to one's width."""
_BEYOND_ASCII = re.compile("[^\x00-\x7e]+")


class Screen(Console):
    """A console on which text is text."""

    def say(self, line: str) -> None:
        """Shows one line, whatever it holds; it is not folded, so that a path in it can be copied."""
        self.print(Text(printable(line)), soft_wrap=True)

    def render_str(self, text: str, **how: Any) -> Text:
        """As it would be, without markup and emoji codes, and spelled before its width is measured."""
        return super().render_str(_printable(text), **how | {"markup": False, "emoji": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As it would be; also what was no plain string is spelled where it would do something."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_printable(segment.text), segment.style)


def _printable(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def results_console() -> Screen:
    """Standard output."""
    return Screen(width=None if sys.stdout.isatty() else WIDE, emoji=False, markup=False, highlight=False)


def progress_console() -> Screen:
    """Standard error."""
    width = None if sys.stderr.isatty() else WIDE
    return Screen(stderr=True, width=width, emoji=False, markup=False, highlight=False)


def say(line: str) -> None:
    """Shows one line on standard error."""
    progress_console().say(line)


class Words(TextColumn):
    """Words beside a progress bar; what is in progress, if they are not said."""

    def __init__(self, words: str = "{task.description}") -> None:
        super().__init__(words, markup=False)

    def render(self, task: Task) -> Text:
        """See `TextColumn`."""
        return Text(printable(self.text_format.format(task=task)))


def progress_bar(screen: Screen, *columns: ProgressColumn, transient: bool = False) -> Progress:
    """A bar with what is in progress, how many of how many, and further columns; at a terminal only."""
    parts = (Words(), BarColumn(), MofNCompleteColumn(), *columns)
    return Progress(*parts, console=screen, disable=not screen.is_terminal, transient=transient)


def arguments(*words: str | Path, options: tuple[str | Path, ...] = ()) -> tuple[str | Path, ...]:
    """Return a command's arguments and options in an order in which no argument is taken for an option.

    A bot's label or folder may begin with a hyphen.
    """
    if any(str(word).startswith("-") for word in words):
        return (*options, "--", *words)
    return (*words, *options)


def command_line(*words: str | Path) -> str:
    """A command of the arena for people to type, called as they called it themselves, and quoted for a shell."""
    return f"{os.environ.get('ARENA_COMMAND', 'arena')} {shlex.join(map(str, words))}"


def print_json(content: Any) -> None:
    """Writes a value to standard output for programs, on one line that does nothing to a terminal either."""
    sys.stdout.write(json_line(content) + "\n")


def print_json_list(rows: Iterable[Any]) -> None:
    """Writes an array to standard output, a row a line, each as it comes: the array is never held whole."""
    sys.stdout.write("[")
    for number, row in enumerate(rows):
        sys.stdout.write((",\n" if number else "\n") + json_line(row))
    sys.stdout.write("\n]\n")


def json_line(content: Any) -> str:
    r"""A value as JSON, in which what would do something, or could not be seen, is written as `\uNNNN`."""
    text = msgspec.json.encode(content).decode()
    return text if text.isascii() and "\x7f" not in text else _BEYOND_ASCII.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return "".join(char if printable(char) == char else _units(char) for char in found[0])


def _units(char: str) -> str:
    """As JSON spells it: beyond the first 65,536 characters, as a pair."""
    octets = char.encode("utf-16-be")
    return "".join(f"\\u{octets[at]:02x}{octets[at + 1]:02x}" for at in range(0, len(octets), 2))
