"""Bots on their way to another machine: all that counts as a bot's content, as one archive.

What arrives is believed only after its hash was taken anew: it is what the sender has, or it is not kept.
"""

import re

from referee.bot_folder import (
    BotFolder,
    BotFolderError,
    ContentError,
    content_hash,
    copied,
    folder_items,
    kept_bot,
    pack,
    unpacked,
)

_CONTENT = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


def packed(bot: BotFolder) -> bytes:
    """A bot's copy, compressed.

    Raises:
        BotFolderError: it cannot be sent.
    """
    try:
        archive = pack(folder_items(bot.folder))
        same = content_hash(bot.folder) == bot.content
    except (ContentError, OSError) as error:
        raise BotFolderError(f"{bot.folder}: cannot be sent to another machine: {error}") from None
    if not same:
        raise BotFolderError(f"{bot.folder}: cannot be sent to another machine: it is not as it was made")
    return archive


def keep(content: str, archive: bytes) -> None:
    """Keeps a bot that has arrived.

    Raises:
        BotFolderError: it is not what was announced.
        OSError: it cannot be written.
    """
    if not _CONTENT.fullmatch(content):
        raise BotFolderError(f"{content[:100]!r}: no hash of a content")
    try:
        found, _ = copied(unpacked(archive))
    except ContentError as error:
        raise BotFolderError(f"a bot arrived broken: {error}") from None
    if found != content:
        raise BotFolderError(f"a bot of content {content} was announced, and {found} arrived")


def arrived(bot: BotFolder) -> BotFolder:
    """A bot of another machine as it lies here: found by its content, which is looked at again.

    Raises:
        BotFolderError: it is not here, was changed here, or cannot be used here.
    """
    return kept_bot(bot.content, given=bot.given)
