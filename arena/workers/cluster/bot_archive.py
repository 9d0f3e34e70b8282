"""Bots on their way to another machine: all that counts as a bot's content, as one parcel.

What arrives is believed only after its hash was taken anew: it is what the sender has, or it is not kept.
"""

import re
import tempfile
from pathlib import Path

from referee.bot_folder import (
    MEGABYTE,
    MOST_MB,
    ArchiveError,
    BotFolder,
    BotFolderError,
    ContentError,
    copied,
    folder_items,
    kept_bot,
    pack,
    unpack,
)

MOST_BYTES = MOST_MB * MEGABYTE
"""Of a bot's files."""
_CONTENT = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


def packed(folder: Path) -> bytes:
    """A bot's copy, compressed.

    Raises:
        BotFolderError: it cannot be sent.
    """
    try:
        return pack(folder, most=MOST_BYTES)
    except (ArchiveError, OSError) as error:
        raise BotFolderError(f"{folder}: cannot be sent to another machine: {error}") from None


def keep(content: str, parcel: bytes) -> None:
    """Keeps a bot that has arrived.

    Raises:
        BotFolderError: it is not what was announced.
        OSError: it cannot be written.
    """
    if not _CONTENT.fullmatch(content):
        raise BotFolderError(f"{content[:100]!r}: no hash of a content")
    with tempfile.TemporaryDirectory(prefix="arriving-") as folder:
        try:
            unpack(parcel, Path(folder), most=MOST_BYTES)
            found, _ = copied(folder_items(Path(folder), frozenset()))
        except (ArchiveError, ContentError) as error:
            raise BotFolderError(f"a bot arrived broken: {error}") from None
    if found != content:
        raise BotFolderError(f"a bot of content {content} was announced, and {found} arrived")


def arrived(bot: BotFolder) -> BotFolder:
    """A bot of another machine as it lies here: found by its content, which is looked at again.

    Raises:
        BotFolderError: it is not here, was changed here, or cannot be used here.
    """
    return kept_bot(bot.content, given=bot.given)
