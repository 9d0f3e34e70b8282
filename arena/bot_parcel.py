"""Bots on their way to another machine: a folder as one archive, and a cache there by the hash of its content.

What arrives is believed only after its hash was taken anew: it is what the sender has, or it is not kept.
"""

import re
from pathlib import Path

from msgspec.structs import replace

from referee.archive import ArchiveError, pack, unpack
from referee.bot_folder import BotFolder, BotFolderError, content_hash, read_bot
from referee.bot_revision import cache_folder
from referee.cache_entry import CacheError, making, private, settle

MOST_BYTES = 4 * 1024**3
"""Of a bot's files."""
_CONTENT = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


def packed(folder: Path) -> bytes:
    """All that counts as a bot's content, compressed.

    Raises:
        BotFolderError: it cannot be sent.
    """
    try:
        return pack(folder, most=MOST_BYTES)
    except (ArchiveError, OSError) as error:
        raise BotFolderError(f"{folder}: cannot be sent to another machine: {error}") from None


def place_of(content: str) -> Path:
    """Where a bot of this content is kept; not there before it has arrived."""
    return cache_folder() / "arrived" / content.removeprefix("sha256:")


def keep(content: str, parcel: bytes) -> None:
    """Keeps a bot that has arrived.

    Raises:
        BotFolderError: it is not what was announced, or others may write to where it would be kept.
        OSError: it cannot be written.
    """
    if not _CONTENT.fullmatch(content):
        raise BotFolderError(f"{content[:100]!r}: no hash of a content")
    place = place_of(content)
    try:
        private(cache_folder())
        private(place.parent)
    except CacheError as error:
        raise BotFolderError(str(error)) from None
    with making(place.parent) as made:
        bot = made / "bot"
        bot.mkdir()
        try:
            unpack(parcel, bot, most=MOST_BYTES)
        except ArchiveError as error:
            raise BotFolderError(f"a bot arrived broken: {error}") from None
        if (found := content_hash(bot)) != content:
            raise BotFolderError(f"a bot of content {content} was announced, and {found} arrived")
        settle(bot, place)


def arrived(bot: BotFolder) -> BotFolder:
    """A bot of another machine as it lies here: found by its content, which is looked at again.

    Raises:
        BotFolderError: it is not here, was changed here, or cannot be used here.
    """
    here = read_bot(place_of(bot.content), given=bot.given)
    if here.content != bot.content:
        raise BotFolderError(f"{here.folder}: was changed since it arrived: delete it")
    return replace(here, given=bot.given)
