"""Finds the bot that a command line or a file names, and sees that it may play here."""

from pathlib import Path

from arena.config.caps import BotCaps, Caps, EntryCaps
from arena.terminal import say
from referee.bot_folder import (
    BUILD_LIMITS,
    FILE,
    MEGABYTE,
    REMOTE,
    BotFolder,
    BotFolderError,
    BotName,
    ContentError,
    Limits,
    built_in,
    find_bot,
    is_remote,
    last_part,
    line_of,
    read_bot_name,
    size_of,
)
from referee.games import GAMES
from referee.host import RemoteBot
from referee.linux.files import read_regular
from referee.suggestions import did_you_mean
from referee.wire import MAX_KEY_FILE_BYTES, PUBLIC, KeyFileError, read_public, z85

MOST_NAMED = 5
"""Of a bot's games, in an error: a bot.toml has room for thousands."""


KEY_ENDINGS = (PUBLIC, ".pub")
"""How files of public keys end; a remote bot's name goes without."""
Entry = BotFolder | RemoteBot
"""A bot that competes: one that plays here, or one that comes with a key."""


def find_remote(name: BotName) -> RemoteBot:
    """Find the bot that comes with the key of `remote:FILE`, called as the file is.

    Raises:
        BotFolderError: one line that says what is wrong with the file.
    """
    file = name.path
    try:
        key = read_public(file)
        if _holds_secret(file):
            raise BotFolderError(
                f"{file}: holds a secret key, which only its owner may have; {REMOTE} takes NAME{PUBLIC}"
            )
    except KeyFileError as error:
        raise BotFolderError(str(error)) from None
    return RemoteBot(short_name(name.given), z85(key))


def short_name(given: str, beside: Path | None = None) -> str:
    """Return the last part of a bot's path; of a remote bot's key, without the file's ending.

    Args:
        given: the bot's name.
        beside: the folder that a relative path starts from; None: the current one.
    """
    name = last_part(given, beside)
    if is_remote(given):
        for ending in KEY_ENDINGS:
            name = name.removesuffix(ending) or name
    return name


def called(given: str) -> str:
    """Return how a bot's name is shown: as it was given, but `.` and `..` as the folder that they stand for."""
    path, at, _ = given.partition("@")
    return short_name(given) if Path(path).name in {"", ".."} and (path or not at) else given


def _holds_secret(file: Path) -> bool:
    """Whether a key's file is one that nobody but its owner should have."""
    return any(
        line.partition("=")[0].strip() == "secret-key"
        for line in read_regular(file, MAX_KEY_FILE_BYTES).decode("utf-8-sig").splitlines()
    )


def find_entry(given: str | BotName, game: str, caps: BotCaps, called: str | None = None) -> BotFolder:
    """Find the bot of a name, which plays the game and asks for no more than the caps allow.

    Args:
        given: the name of a folder, `FOLDER@REVISION`, or a built-in bot, seen from the current folder; or a name
            that has been read.
        game: that it is to play.
        caps: the host's.
        called: what an error calls it, if not `given`.

    Raises:
        BotFolderError: one line that says what is wrong with it.
    """
    name = read_bot_name(given) if isinstance(given, str) else given
    if name.is_remote:
        raise BotFolderError(f"{name.given}: a remote bot plays in `arena host` and `arena tournament` alone")
    if asks := _too_large(name, caps.entry):
        raise BotFolderError(asks)
    bot = find_bot(name)
    if not bot.plays(game):
        games = list(bot.games or ())
        unknown = [name for name in games if name not in GAMES][:MOST_NAMED]
        known = ""
        if unknown:
            known = f", and there is no game {', '.join(unknown)}; {did_you_mean(unknown[0], GAMES, 'games')}"
        more = f" and {len(games) - MOST_NAMED} more" if len(games) > MOST_NAMED else ""
        its = f"its bot.toml has games = {games[:MOST_NAMED]}{more}"
        raise BotFolderError(f"{called or name.given} does not play {game}: {its}{known}")
    if asks := over(bot, caps):
        raise BotFolderError(asks)
    return bot


def say_link(name: BotName) -> None:
    """Say where the bot is, if its name on a command line is a symbolic link."""
    if name.is_link:
        say(f"{name.given}: is a symbolic link to {name.resolved().path}")


def random_bot(game: str) -> str:
    """The name of the game's random sample bot, or of the one that plays any game by its schema."""
    own = f"{game.replace('-', '_')}_random"
    return own if own in built_in() else "any_random"


def over(bot: BotFolder, caps: BotCaps) -> str | None:
    """What a bot that is not yet built asks for too much of, in one line that names its bot.toml and the field."""
    asked = {"limits": (bot.limits, Limits(), caps.limits)}
    if bot.build:
        asked["build_limits"] = (bot.build_limits, BUILD_LIMITS, caps.build_limits)
    for table, (limits, defaults, most) in asked.items():
        for field in Caps.__struct_fields__:
            cap = getattr(most, field)
            why = None if cap is None else _more(limits, defaults, field, cap)
            if why is not None:
                line = line_of((bot.folder / FILE).read_text(encoding="utf-8-sig"), f"{table}.{field}")
                place = f"{bot.given}/{FILE}:{line}: {table}.{field}"
                return f"{place}: {why} than {cap:g}, the most that may be asked for here"
    return _larger(bot.given, bot.folder, caps.entry)


def _too_large(name: BotName, most: EntryCaps) -> str | None:
    """What of a folder is more than a bot may have here, before it is read and copied; None: it is no folder."""
    try:
        return _larger(name.given, name.path, most) if name.is_folder else None
    except (ContentError, OSError):
        return None  # `find_bot` says what is wrong with it.


def _larger(given: str, folder: Path, most: EntryCaps) -> str | None:
    if most == EntryCaps():
        return None
    files, size = size_of(folder)
    if most.files is not None and files > most.files:
        return f"{given}: entry.files: {files} is more than {most.files}, the most that a bot may have here"
    if most.size_mb is not None and size > most.size_mb * MEGABYTE:
        over = f"{size} bytes are more than {most.size_mb} MB"
        return f"{given}: entry.size_mb: {over}, the most that a bot may have here"
    return None


def _more(limits: Limits, defaults: Limits, field: str, cap: float) -> str | None:
    """How a bot asks for more than a cap; one that says nothing asks for the default."""
    value = getattr(limits, field)
    if value is None and field == "address_space_mb":
        return f"left out, it is memory_mb, {limits.memory_mb}, more" if limits.memory_mb > cap else None
    if value is None:
        return "left out, it has no limit, which is more"
    if value <= cap:
        return None
    return f"{value:g}{', the default,' if value == getattr(defaults, field) else ''} is more"
