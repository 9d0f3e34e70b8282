"""The options that say where matches are played, how many at once, and where their transcripts go."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from arena.workers import LOCAL, MAX_CONCURRENCY

AT_ONCE = click.IntRange(1, MAX_CONCURRENCY)
CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def where_options(command: CommandT) -> CommandT:
    """Adds them to a command."""
    for option in (
        click.option(
            "--transcripts",
            metavar="URL",
            help="Folder or object store for transcripts (s3://..., file:///...).  [default: the results folder]",
        ),
        click.option(
            "--on",
            default=LOCAL,
            show_default=True,
            metavar="PLACE",
            help="Where to play: local, or an existing Dask cluster's dask://HOST:PORT.",
        ),
        click.option(
            "--workers",
            type=AT_ONCE,
            help="Referee processes for them.  [default: one for each core]",
        ),
        click.option(
            "--concurrency",
            type=AT_ONCE,
            help="Matches at once.  [default: one for each core]",
        ),
    ):
        command = option(command)
    return command
