"""The most that a host lets bots ask for in their bot.toml.

A bot that asks for more is refused. Nothing is lowered for it: it would fail somewhere in a match, and nobody
would know by what.
"""

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from referee.bot_folder import TomlError, parse
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
        ValueError: one of them is no cap.
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
