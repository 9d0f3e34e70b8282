"""The two places where text goes: results to standard output, everything else to standard error."""

import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from referee.printable import printable

WIDE = 200
"""Columns where there is no terminal: what goes into a file is not to be cut to one's width."""


class Screen(Console):
    """A console that no text commands: it may be a bot's, or come out of somebody's transcript."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As it would be, with what is no text but controls spelled out."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_printable(segment.text), segment.style)


def _printable(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def results_console() -> Console:
    """Standard output."""
    return Screen(width=None if sys.stdout.isatty() else WIDE, emoji=False)


def progress_console() -> Console:
    """Standard error."""
    return Screen(stderr=True, width=None if sys.stderr.isatty() else WIDE, emoji=False)
