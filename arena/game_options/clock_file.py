"""Files with a `[clock]` table: writing a variant's own times, and reading edited ones."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.errors import WrongUse
from referee.bot_folder import TomlError, line_of, read_toml_with_text
from referee.match import BadClockError, ClockTable, Policy, clock_terms, table_of
from referee.rules import Game


class ClockFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file with nothing but the table."""

    clock: ClockTable


def clock_text(game: Game[Any], variant: str) -> str:
    """Return a variant's published times as a `[clock]` table in TOML."""
    table = table_of(game.variant(variant).time)
    assert isinstance(table.main_ms, dict)  # noqa: S101 - a variant names its windows
    return "\n".join(
        (
            f"# {game.name} {variant}, as its rules have it; all times in milliseconds",
            "[clock]",
            f'kind = "{table.kind}"',
            f"reserve_ms = {table.reserve_ms}",
            "",
            "[clock.main_ms]",
            *(f"{window} = {main_ms}" for window, main_ms in table.main_ms.items()),
            "",
        )
    )


def read_clock(path: Path, game: Game[Any], variant: str, policy: Policy) -> ClockTable:
    """Read the table in a file and validate it against the variant's windows and the policy.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    try:
        form, text = read_toml_with_text(path, ClockFile)
        table = form.clock
        clock_terms(game, variant, policy, table)
    except TomlError as error:
        raise WrongUse(str(error)) from None
    except BadClockError as error:
        if error.field.startswith("policy."):
            option = error.field.removeprefix("policy.").replace("_", "-")
            raise WrongUse(f"--{option}: {error.what}: {path}") from None
        line = line_of(text, error.field)
        raise WrongUse(f"{path}:{line}: {error}") from None
    return table


def clock_json(game: Game[Any], variant: str) -> str:
    """Return a variant's `[clock]` table as one line of JSON."""
    return msgspec.json.encode(ClockFile(table_of(game.variant(variant).time))).decode()
