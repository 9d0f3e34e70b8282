"""Options that several commands have, and what their values mean."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from arena.config import BotCaps, read_caps
from arena.errors import Stopped, WrongUse, cannot_write, reason_of
from arena.quantities import counted
from arena.terminal import say
from arena.workers import LOCAL, MAX_CONCURRENCY
from referee.log import NO_LOG, OperatorLog, Writer, opened
from referee.match import Policy

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
AT_ONCE = click.IntRange(1, MAX_CONCURRENCY)


def adding(*options: Callable[[Any], Any]) -> Callable[[CommandT], CommandT]:
    """Adds several options to a command, in this order."""

    def add(command: CommandT) -> CommandT:
        for option in reversed(options):
            command = option(command)
        return command

    return add


policy_options = adding(
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
"""One for each field of `Policy` that a single match has a use for."""
where_options = adding(
    click.option("--concurrency", type=AT_ONCE, help="Matches at once.  [default: one for each core]"),
    click.option("--workers", type=AT_ONCE, help="Referee processes for them.  [default: one for each core]"),
    click.option(
        "--on",
        default=LOCAL,
        show_default=True,
        metavar="PLACE",
        help="Where to play: local, or an existing Dask cluster's dask://HOST:PORT.",
    ),
    click.option(
        "--transcripts",
        metavar="URL",
        help="Folder or object store for transcripts (s3://..., file:///...).  [default: the results folder]",
    ),
)
cap_option = click.option(
    "--cap",
    "caps",
    multiple=True,
    metavar="FIELD=MOST",
    help="Refuse bots whose bot.toml asks for more, as in limits.memory_mb=2048; may be repeated.",
)
clock_option = click.option(
    "--clock",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="All its times, a [clock] table; `arena games GAME --clock` prints one.  [default: the rules']",
)
feed_option = click.option(
    "--feed",
    metavar="ENDPOINT",
    help="Publish what spectators may know over ZeroMQ as it happens: ipc://PATH or tcp://ADDRESS:PORT.",
)
log_option = click.option(
    "--log",
    metavar="FILE|-",
    help="Add what happens, one JSON object a line, to a file, or to standard error (-).",
)
warm_option = click.option(
    "--warm/--cold", default=True, show_default=True, help="Fork Python bots from a process with the kit?"
)


def read_policy(given: dict[str, Any]) -> Policy:
    """The policy that the options ask for; what was not given keeps its default.

    Raises:
        WrongUse: a number is beyond what a policy takes.
    """
    asked = {name: given[name] for name in Policy.__struct_fields__ if given.get(name) is not None}
    try:
        return msgspec.convert(asked, Policy)
    except msgspec.ValidationError as error:
        what, _, field = str(error).partition(" - at `$.")
        raise WrongUse(f"--{field.removesuffix('`').replace('_', '-')}: {what}") from None


def caps_given(given: tuple[str, ...]) -> BotCaps:
    """The caps that `cap_option` asks for.

    Raises:
        WrongUse: one of them is no cap.
    """
    try:
        return read_caps(given)
    except ValueError as error:
        raise WrongUse(f"--cap: {error}") from None


@contextmanager
def open_log(target: str | None) -> Iterator[OperatorLog]:
    """The log at a path, or (`-`) on standard error; None: there is none.

    Raises:
        WrongUse: the path cannot be written.
        MachineCannot: the machine cannot write it.
    """
    if target is None:
        yield NO_LOG
        return
    try:
        writer = Writer(opened(target))
    except OSError as error:
        raise cannot_write(Path(f"--log {target}"), error) from None
    try:
        yield writer.log
    except (Exception, BaseExceptionGroup) as error:
        _tell(writer.log, reason_of(error))
        raise
    finally:
        lost = writer.close()
        if lost:
            why = "nobody takes them" if writer.failure is None else writer.failure.strerror
            say(f"--log {target}: {counted(lost, 'line')} lost: {why}")


def _tell(log: OperatorLog, error: BaseException) -> None:
    """Why the command ends."""
    if isinstance(error, Stopped):
        log.logger.warning("stopped", signal=error.signal)
    else:
        text = error.format_message() if isinstance(error, click.ClickException) else repr(error)
        log.logger.error("command_failed", reason=text)
