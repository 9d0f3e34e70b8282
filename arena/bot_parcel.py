"""Bots on their way to another machine: a folder as one archive, and a cache there by the hash of its content.

What arrives is believed only after its hash was taken anew: it is what the sender has, or it is not kept.
"""

import io
import shutil
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from referee.archive import ArchiveError, unpack
from referee.bot_folder import BotFolder, BotFolderError, content_hash, entries, read_bot
from referee.bot_revision import cache_folder

LEVEL = 6
"""Of compression: a parcel is made once, and sent to each machine."""
MOST_BYTES = 4 * 1024**3
"""Of a bot's files."""


def packed(folder: Path) -> bytes:
    """All that counts as a bot's content, compressed."""
    parcel = io.BytesIO()
    with tarfile.open(fileobj=parcel, mode="w:gz", compresslevel=LEVEL) as tar:
        for path in sorted(entries(folder)):
            tar.add(path, arcname=path.relative_to(folder), recursive=False)
    return parcel.getvalue()


def place_of(content: str) -> Path:
    """Where a bot of this content is kept; not there before it has arrived."""
    return cache_folder() / "arrived" / content.removeprefix("sha256:")


def keep(content: str, parcel: bytes) -> None:
    """Keeps a bot that has arrived.

    Raises:
        BotFolderError: it is not what was announced.
        OSError: it cannot be written.
    """
    place = place_of(content)
    place.parent.mkdir(parents=True, exist_ok=True)
    arriving = Path(tempfile.mkdtemp(prefix="arriving-", dir=place.parent))
    try:
        _unpack(parcel, arriving)
        if (found := content_hash(arriving)) != content:
            raise BotFolderError(f"a bot of content {content} was announced, and {found} arrived")
        arriving.chmod(0o755)
        with suppress(OSError):
            # Somebody else may have been faster: a folder that is not empty is never replaced.
            arriving.rename(place)
        if not place.is_dir():
            raise BotFolderError(f"{place}: cannot be kept")
    finally:
        shutil.rmtree(arriving, ignore_errors=True)


def arrived(bot: BotFolder) -> BotFolder:
    """A bot of another machine as it lies here: found by its content, which is looked at again.

    Raises:
        BotFolderError: it is not here, was changed here, or cannot be used here.
    """
    here = read_bot(place_of(bot.content), given=bot.given)
    if here.content != bot.content:
        raise BotFolderError(f"{here.folder}: was changed since it arrived: delete it")
    return replace(here, given=bot.given)


def _unpack(parcel: bytes, into: Path) -> None:
    try:
        unpack(io.BytesIO(parcel), into, mode="r:gz", most=MOST_BYTES)
    except ArchiveError as error:
        raise BotFolderError(f"a bot arrived broken: {error}") from None
