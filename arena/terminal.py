"""Output of text: results to standard output, everything else to standard error.

All output of the arena goes through this module. Text may be untrusted, such as a bot's output or an entry's name.
It can neither control the terminal nor is it read as markup.
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

from referee.display_text import printable

WIDE = 200
"""Width in columns without a terminal, so that output into a file is not cut."""
_BEYOND_ASCII = re.compile("[^\x00-\x7e]+")


class Screen(Console):
    """A console that shows text without reading it as markup."""

    def say(self, line: str) -> None:
        """Print one line of any text without folding it, so that a path in it can be copied."""
        self.print(Text(printable(line)), soft_wrap=True)

    def render_str(self, text: str, **how: Any) -> Text:
        """Render a string without markup and emoji codes; make it printable before its width is measured."""
        return super().render_str(_printable(text), **how | {"markup": False, "emoji": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object and make the text of its segments printable."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_printable(segment.text), segment.style)


def _printable(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def results_console() -> Screen:
    """Return a console for standard output."""
    return Screen(width=None if sys.stdout.isatty() else WIDE, emoji=False, markup=False, highlight=False)


def progress_console() -> Screen:
    """Return a console for standard error."""
    width = None if sys.stderr.isatty() else WIDE
    return Screen(stderr=True, width=width, emoji=False, markup=False, highlight=False)


def say(line: str) -> None:
    """Print one line to standard error."""
    progress_console().say(line)


class Words(TextColumn):
    """Text next to a progress bar; by default the task's description."""

    def __init__(self, words: str = "{task.description}") -> None:
        super().__init__(words, markup=False)

    def render(self, task: Task) -> Text:
        """See `TextColumn`."""
        return Text(printable(self.text_format.format(task=task)))


def progress_bar(screen: Screen, *columns: ProgressColumn, transient: bool = False) -> Progress:
    """Return a progress bar with description, count and further columns; it is shown only at a terminal."""
    parts = (Words(), BarColumn(), MofNCompleteColumn(), *columns)
    return Progress(*parts, console=screen, disable=not screen.is_terminal, transient=transient)


def arguments(*words: str | Path, options: tuple[str | Path, ...] = ()) -> tuple[str | Path, ...]:
    """Return a command's arguments and options in an order in which no argument is parsed as an option.

    A bot's label or folder may begin with a hyphen.
    """
    if any(str(word).startswith("-") for word in words):
        return (*options, "--", *words)
    return (*words, *options)


def command_line(*words: str | Path) -> str:
    """Return an arena command for people to type, quoted for a shell, with `ARENA_COMMAND` as its name if set."""
    return f"{os.environ.get('ARENA_COMMAND', 'arena')} {shlex.join(map(str, words))}"


def print_json(content: Any) -> None:
    """Write a value as JSON to standard output, on one line without characters that control a terminal."""
    sys.stdout.write(json_line(content) + "\n")


def print_json_list(rows: Iterable[Any]) -> None:
    """Write a JSON array to standard output, one row per line, without holding the whole array in memory."""
    sys.stdout.write("[")
    for number, row in enumerate(rows):
        sys.stdout.write((",\n" if number else "\n") + json_line(row))
    sys.stdout.write("\n]\n")


def json_line(content: Any) -> str:
    r"""Return a value as JSON in which control characters and invisible ones are written as `\uNNNN`."""
    text = msgspec.json.encode(content).decode()
    return text if text.isascii() and "\x7f" not in text else _BEYOND_ASCII.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return "".join(char if printable(char) == char else _units(char) for char in found[0])


def _units(char: str) -> str:
    """Return the JSON escape of a character; a surrogate pair beyond the first 65,536 characters."""
    octets = char.encode("utf-16-be")
    return "".join(f"\\u{octets[at]:02x}{octets[at + 1]:02x}" for at in range(0, len(octets), 2))
