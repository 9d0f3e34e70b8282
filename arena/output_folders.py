"""Where results go: never into a bot's folder, whose content hash each file there would change."""

import os
from pathlib import Path

from arena.errors import WrongUse
from referee.bot_folder import FILE, cache_folder


def default_folder(wanted: str, start: Path = Path()) -> Path:
    """Return where results go by default: to `wanted` below `start`.

    If `start` is a bot's folder or lies in one, they go beside that folder, or into the arena's cache where that
    is not allowed.

    Args:
        wanted: a relative path.
        start: the folder that it starts from.
    """
    bot = bot_folder_around(start)
    if bot is None:
        return start / wanted
    if os.access(bot.parent, os.W_OK | os.X_OK):
        return Path(os.path.relpath(bot.parent / wanted))
    return cache_folder() / wanted


def refuse_in_bot(folder: Path, field: str) -> None:
    """Check that a folder that was asked for is not in a bot's folder.

    Args:
        folder: where results are to go; it need not be there.
        field: the option or field that names it, for the error.

    Raises:
        WrongUse: it is.
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
    except (OSError, ValueError):  # Whoever opens it says what is wrong with it.
        return None
    around = [each for each in (place, *place.parents) if os.path.lexists(each / FILE)]
    return around[-1] if around else None
