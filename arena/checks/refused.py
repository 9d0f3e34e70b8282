"""Keeps why a check refused to let a competition begin, for whoever looks at its results folder later."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from arena.errors import cannot_write
from arena.quantities import counted
from referee.linux.private_file import FOLDER_MODE, MODE
from referee.linux.regular_file import read_regular
from referee.linux.whole_file import write_bytes_whole
from referee.printable import printable, printable_name

REFUSED = "refused.json"
MOST_BYTES = 1_000_000
MOST_BOTS, MOST_NAMED = 100, 3
MOST_CHARACTERS = 1_000

Text = Annotated[str, Meta(max_length=MOST_CHARACTERS)]


class RefusedCheck(Struct, frozen=True, kw_only=True):
    """Why a competition has not begun: bots that cannot start."""

    cannot_start: Annotated[dict[Text, Text], Meta(min_length=1, max_length=MOST_BOTS)]
    """By label: why. The first ones."""
    count: Annotated[int, Meta(ge=1)]
    """How many bots cannot start."""
    logs: Text
    """The name of the folder with the check's transcripts and logs, in the folder of checks."""

    @property
    def text(self) -> str:
        """Which bots cannot start."""
        *names, last = [printable_name(label) for label in self.cannot_start][:MOST_NAMED]
        if self.count > MOST_NAMED:
            names, last = [*names, last], counted(self.count - MOST_NAMED, "other")
        return f"{', '.join(names)} and {last} cannot start" if names else f"{last} cannot start"

    @property
    def lines(self) -> list[str]:
        """Why each bot cannot start."""
        return [f"{printable_name(label)}: {printable(why)}" for label, why in self.cannot_start.items()]


def write_refusal(folder: Path, cannot_start: dict[str, str]) -> None:
    """Write down which bots cannot start, and why. `folder`: the check's, in the folder of checks.

    Raises:
        WrongUse: it cannot be written there.
        MachineCannot: there is no space.
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
    """Remove what an earlier check wrote down. `folder`: a check's."""
    with suppress(OSError):
        (folder.parent / REFUSED).unlink()


def read_refusal(checks: Path) -> RefusedCheck | None:
    """Return why the last check of a folder of checks refused; None: it did not, or nobody wrote it down."""
    try:
        return msgspec.json.decode(read_regular(checks / REFUSED, MOST_BYTES), type=RefusedCheck)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None  # It is a help for readers, and no result.
