"""Options that several commands have, and functions that use their values."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from arena.config import BotCaps, Broken, read_caps, url_complaint
from arena.errors import Stopped, WrongUse, as_wrong_use, reason_of, writing
from arena.options import JsonOption, NotNegative, Positive, option
from arena.quantities import pluralise
from arena.terminal import say
from arena.tournament import feed_endpoint
from arena.workers import MAX_CONCURRENCY, Placement
from referee.log import NO_LOG, OperatorLog, Writer, opened
from referee.match import Policy
from referee.sandbox import Isolation
from referee.wire import KeyFileError, KeyPair, new_pair, read_pair

NOTIFY = "--notify"
FEED_HERE = "here"
"""Value of `--feed` if none is given."""
AtOnce = Annotated[int, Meta(ge=1, le=MAX_CONCURRENCY)]


class PolicyOptions(Struct, frozen=True, kw_only=True):
    """Options for the fields of `Policy` that apply to a single match; None if not given."""

    main_ms: Annotated[Positive | None, option("Main time of a window.  [default: the rules']")] = None
    reserve_ms: Annotated[NotNegative | None, option("Reserve of each seat.  [default: the rules']")] = None
    startup_ms: Annotated[Positive | None, option("Time from a bot's start to its hello.")] = None
    pauses: Annotated[NotNegative | None, option("Number of pauses that each bot may ask for.")] = None
    pause_ms: Annotated[NotNegative | None, option("Length of a bot's pause.")] = None
    pacing: Annotated[
        Literal["prompt", "fixed"] | None,
        option("Close windows early (prompt) or only after full main time (fixed)."),
    ] = None
    ponder: Annotated[
        bool | None,
        option("Let bots think while they owe no action, or freeze them.", "--ponder/--no-ponder"),
    ] = None
    fault: Annotated[Literal["default", "forfeit", "restart"] | None, option("Consequence of a bot's fault.")] = (
        None
    )
    unfair: Annotated[
        Literal["void", "note"] | None, option("Consequence of a default that is not the bot's fault.")
    ] = None
    restarts: Annotated[NotNegative | None, option("With --fault restart: number of restarts of each seat.")] = (
        None
    )
    messages_per_window: Annotated[Positive | None, option("Limit on a bot's messages per window.")] = None
    bytes_per_window: Annotated[Positive | None, option("Limit on the bytes of these messages.")] = None
    refusals_per_match: Annotated[Positive | None, option("Limit on a bot's refused messages.")] = None


def _notice_url(context: click.Context, option: click.Parameter, url: str | None) -> str | None:
    """Check a URL for notices. The error does not quote it, because it may be secret.

    Raises:
        WrongUse: the URL is invalid.
    """
    del context, option
    if url is not None and (wrong := url_complaint(url)):
        raise WrongUse(f"{NOTIFY}: {wrong}")
    return url


NotifyOption = Annotated[
    str | None,
    option(
        "Post a notice to URL if the arena stops, blocks are void in a row, a bot fails again and again, a"
        " submission cannot be judged, or all is played; or set ARENA_NOTIFY, which other users of the machine do"
        " not see.",
        NOTIFY,
        metavar="URL",
        envvar="ARENA_NOTIFY",
        callback=_notice_url,
    ),
]
CapsOption = Annotated[
    tuple[str, ...],
    option(
        "Refuse bots whose bot.toml asks for more, for example limits.memory_mb=2048; repeatable.",
        "--cap",
        metavar="FIELD=MOST",
    ),
]
CheckOption = Annotated[
    bool,
    option(
        "Before the first match, start every bot once in a match that does not count.  [default: check]",
        "--check/--no-check",
    ),
]
FeedOption = Annotated[
    str | None,
    option(
        "Publish the live feed for spectators over ZeroMQ, at ipc://PATH or tcp://ADDRESS:PORT; without a value"
        " in the folder of results or transcripts, where `arena serve` finds it.",
        metavar="[ENDPOINT]",
        is_flag=False,
        flag_value=FEED_HERE,
    ),
]
LogOption = Annotated[
    str | None,
    option(
        "Append the operator's log, one event a line, to a file, or print it on standard error (-).",
        metavar="FILE|-",
    ),
]
UsageOption = Annotated[bool, option("Also show the time of windows, processor time and peak memory of each bot.")]


class StartOptions(Struct, frozen=True, kw_only=True):
    """Options that replace fields of a tournament's or season's file, and the check before the first match."""

    isolation: Annotated[
        Isolation | None, option("Level of isolation, in place of the file's.  [default: strict]")
    ] = None
    broken: Annotated[
        Broken | None,
        option("If a bot cannot start, begin nothing or leave it out, in place of the file's.  [default: stop]"),
    ] = None
    checks: CheckOption = True

    def fields(self) -> dict[str, Any]:
        """Return the given fields of a tournament's file."""
        given = {"isolation": self.isolation, "broken": self.broken}
        return {name: value for name, value in given.items() if value is not None}


class SessionOptions(Struct, frozen=True, kw_only=True):
    """Options for the place, the network and the output of a tournament or season being played."""

    where: Placement = Placement()
    listen: Annotated[
        str | None,
        option(
            "Address for bots on other machines, in numbers: 127.0.0.1 for this machine alone, 0.0.0.0 for all of"
            " its networks.",
            metavar="ADDRESS:PORT",
        ),
    ] = None
    key: Annotated[
        Path | None,
        option(
            "With --listen, the host's own key, NAME.key_secret.  [default: made for this run and printed]",
            metavar="FILE",
        ),
    ] = None
    feed: FeedOption = None
    notify: NotifyOption = None
    log: LogOption = None
    usage: UsageOption = False
    as_json: JsonOption = False


def read_policy(given: PolicyOptions) -> Policy:
    """Return the policy with the given options; all other fields keep their defaults.

    Raises:
        WrongUse: a number is out of range for a policy.
    """
    chosen = {name: value for name, value in asdict(given).items() if value is not None}
    try:
        return msgspec.convert(chosen, Policy)
    except msgspec.ValidationError as error:
        what, _, field = str(error).partition(" - at `$.")
        raise WrongUse(f"--{field.removesuffix('`').replace('_', '-')}: {what}") from None


def caps_given(given: tuple[str, ...]) -> BotCaps:
    """Return the caps of `--cap`.

    Raises:
        WrongUse: one of them is not a cap.
    """
    with as_wrong_use(ValueError, about="--cap"):
        return read_caps(given)


def host_keys(file: Path | None) -> KeyPair:
    """Read the host's own keys from the file of `--key`, or make new ones without a file.

    Raises:
        WrongUse: the file cannot be used.
    """
    if file is None:
        return new_pair()
    with as_wrong_use(KeyFileError, about="--key"):
        return read_pair(file)


def feed_asked(feed: str | None, folder: Path) -> str | None:
    """Return the endpoint of `--feed`, or None for no feed.

    Args:
        feed: the option's value.
        folder: folder of results or transcripts; created if the feed is in it.

    Raises:
        WrongUse: the folder cannot be created.
        MachineCannot: there is no space.
    """
    if feed == FEED_HERE:
        return feed_endpoint(folder)
    return feed


@contextmanager
def open_log(target: str | None) -> Iterator[OperatorLog]:
    """Open the operator's log at a path, on standard error (`-`), or none (None).

    Raises:
        WrongUse: the path cannot be written.
        MachineCannot: the machine cannot write it.
    """
    if target is None:
        yield NO_LOG
        return
    with writing(Path(f"--log {target}")):
        writer = Writer(opened(target))
    try:
        yield writer.log
    except (Exception, BaseExceptionGroup) as error:
        _tell(writer.log, reason_of(error))
        raise
    finally:
        lost = writer.close()
        if lost:
            why = writer.failure.strerror if writer.failure is not None else "nobody takes them"
            say(f"--log {target}: {pluralise(lost, 'line')} lost: {why}")


def _tell(log: OperatorLog, error: BaseException) -> None:
    """Log why the command ends."""
    if isinstance(error, Stopped):
        log.logger.warning("stopped", signal=error.signal)
    else:
        text = repr(error)
        if isinstance(error, click.ClickException):
            text = error.format_message()
        log.logger.error("command_failed", reason=text)
