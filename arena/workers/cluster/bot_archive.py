"""Archives of bots for transfer to another machine, with all files that count as a bot's content.

The receiver computes the content hash again, and refuses an archive whose hash differs from the announced one.
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
    """Return a compressed archive of a bot.

    Raises:
        BotFolderError: the folder cannot be read, or its content has changed.
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
    """Unpack a received bot and store it on this machine.

    Raises:
        BotFolderError: the archive is broken, or its content does not match the announced hash.
        OSError: the bot cannot be written.
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
    """Return this machine's copy of another machine's bot, found by its content hash, which is checked again.

    Raises:
        BotFolderError: the copy is missing, was changed, or cannot be used on this machine.
    """
    return kept_bot(bot.content, given=bot.given)
