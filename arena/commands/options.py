"""Options that several commands have, and what their values mean."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
import msgspec
from msgspec.structs import replace

from arena.checks import FieldCheck
from arena.config import BotCaps, Broken, Tournament, affinity_place, random_bot, read_caps, url_complaint
from arena.errors import Stopped, WrongUse, cannot_write, reason_of
from arena.quantities import pluralise, seconds_in
from arena.terminal import say
from arena.tournament import feed_endpoint
from arena.workers import LOCAL, MAX_CONCURRENCY, PATIENCE_SECONDS, Where, venue_for
from referee.bot_folder import find_bot
from referee.host import Player
from referee.log import NO_LOG, OperatorLog, Writer, opened
from referee.match import Policy
from referee.sandbox import Isolation
from referee.wire import KeyFileError, KeyPair, new_pair, read_pair

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
NOTIFY = "--notify"
FEED_HERE = "here"
"""Value of `--feed` where none is given."""
AT_ONCE = click.IntRange(1, MAX_CONCURRENCY)


class Seconds(click.ParamType[int]):
    """A time, as seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """See `click.ParamType`."""
        seconds = seconds_in(value)
        if seconds is None:
            self.fail(
                f"{value!r} is not a time; give a whole number with s, m, h or d, for example 2h", param, ctx
            )
        return seconds


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
    click.option("--startup-ms", type=click.IntRange(min=1), help="Time from a bot's start to its hello."),
    click.option("--pauses", type=click.IntRange(min=0), help="Number of pauses that each bot may ask for."),
    click.option("--pause-ms", type=click.IntRange(min=0), help="Length of a bot's pause."),
    click.option(
        "--pacing",
        type=click.Choice(["prompt", "fixed"]),
        help="Close windows early (prompt) or only after full main time (fixed).",
    ),
    click.option(
        "--ponder/--no-ponder", default=None, help="Let bots think while they owe no action, or freeze them."
    ),
    click.option(
        "--fault", type=click.Choice(["default", "forfeit", "restart"]), help="Consequence of a bot's fault."
    ),
    click.option(
        "--unfair",
        type=click.Choice(["void", "note"]),
        help="Consequence of a default that is not the bot's fault.",
    ),
    click.option(
        "--restarts", type=click.IntRange(min=0), help="With --fault restart: number of restarts of each seat."
    ),
    click.option(
        "--messages-per-window",
        type=click.IntRange(min=1),
        help="Limit on a bot's messages per window.",
    ),
    click.option("--bytes-per-window", type=click.IntRange(min=1), help="Limit on the bytes of these messages."),
    click.option("--refusals-per-match", type=click.IntRange(min=1), help="Limit on a bot's refused messages."),
)
"""One for each field of `Policy` that a single match has a use for."""
where_options = adding(
    click.option("--concurrency", type=AT_ONCE, help="Number of matches at once.  [default: one for each core]"),
    click.option("--workers", type=AT_ONCE, help="Number of referee processes.  [default: one for each core]"),
    click.option(
        "--on",
        default=LOCAL,
        show_default=True,
        metavar="PLACE",
        help="Play here (local), or on an existing Dask cluster (dask://HOST:PORT).",
    ),
    click.option(
        "--patience",
        type=Seconds(),
        default=f"{PATIENCE_SECONDS}s",
        show_default=True,
        metavar="TIME",
        help="How long to wait for a cluster's scheduler or workers when they are gone, for example 90s or 1h.",
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
    help="Refuse bots whose bot.toml asks for more, for example limits.memory_mb=2048; repeatable.",
)
clock_option = click.option(
    "--clock",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File with a [clock] table of all times; `arena games GAME --clock` prints one.  [default: the rules']",
)
feed_option = click.option(
    "--feed",
    metavar="[ENDPOINT]",
    is_flag=False,
    flag_value=FEED_HERE,
    help="Publish the live feed for spectators over ZeroMQ, at ipc://PATH or tcp://ADDRESS:PORT; without a value"
    " in the folder of results or transcripts, where `arena serve` finds it.",
)


def _notice_url(context: click.Context, option: click.Parameter, url: str | None) -> str | None:
    """Checks it without naming it.

    Raises:
        WrongUse: it is none.
    """
    del context, option
    if url is not None and (wrong := url_complaint(url)):
        raise WrongUse(f"{NOTIFY}: {wrong}")
    return url


notify_option = click.option(
    NOTIFY,
    metavar="URL",
    envvar="ARENA_NOTIFY",
    callback=_notice_url,
    help="Post a notice to URL if the arena stops, blocks are void in a row, a bot fails again and again, or all"
    " is played; or set ARENA_NOTIFY, which other users of the machine do not see.",
)
log_option = click.option(
    "--log",
    metavar="FILE|-",
    help="Append the operator's log, one event a line, to a file, or print it on standard error (-).",
)
usage_option = click.option(
    "--usage", is_flag=True, help="Also show the time of windows, processor time and peak memory of each bot."
)
isolation_option = click.option(
    "--isolation",
    type=click.Choice(get_args(Isolation)),
    help="Level of isolation, in place of the file's.  [default: strict]",
)
broken_option = click.option(
    "--broken",
    type=click.Choice(get_args(Broken)),
    help="If a bot cannot start, begin nothing or leave it out, in place of the file's.  [default: stop]",
)
check_option = click.option(
    "--check/--no-check",
    "checks",
    default=True,
    help="Before the first match, start every bot once in a match that does not count.  [default: check]",
)
warm_option = click.option(
    "--warm/--cold",
    default=True,
    show_default=True,
    help="Fork Python bots from a process with the kit, or start each in a new one.",
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


def check_asked(
    where: Where, tournament: Tournament, failed: dict[int, str], *, plays: bool
) -> FieldCheck[Player]:
    """How a field is checked before its first match: where it is to be played.

    Neither spectators nor the operator's log are told, and transcripts come here.

    Args:
        where: matches are played.
        tournament: whose field it is.
        failed: by entrant, why its build failed; builds may yet be made.
        plays: whether bots are to be started.
    """
    form = tournament.form
    opponent = find_bot(random_bot(form.game))
    # A cluster is sent the bots that it is asked for; those that play here are built already.
    bots = (opponent,) if where.on == LOCAL else (*tournament.folders, opponent)
    where, seats = replace(where, transcripts=None), tournament.seats
    at_once, affinity = form.concurrency, affinity_place(tournament)
    players, venue = venue_for(where, bots, form.isolation, seats=seats, at_once=at_once, affinity=affinity)
    return FieldCheck(players[-1], venue, failed, plays=plays)


listen_options = adding(
    click.option(
        "--listen",
        metavar="ADDRESS:PORT",
        help="Address for bots on other machines, in numbers: 127.0.0.1 for this machine alone, 0.0.0.0 for all of"
        " its networks.",
    ),
    click.option(
        "--key",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="With --listen, the host's own key, NAME.key_secret.  [default: made for this run and printed]",
    ),
)
"""Where remote bots come in."""


def host_keys(file: Path | None) -> KeyPair:
    """The host's own keys, from `--key`; without a file, new ones.

    Raises:
        WrongUse: the file cannot be used.
    """
    if file is None:
        return new_pair()
    try:
        return read_pair(file)
    except KeyFileError as error:
        raise WrongUse(f"--key: {error}") from None


def feed_asked(feed: str | None, folder: Path) -> str | None:
    """The endpoint that `feed_option` asks for; None: there is to be no feed.

    Args:
        feed: the option's value.
        folder: of results or transcripts. It is made if the feed is to be there.

    Raises:
        WrongUse: the folder cannot be made.
        MachineCannot: there is no space.
    """
    return feed_endpoint(folder) if feed == FEED_HERE else feed


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
            say(f"--log {target}: {pluralise(lost, 'line')} lost: {why}")


def _tell(log: OperatorLog, error: BaseException) -> None:
    """Why the command ends."""
    if isinstance(error, Stopped):
        log.logger.warning("stopped", signal=error.signal)
    else:
        text = error.format_message() if isinstance(error, click.ClickException) else repr(error)
        log.logger.error("command_failed", reason=text)
