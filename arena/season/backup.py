"""Backups of a season: one per stage or group that has started, in the layout of the season's results folder.

The season's own file is written last, so a stopped backup can be continued. The list of stages that have begun is
read first. Their source stages are closed by then, so no backed-up stage has a source with an older table.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from arena.errors import WrongUse, cannot_write
from arena.season.book import BOOK, read_book, write_book
from arena.season.results import parts_in
from arena.tournament import PAGE, Backup, Checked, Told, back_up, check_backup
from referee.linux.files import FOLDER_MODE, for_owner, open_regular


def back_up_season(season: Path, to: Path, tell: Told) -> Iterator[Backup]:
    """Create or update a backup of a season, which may be running; yield the result for each part.

    Raises:
        WrongUse: `to` holds something else or is in use, or the folder holds no season.
        MachineCannot: there is no space, or a ledger cannot be read.
    """
    book = read_book(season)
    parts = parts_in(season)
    _check_place(season, to)
    for part in parts:
        yield back_up(part, to / part.name, tell)
    if book is not None:
        write_book(to, book)
    if (season / PAGE).is_file():
        try:
            with open_regular(season / PAGE) as old, open(to / PAGE, "wb", opener=for_owner) as new:
                shutil.copyfileobj(old, new)
            os.sync()
        except OSError as error:
            raise cannot_write(to / PAGE, error) from None


def _check_place(season: Path, to: Path) -> None:
    """Create the folder if it does not exist, and check its content.

    Raises:
        WrongUse: the folder holds something other than a backup of this season.
        MachineCannot: there is no space.
    """
    if to.resolve() == season.resolve() or season.resolve() in to.resolve().parents:
        raise WrongUse(f"{to}: is where the results are; a backup goes to another folder")
    try:
        to.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        names = {path.name for path in to.iterdir()}
    except OSError as error:
        raise cannot_write(to, error) from None
    book, before = read_book(season), read_book(to)
    if before is not None and book is not None and before.seed != book.seed:
        raise WrongUse(f"{to}: holds a backup of another season, or of one before --fresh; give an empty folder")
    planned = {part for stage in book.stages for part in stage.parts} if book is not None else set()
    if before is None and not names <= {*planned, f"{BOOK}.part"}:
        raise WrongUse(f"{to}: is not empty and holds no backup; give an empty folder")


def check_season_backup(folder: Path, tell: Told) -> Checked:
    """Check all parts of a season's backup or of its results folder.

    Raises:
        WrongUse: there is no season, or a ledger is not valid.
        MachineCannot: a ledger cannot be read now.
    """
    found = [(part.name, check_backup(part, tell)) for part in parts_in(folder)]
    return Checked(
        matches=sum(each.matches for _, each in found),
        transcripts=sum(each.transcripts for _, each in found),
        entries=sum(each.entries for _, each in found),
        elsewhere=sum(each.elsewhere for _, each in found),
        wrong=tuple(f"{name}/{line}" for name, each in found for line in each.wrong),
    )
