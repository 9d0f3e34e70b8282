"""A bot's program: it connects to the referee that started it, and plays one match or more."""

import codecs
import faulthandler
import os
import sys
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import msgspec

from bots.kit.bot import Bot, FunctionBot, OnError, Window, types_of_bot
from bots.kit.session import CallWatch, Session, frame_of, printable
from bots.wire import WireLine
from protocol.codec import decode_server_message, encode
from protocol.messages import (
    PROTOCOL,
    Accepted,
    ClockTerms,
    Closed,
    EventMessage,
    Hello,
    Invited,
    Opened,
    Over,
    ServerMessage,
    Welcome,
)

SLOW_START = 0.3
"""Seconds from a process's start to its `hello` above which the bot's log notes the duration."""
BOT_TOML_ENCODING = "utf-8-sig"
REHEARSALS = 20
"""Number of rehearsals; it is more than Python needs to specialize a function's bytecode."""


class Transport(Protocol):
    """A transport of frames between a bot and its referee."""

    def send(self, frame: bytes) -> None:
        """Send one frame."""

    def receive(self) -> bytes | None:
        """Wait for the next frame and return it; return None when the line has closed."""


def play(bot: Bot[Any, Any], line: Transport, hello: Hello, watch: CallWatch | None = None) -> bool:
    """Play one match over a line.

    Returns:
        True if the match ended; False if the referee hung up or the connection was lost.
    """
    session = Session(bot, lambda said: line.send(frame_of(said)), watch=watch)
    line.send(encode(hello))
    while (message := _next(line)) is not None:
        if not session.hear(message):
            return isinstance(message, Over)
    return False


def play_on(bot: Bot[Any, Any], line: Transport, hello: Hello, watch: CallWatch | None = None) -> None:
    """Play every match that the bot is invited to, one after the other, until the line has closed."""
    while play(bot, line, hello, watch):
        while not isinstance(message := _next(line), Invited):
            if message is None:
                return
        hello = msgspec.structs.replace(hello, token=message.token)


def _next(line: Transport) -> ServerMessage | None:
    """Return the next message that can be decoded; None when the line has closed."""
    while (frame := line.receive()) is not None:
        try:
            return decode_server_message(frame)
        except msgspec.MsgspecError as error:
            # Newer referees may send new messages within one protocol version; older bots ignore them.
            print(printable(f"not understood: {error}"), file=sys.stderr)
    return None


class _Rehearsal:
    """A line with prepared messages of a referee."""

    def __init__(self, frames: list[bytes]) -> None:
        self._frames = iter(frames)

    def send(self, frame: bytes) -> None:
        """Discard the frame."""

    def receive(self) -> bytes | None:
        """Return the next prepared message."""
        return next(self._frames, None)


def _rehearsed(_window: Window[Any]) -> None:
    """Decide nothing."""


def rehearse() -> None:
    """Play without a referee until Python has specialized the kit's code, whose memory forked bots share."""
    clock = ClockTerms(main_ms={"w": 1}, reserve_ms=0, pauses=0, pause_ms=0, pacing="prompt")
    none = msgspec.Raw(b"null")
    told = [
        Welcome(
            protocol=PROTOCOL,
            match="",
            game="",
            variant="",
            seat=0,
            seats=1,
            options=none,
            clock=clock,
            seed=0,
            told=(),
        ),
        EventMessage(n=0, event=none),
        Opened(id=0, window="w", view=none, default=none, main_ms=1, reserve_ms=0),
        Accepted(window=0, action=none),
        Closed(window=0, taken=none, by_default=False, charged_ms=0, reserve_ms=0),
    ]
    frames = [encode(message) for message in told]
    hello = Hello(token="", name="", version="", protocol=PROTOCOL)
    codecs.lookup(BOT_TOML_ENCODING)
    for _ in range(REHEARSALS):
        _seconds_running()
        bot = FunctionBot(_rehearsed)
        types_of_bot(bot)
        play(bot, _Rehearsal(frames), hello)
        compile("from bots.kit import run\n\ndef decide(window):\n    return window.default\n", "", "exec")
        tomllib.loads('name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n')


def run(
    bot: Bot[Any, Any] | Callable[[Window[Any]], Any],
    *,
    view_type: Any = None,
    on_error: OnError | None = None,
    name: str | None = None,
    version: str | None = None,
) -> None:
    """Play the match that this process was started for; return when it is over or the referee hangs up.

    A bot with `keeps = true` in its bot.toml may play more than one match; `welcome` is called for each.

    Args:
        bot: a `Bot`, or a function from a window to an action.
        view_type: type of a function's views, by default from its annotation (`window: Window[MistView]`). A
            `Bot` sets its own.
        on_error: `default` prints errors of `decide` with the window, and plays on with the default. By default
            the setting of the `Bot`; a function crashes.
        name: the bot's name, by default from bot.toml in the current folder.
        version: the bot's version, by default from the same file.

    Raises:
        SystemExit: the process was not started by a referee, the bot has no name, or its annotations are wrong;
            the text says what to do.
    """
    took = _seconds_running()
    endpoint, token = os.environ.get("ARENA_ENDPOINT"), os.environ.get("ARENA_TOKEN")
    if not endpoint or token is None:
        raise SystemExit("ARENA_ENDPOINT and ARENA_TOKEN are not set: start me with `arena match GAME BOT BOT`")
    name, version = _identity(name, version)
    player: Bot[Any, Any] = bot if isinstance(bot, Bot) else FunctionBot(bot, view_type)  # pyright: ignore[reportUnknownVariableType]
    if took > SLOW_START:
        text = f"kit: {took:.1f} s from the start to hello ({time.process_time():.1f} s of processor time)"
        print(text, file=sys.stderr, flush=True)
    if on_error is not None:
        player.on_error = on_error
    # Wrong annotations must be reported before the referee waits for this bot.
    player.view_type, player.event_type = types_of_bot(player)
    line = WireLine(endpoint)
    hello = Hello(token=token, name=name, version=version, protocol=PROTOCOL)
    with suppress(OSError, ValueError, AttributeError):  # Standard error may be closed, or no file.
        faulthandler.enable()  # If a library crashes, the log has the bot's last calls.
    try:
        (play_on if os.environ.get("ARENA_KEPT") else play)(player, line, hello, _watch_windows())
    finally:
        line.close()


def _watch_windows() -> CallWatch | None:
    """Return the watch of the windows; None if there is no log, or the bot runs at a terminal."""
    with suppress(OSError, ValueError, AttributeError):  # Standard error may be closed, or no file.
        if not (sys.stdin and sys.stdin.isatty()):
            # The bot may close standard error, and its next file or socket would have the same descriptor.
            return CallWatch(os.dup(sys.stderr.fileno()))
    return None


def _seconds_running() -> float:
    """Return the seconds since this process started, or its processor time if the kernel does not report it."""
    try:
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()


def _identity(name: str | None, version: str | None) -> tuple[str, str]:
    """Return name and version, missing ones from bot.toml."""
    if name is not None and version is not None:
        return name, version
    try:
        told = tomllib.loads(Path("bot.toml").read_text(encoding=BOT_TOML_ENCODING))
        return name or str(told["name"]), version or str(told["version"])
    except FileNotFoundError:
        raise SystemExit(f"bot.toml: not found in {Path.cwd()}; start the bot in its own folder") from None
    except tomllib.TOMLDecodeError as error:
        raise SystemExit(f"bot.toml: {error}") from None
    except KeyError as key:
        raise SystemExit(f"bot.toml: {key} is missing") from None
