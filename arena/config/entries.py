"""The bots that a command line or a file names, their labels, and the caps within which a host accepts them.

A bot that exceeds a cap is refused. Its limits are not lowered instead, because then it could fail in a match for
no visible reason.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import filterfalse, islice
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

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
    TomlError,
    built_in,
    find_bot,
    is_remote,
    last_part,
    line_of,
    parse,
    read_bot_name,
    size_of,
)
from referee.display_text import did_you_mean, is_blank, printable_name
from referee.games import GAMES
from referee.host import RemoteBot
from referee.linux.files import read_regular
from referee.match import Positive
from referee.wire import MAX_KEY_FILE_BYTES, PUBLIC, KeyFileError, read_public, z85

SCRATCH_MB = 1_024
"""Default cap on scratch space. No known bot needs a hundredth of it."""
MOST_NAMED = 5
"""Maximum games of a bot named in an error; a bot.toml has room for thousands."""
KEY_ENDINGS = (PUBLIC, ".pub")
"""File endings of public keys, which a remote bot's name omits."""
Entry = BotFolder | RemoteBot
"""A competing bot: local, or remote with a key."""


class Caps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Caps on each field of `Limits`; None permits all values that bot.toml may have."""

    memory_mb: Positive | None = None
    address_space_mb: Positive | None = None
    cpus: Annotated[float, Meta(gt=0)] | None = None
    processes: Positive | None = None
    files: Positive | None = None
    scratch_mb: Positive | None = SCRATCH_MB
    cpu_seconds: Positive | None = None
    log_kb: Positive | None = None


class EntryCaps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Caps on the contents of a bot's folder; None permits all that any bot may have."""

    size_mb: Positive | None = None
    """Total size of all files."""
    files: Positive | None = None
    """Number of files and links."""


class BotCaps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Caps by table of bot.toml, and on the contents of its folder."""

    limits: Caps = Caps()
    build_limits: Caps = Caps()
    entry: EntryCaps = EntryCaps()


def read_caps(given: Iterable[str]) -> BotCaps:
    """Parse caps from a command line, each like `limits.memory_mb=2048`.

    Raises:
        ValueError: one of them is not a cap.
    """
    for cap in given:
        try:
            msgspec.convert(parse(cap), BotCaps)
        except (TomlError, msgspec.ValidationError, RecursionError) as error:
            raise ValueError(f"{cap}: {error}; use, for example, limits.memory_mb=2048") from None
    try:
        return msgspec.convert(parse("\n".join(given)), BotCaps)
    except TomlError:
        raise ValueError("one field is given twice") from None


def find_remote(name: BotName) -> RemoteBot:
    """Return the remote bot with the public key in `remote:FILE`, named after the file.

    Raises:
        BotFolderError: one line with what is wrong with the file.
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
    """Return the last part of a bot's path, without the file ending if it is a remote bot's key.

    Args:
        given: the bot's name.
        beside: base folder of a relative path; None is the current one.
    """
    name = last_part(given, beside)
    if is_remote(given):
        for ending in KEY_ENDINGS:
            name = name.removesuffix(ending) or name
    return name


def called(given: str) -> str:
    """Return a bot's name for display: unchanged, except that `.` and `..` become the folder's name."""
    path, at, _ = given.partition("@")
    if Path(path).name in {"", ".."} and (path or not at):
        return short_name(given)
    return given


def _holds_secret(file: Path) -> bool:
    """Return True if a key file contains a secret key."""
    text = read_regular(file, MAX_KEY_FILE_BYTES).decode("utf-8-sig")
    return any(line.partition("=")[0].strip() == "secret-key" for line in text.splitlines())


def find_entry(given: str | BotName, game: str, caps: BotCaps, called: str | None = None) -> BotFolder:
    """Find a local bot by name, and check that it plays the game within the caps.

    Args:
        given: name of a folder, `FOLDER@REVISION`, or a built-in bot, relative to the current folder; or a parsed
            name.
        game: the game that it is to play.
        caps: the host's caps.
        called: name of the bot in errors, if not `given`.

    Raises:
        BotFolderError: one line with what is wrong with the bot.
    """
    name = given
    if isinstance(name, str):
        name = read_bot_name(name)
    if name.is_remote:
        raise BotFolderError(f"{name.given}: a remote bot plays in `arena host` and `arena tournament` alone")
    if asks := _too_large(name, caps.entry):
        raise BotFolderError(asks)
    bot = find_bot(name)
    if not bot.plays(game):
        games = list(bot.games or ())
        unknown = list(islice(filterfalse(GAMES.__contains__, games), MOST_NAMED))
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
    """Print the target of a bot's name if it is a symbolic link."""
    if name.is_link:
        say(f"{name.given}: is a symbolic link to {name.resolved().path}")


def random_bot(game: str) -> str:
    """Return the name of the game's random sample bot, or of the random bot for any game."""
    own = f"{game.replace('-', '_')}_random"
    if own in built_in():
        return own
    return "any_random"


def over(bot: BotFolder, caps: BotCaps) -> str | None:
    """Describe the first cap that a bot, not yet built, exceeds; None if it exceeds none."""
    asked = {"limits": (bot.limits, Limits(), caps.limits)}
    if bot.build:
        asked["build_limits"] = (bot.build_limits, BUILD_LIMITS, caps.build_limits)
    for table, (limits, defaults, most) in asked.items():
        for field in Caps.__struct_fields__:
            cap = getattr(most, field)
            if cap is not None and (why := _more(limits, defaults, field, cap)):
                line = line_of((bot.folder / FILE).read_text(encoding="utf-8-sig"), f"{table}.{field}")
                place = f"{bot.given}/{FILE}:{line}: {table}.{field}"
                return f"{place}: {why} than {cap:g}, the most that may be asked for here"
    return _larger(bot.given, bot.folder, caps.entry)


def _too_large(name: BotName, most: EntryCaps) -> str | None:
    """Describe how a bot's folder exceeds its caps; checked before it is read and copied. None if it does not."""
    if name.is_folder:
        with suppress(ContentError, OSError):  # `find_bot` reports what is wrong with it.
            return _larger(name.given, name.path, most)
    return None


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
    """Describe how a limit exceeds a cap, or return None; a limit that is not set has its default."""
    value = getattr(limits, field)
    if value is None and field == "address_space_mb":
        if limits.memory_mb <= cap:
            return None
        return f"left out, it is memory_mb, {limits.memory_mb}, more"
    if value is None:
        return "left out, it has no limit, which is more"
    if value <= cap:
        return None
    if value == getattr(defaults, field):
        return f"{value:g}, the default, is more"
    return f"{value:g} is more"


_SPELLED = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U(00(?:0[0-9a-f]|10)[0-9a-f]{4})")
"""Pattern of an escaped character in the result of `printable_name`."""
_CONFUSABLES = """
AΑАᎪ BΒВᏴꞴ CϹСᏟ DᎠ EΕЕᎬ FϜ GԌᏀ HΗНᎻ IΙІӀƖ JͿЈᎫ KΚКᏦ LᏞ MΜМϺᎷ NΝ OΟОՕ
PΡРᏢ RƦᎡ SЅՏᏚ TΤТᎢ UՍ VѴᏙ WԜᏔ XΧХꞳ YΥУҮϒ ZΖᏃ aɑαа bЬƅ cϲсᴄ dԁ eеҽ gɡց
hһհ iıɩɪιі jϳј lӏ nո oοσоօᴏ pρрϱ qԛգ rгᴦ sѕꜱ uυսᴜ vνѵᴠ wԝաѡᴡ xх yуүγʏ zᴢ
3ЗӠƷ 6б 8Ȣȣ |∣ǀ
"""
_SAME_SHAPE = {word[0]: word[1:] for word in _CONFUSABLES.split()}
"""Latin, Greek, Cyrillic, Armenian and Cherokee letters that look like an ASCII letter, from the confusables of
Unicode's Technical Standard 39. Letters of other scripts are compared unchanged."""
_LATIN: dict[int, str] = {}
for _latin, _letters in _SAME_SHAPE.items():
    _LATIN |= dict.fromkeys(map(ord, _letters), _latin)
_MINUS = "\u2212"


def label_of(given: str, beside: Path | None = None) -> str:
    """Return a bot's label: the last part of its path, with its revision if it has one.

    Args:
        given: the bot's name as typed.
        beside: base folder of relative paths; None is the current one.
    """
    return printable_name(short_name(given, beside))


def labels_of(names: Sequence[str], beside: Path | None = None) -> list[str]:
    """Return a label for each name: short labels, or whole names if two short labels look alike."""
    short = {given: label_of(given, beside) for given in names}
    if first_alike(list(short.values())):
        return list(map(printable_name, names))
    return list(map(short.__getitem__, names))


def entrant_label(labels: Sequence[str], entrant: int) -> str:
    """Return the label of an entrant, or `entrant N` if it has none."""
    if entrant < len(labels):
        return labels[entrant]
    return f"entrant {entrant}"


def first_alike(labels: Sequence[str]) -> tuple[int, int] | None:
    """Return the indices of the first two labels that look alike, in ascending order; None if all differ."""
    seen: dict[tuple[int, str], int] = {}
    for place, label in enumerate(labels):
        shapes = list(enumerate(_shapes(label)))
        for shape in shapes:
            if shape in seen:
                return seen[shape], place
        seen |= dict.fromkeys(shapes, place)
    return None


def look_alike(label: str, other: str) -> bool:
    """Return True if a reader may confuse two labels."""
    return first_alike((label, other)) is not None


def difference(label: str, other: str) -> str:
    """Describe how two labels that look alike differ."""
    if label == other:
        return "they are the same"
    here, there = _written(label), _written(other)
    for letter in here + there:
        if not letter.isascii() and (letter not in here or letter not in there):
            where = label if letter in here else other
            return f"{where} has {unicodedata.name(letter, f'U+{ord(letter):04X}')}"
    if here.casefold() == there.casefold():
        return "only upper and lower case differ"
    if "".join(here.split()) == "".join(there.split()):
        return "only spaces differ"
    return "they differ in letters of the same shape"


def other_name(bot: BotFolder, label: str) -> str | None:
    """Return a warning if a bot.toml has another name than the label without a revision; None if not."""
    if bot.name in {label, label.partition("@")[0]}:
        return None
    return f'its bot.toml says name = "{printable_name(bot.name)}"; tables and replays call it {label}'


def _shapes(label: str) -> tuple[str, str]:
    """Return a label's shapes without spaces, case-folded and unchanged in case.

    Letters that look alike in one case need not do so in the other: `I` looks like `l`, but `i` does not.
    """
    text = "".join(map(_visible, _written(label)))
    # Translated twice, because Unicode folds the lunate sigma, which looks like a C, into one that does not.
    text = "".join(unicodedata.normalize("NFKC", text.translate(_LATIN)).translate(_LATIN).split())
    folded = text.casefold().translate(_LATIN).replace("0", "o").replace("1", "l").replace("|", "l")
    as_it_is = re.sub("[1I|]", "l", text).replace("0", "O")
    return folded.replace("rn", "m"), as_it_is.replace("rn", "m")


def _visible(letter: str) -> str:
    """Return a visible character unchanged, a space for any white space, and "" for an invisible character."""
    if letter.isspace():
        return " "
    kind = unicodedata.category(letter)
    if kind in {"Cc", "Cf"} or is_blank(letter):
        return ""
    if kind == "Pd" or letter == _MINUS:
        return "-"
    return letter


def _written(label: str) -> str:
    """Return a label with the escapes of `printable_name` replaced by their characters."""
    return _SPELLED.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16)), label)
