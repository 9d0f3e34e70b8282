"""What bots may ask for at most, as an option of the commands that run them."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from arena.config import BotCaps, read_caps
from arena.errors import WrongUse

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def cap_option(command: CommandT) -> CommandT:
    """Adds the option; `caps_given` takes it out of the command's arguments."""
    return click.option(
        "--cap",
        "caps",
        multiple=True,
        metavar="FIELD=MOST",
        help="Refuse bots whose bot.toml asks for more, as in limits.memory_mb=2048; may be repeated.",
    )(command)


def caps_given(given: tuple[str, ...]) -> BotCaps:
    """The caps that the option asks for.

    Raises:
        WrongUse: one is none.
    """
    try:
        return read_caps(given)
    except ValueError as error:
        raise WrongUse(f"--cap: {error}") from None
