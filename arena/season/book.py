"""A season's own file in its results folder: its seed and the plan of its stages.

The file is created when the season begins, and is always replaced as a whole. Results are in the stages' ledgers.
"""

import json
import os
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from arena.errors import WrongUse, cannot_write
from referee.linux.files import for_owner, read_regular

BOOK = "season.json"
MOST_BYTES = 1_000_000
MOST_STAGES, MOST_PARTS = 20, 26
SCHEMA = 1

Text = Annotated[str, Meta(max_length=1_000)]
Name = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9-]{0,39}\Z")]
"""Name of a stage or folder; the pattern excludes paths that lead out of the folder."""


class PlannedStage(Struct, frozen=True, kw_only=True):
    """The plan of a stage."""

    name: Name
    rule: Text
    """Description of the rule that selects the stage's bots."""
    parts: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MOST_PARTS)]
    """Folder names of the stage's tournaments."""


class SeasonBook(Struct, frozen=True, kw_only=True):
    """The data of a season that is not in its ledgers."""

    schema: int = SCHEMA
    seed: int
    """Seed of all random draws. It determines future deals, so no page shows it."""
    left_out: dict[str, Text] = {}
    """Reason by label, for the bots that could not start."""
    stages: Annotated[tuple[PlannedStage, ...], Meta(min_length=1, max_length=MOST_STAGES)]


def read_book(folder: Path) -> SeasonBook | None:
    """Return the book of a season's results folder; None if there is none.

    Raises:
        WrongUse: the file is not valid or cannot be read.
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
    """Return whether a results folder belongs to a season's stage."""
    return (folder.resolve().parent / BOOK).is_file()


def title_of(folder: Path) -> str:
    """Return the title of the tournament in a results folder: `cup`, or in a season `league: final`."""
    place = folder.resolve()
    return f"{place.parent.name}: {place.name}" if is_of_season(folder) else place.name


def write_book(folder: Path, book: SeasonBook) -> None:
    """Write the book atomically and readable by its owner alone; a power cut leaves the old or the new file.

    Raises:
        WrongUse: the file cannot be written there.
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
