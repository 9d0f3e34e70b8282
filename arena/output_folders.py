"""Folders for results. They are never in a bot's folder, because each file there would change its content hash."""

import os
from pathlib import Path

from arena.errors import WrongUse
from referee.bot_folder import FILE, cache_folder


def default_folder(wanted: str, start: Path = Path()) -> Path:
    """Return the default folder for results: `wanted` below `start`.

    If `start` is a bot's folder or inside one, the results go next to that folder, or into the arena's cache if
    that place is not writable.

    Args:
        wanted: a relative path.
        start: the folder to which `wanted` is relative.
    """
    bot = bot_folder_around(start)
    if bot is None:
        return start / wanted
    if os.access(bot.parent, os.W_OK | os.X_OK):
        return Path(os.path.relpath(bot.parent / wanted))
    return cache_folder() / wanted


def refuse_in_bot(folder: Path, field: str) -> None:
    """Check that a requested folder is not a bot's folder or inside one.

    Args:
        folder: the folder for results; it need not exist.
        field: name of the option or field for the error.

    Raises:
        WrongUse: the folder is a bot's folder or inside one.
    """
    if bot := bot_folder_around(folder):
        raise WrongUse(
            f"{field}: {folder} lies in the folder of a bot, {bot}: what is written there would make it another"
            " bot; choose a place outside"
        )


def bot_folder_around(folder: Path) -> Path | None:
    """Return the outermost bot's folder that is or holds `folder`, as a path without links, or None."""
    try:
        place = Path(os.path.realpath(folder))
    except (OSError, ValueError):  # Opening the folder reports the error later.
        return None
    around = [each for each in (place, *place.parents) if os.path.lexists(each / FILE)]
    return around[-1] if around else None
