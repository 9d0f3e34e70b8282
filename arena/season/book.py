"""A season's own file in its results folder: its seed, and its stages as far as pages need them.

It is made when the season begins, and written whole. What was played is in the stages' ledgers.
"""

import json
import os
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from arena.errors import WrongUse, cannot_write
from referee.linux.private_file import for_owner
from referee.linux.regular_file import read_regular

BOOK = "season.json"
MOST_BYTES = 1_000_000
MOST_STAGES, MOST_PARTS = 20, 26
SCHEMA = 1

Text = Annotated[str, Meta(max_length=1_000)]
Name = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9-]{0,39}\Z")]
"""Of a stage or a folder: no way up."""


class PlannedStage(Struct, frozen=True, kw_only=True):
    """A stage, as it is planned."""

    name: Name
    rule: Text
    """Who plays in it, in words."""
    parts: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MOST_PARTS)]
    """The folders of its tournaments."""


class SeasonBook(Struct, frozen=True, kw_only=True):
    """What is known of a season beside its ledgers."""

    schema: int = SCHEMA
    seed: int
    """Of all that is drawn. It tells the deals to come: no page says it."""
    left_out: dict[str, Text] = {}
    """The bots that could not start, and why."""
    stages: Annotated[tuple[PlannedStage, ...], Meta(min_length=1, max_length=MOST_STAGES)]


def read_book(folder: Path) -> SeasonBook | None:
    """The book of a season's results folder; None: there is none.

    Raises:
        WrongUse: it is not as an arena writes it.
    """
    path = folder / BOOK
    try:
        content = read_regular(path, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise WrongUse(f"{path}: cannot be read: {error.strerror}") from None
    try:
        book = msgspec.json.decode(content, type=SeasonBook)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WrongUse(f"{path}: not as an arena writes it: {error}") from None
    parts = [part for stage in book.stages for part in stage.parts]
    if len(set(parts)) < len(parts):
        raise WrongUse(f"{path}: not as an arena writes it: two stages have one folder")
    if book.schema != SCHEMA:
        raise WrongUse(f"{path}: a season of schema {book.schema}; this arena reads schema {SCHEMA}")
    return book


def is_of_season(folder: Path) -> bool:
    """Whether a results folder is one of a season's stages."""
    return (folder.resolve().parent / BOOK).is_file()


def title_of(folder: Path) -> str:
    """What the tournament of a results folder is called: `cup`, or `league: final`."""
    place = folder.resolve()
    return f"{place.parent.name}: {place.name}" if is_of_season(folder) else place.name


def write_book(folder: Path, book: SeasonBook) -> None:
    """Writes it whole, for its owner alone, so that a power cut leaves the old one or the new one.

    Raises:
        WrongUse: it cannot be written there.
        MachineCannot: there is no space.
    """
    path = folder / BOOK
    part = path.with_name(f"{BOOK}.part")
    try:
        with open(part, "w", encoding="utf-8", opener=for_owner) as file:
            json.dump(msgspec.to_builtins(book), file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from None
