"""A file that records why a check refused to start a competition, for later readers of the results folder."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from arena.errors import cannot_write
from arena.quantities import counted
from referee.linux.files import FOLDER_MODE, MODE, read_regular, write_bytes_whole
from referee.printable import printable, printable_name

REFUSED = "refused.json"
MOST_BYTES = 1_000_000
MOST_BOTS, MOST_NAMED = 100, 3
MOST_CHARACTERS = 1_000

Text = Annotated[str, Meta(max_length=MOST_CHARACTERS)]


class RefusedCheck(Struct, frozen=True, kw_only=True):
    """The bots that cannot start, because of which a competition was not started."""

    cannot_start: Annotated[dict[Text, Text], Meta(min_length=1, max_length=MOST_BOTS)]
    """Reason by the bot's label; the first `MOST_BOTS` bots only."""
    count: Annotated[int, Meta(ge=1)]
    """Number of bots that cannot start."""
    logs: Text
    """Name of the folder with the check's transcripts and logs, inside the folder of checks."""

    @property
    def text(self) -> str:
        """Sentence that names the bots that cannot start."""
        *names, last = [printable_name(label) for label in self.cannot_start][:MOST_NAMED]
        if self.count > MOST_NAMED:
            names, last = [*names, last], counted(self.count - MOST_NAMED, "other")
        return f"{', '.join(names)} and {last} cannot start" if names else f"{last} cannot start"

    @property
    def lines(self) -> list[str]:
        """One line per bot with the reason why it cannot start."""
        return [f"{printable_name(label)}: {printable(why)}" for label, why in self.cannot_start.items()]


def write_refusal(folder: Path, cannot_start: dict[str, str]) -> None:
    """Record which bots cannot start, and why. `folder` is the check's, inside the folder of checks.

    Raises:
        WrongUse: the file cannot be written there.
        MachineCannot: the disk is full.
    """
    first = list(cannot_start.items())[:MOST_BOTS]
    refused = RefusedCheck(
        cannot_start={label[:MOST_CHARACTERS]: why[:MOST_CHARACTERS] for label, why in first},
        count=len(cannot_start),
        logs=folder.name,
    )
    path = folder.parent / REFUSED
    try:
        path.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        write_bytes_whole(path, msgspec.json.encode(refused), MODE)
    except OSError as error:
        raise cannot_write(path, error) from None


def forget_refusal(folder: Path) -> None:
    """Remove the record of an earlier check. `folder` is the check's, inside the folder of checks."""
    with suppress(OSError):
        (folder.parent / REFUSED).unlink()


def read_refusal(checks: Path) -> RefusedCheck | None:
    """Return the record in a folder of checks, or None if there is no valid one."""
    try:
        return msgspec.json.decode(read_regular(checks / REFUSED, MOST_BYTES), type=RefusedCheck)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None  # The record only helps readers, so a broken one is no error.
