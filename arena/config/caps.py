"""The most that a host lets bots ask for in their bot.toml. Who asks for more is not played, and told why.

Nothing is lowered for a bot that asks for more: it would fail somewhere in a match, and nobody would know by what.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from referee.bot_folder import (
    BUILD_LIMITS,
    FILE,
    MEGABYTE,
    BotFolder,
    ContentError,
    Limits,
    TomlError,
    line_of,
    parse,
    size_of,
)
from referee.match import Positive

SCRATCH_MB = 1_024
"""The most, unless the host says otherwise. No bot that we know of needs a hundredth of it."""


class Caps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most of each of `Limits`; None: as much as bot.toml may say at all."""

    memory_mb: Positive | None = None
    address_space_mb: Positive | None = None
    cpus: Annotated[float, Meta(gt=0)] | None = None
    processes: Positive | None = None
    files: Positive | None = None
    scratch_mb: Positive | None = SCRATCH_MB
    cpu_seconds: Positive | None = None
    log_kb: Positive | None = None


class EntryCaps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most that a bot's folder may hold; None: as much as any bot's."""

    size_mb: Positive | None = None
    """Of all its files together."""
    files: Positive | None = None
    """Files and links."""


class BotCaps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """By table of bot.toml; and what its folder holds."""

    limits: Caps = Caps()
    build_limits: Caps = Caps()
    entry: EntryCaps = EntryCaps()


def read_caps(given: Iterable[str]) -> BotCaps:
    """Caps as they are written on a command line, each `limits.memory_mb=2048`.

    Raises:
        ValueError: one of them is none.
    """
    for cap in given:
        try:
            msgspec.convert(parse(cap), BotCaps)
        except (TomlError, msgspec.ValidationError, RecursionError) as error:
            raise ValueError(f"{cap}: {error}; right would be, say, limits.memory_mb=2048") from None
    try:
        return msgspec.convert(parse("\n".join(given)), BotCaps)
    except TomlError:
        raise ValueError("one of them is there twice") from None


def over(bot: BotFolder, caps: BotCaps) -> str | None:
    """What a bot asks for that is more than it may, in one line that names its bot.toml and the field; or None.

    Args:
        bot: as `bot_folder.find_bot` gives it, not yet built.
        caps: the host's.
    """
    asked = {"limits": (bot.limits, Limits(), caps.limits)}
    if bot.build:
        asked["build_limits"] = (bot.build_limits, BUILD_LIMITS, caps.build_limits)
    for table, (limits, defaults, most) in asked.items():
        for field in Caps.__struct_fields__:
            cap = getattr(most, field)
            why = None if cap is None else _more(limits, defaults, field, cap)
            if why is not None:
                line = line_of((bot.folder / FILE).read_text(encoding="utf-8"), f"{table}.{field}")
                place = f"{bot.given}/{FILE}:{line}: {table}.{field}"
                return f"{place}: {why} than {cap:g}, the most that may be asked for here"
    return _larger(bot.given, bot.folder, caps.entry)


def too_large(given: str, caps: BotCaps) -> str | None:
    """What of a folder is more than a bot may have here, in one line, before it is read and copied; or None.

    Args:
        given: how a bot is asked for. Of what is no folder nothing is known before it is found.
        caps: the host's.
    """
    try:
        return _larger(given, Path(given), caps.entry) if Path(given).is_dir() else None
    except (ContentError, OSError):
        return None  # Who finds it says what is wrong with it.


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
    """How more is asked for; also by who says nothing, and so asks for the default."""
    value = getattr(limits, field)
    if value is None and field == "address_space_mb":
        return f"left out, it is memory_mb, {limits.memory_mb}, more" if limits.memory_mb > cap else None
    if value is None:
        return "left out, it has no bound, and so is more"
    if value <= cap:
        return None
    return f"{value:g}{', the default,' if value == getattr(defaults, field) else ''} is more"
