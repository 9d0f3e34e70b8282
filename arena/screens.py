"""The two places where text goes: results to standard output, everything else to standard error."""

import sys

from rich import box
from rich.console import Console
from rich.table import Table

WIDE = 200
"""Columns where there is no terminal: a table in a file is not to be cut to one's width."""


def results_console() -> Console:
    """Standard output."""
    return Console(width=None if sys.stdout.isatty() else WIDE, emoji=False)


def progress_console() -> Console:
    """Standard error."""
    return Console(stderr=True, width=None if sys.stderr.isatty() else WIDE, emoji=False)


def grid(headings: dict[str, bool]) -> Table:
    """An empty table for the results; each heading says whether its column holds numbers."""
    if sys.stdout.isatty():
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    else:
        table = Table(box=box.ASCII2)
    for heading, is_number in headings.items():
        table.add_column(heading, justify="right" if is_number else "left")
    return table
