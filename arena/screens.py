"""The two places where text goes: results to standard output, everything else to standard error."""

import sys

from rich.console import Console

WIDE = 200
"""Columns where there is no terminal: what goes into a file is not to be cut to one's width."""


def results_console() -> Console:
    """Standard output."""
    return Console(width=None if sys.stdout.isatty() else WIDE, emoji=False)


def progress_console() -> Console:
    """Standard error."""
    return Console(stderr=True, width=None if sys.stderr.isatty() else WIDE, emoji=False)
