"""The policy of a match, and its times, as options of a command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from arena.errors import WrongUse
from referee.match import Policy

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--main-ms", type=click.IntRange(min=1), help="Main time of a window.  [default: the rules']"),
    click.option("--reserve-ms", type=click.IntRange(min=0), help="Reserve of each seat.  [default: the rules']"),
    click.option("--startup-ms", type=click.IntRange(min=1), help="From a bot's start to its hello."),
    click.option("--pauses", type=click.IntRange(min=0), help="Pauses each bot may ask for."),
    click.option("--pause-ms", type=click.IntRange(min=0), help="How long a bot's pause lasts."),
    click.option("--pacing", type=click.Choice(["prompt", "fixed"]), help="Close windows early, or never."),
    click.option("--ponder/--no-ponder", default=None, help="May bots think while they owe nothing?"),
    click.option("--fault", type=click.Choice(["default", "forfeit", "restart"]), help="What a fault costs."),
    click.option("--unfair", type=click.Choice(["void", "note"]), help="If a default is not a bot's fault."),
    click.option("--restarts", type=click.IntRange(min=0), help="With --fault restart: how many a seat has."),
    click.option("--messages-per-window", type=click.IntRange(min=1), help="More from one bot are a flood."),
    click.option("--bytes-per-window", type=click.IntRange(min=1), help="More from one bot are a flood."),
    click.option("--refusals-per-match", type=click.IntRange(min=1), help="More, and a bot is hung up on."),
)
clock_option = click.option(
    "--clock",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="All its times, a [clock] table; `arena games GAME --clock` prints one.  [default: the rules']",
)
"""`arena.game_options.clock_file` reads it, when game and policy are known."""
NAMES = tuple(field.name for field in msgspec.structs.fields(Policy))


def policy_options(command: CommandT) -> CommandT:
    """Adds an option for each field of `Policy` that a match alone has a use for.

    `read_policy` takes them out of the command's arguments.
    """
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_policy(given: dict[str, Any]) -> Policy:
    """The policy that the options ask for; what was not given keeps its default.

    Raises:
        WrongUse: a number is beyond what a policy takes.
    """
    asked = {name: given[name] for name in NAMES if given.get(name) is not None}
    try:
        return msgspec.convert(asked, Policy)
    except msgspec.ValidationError as error:
        what, _, field = str(error).partition(" - at `$.")
        raise WrongUse(f"--{field.removesuffix('`').replace('_', '-')}: {what}") from None
