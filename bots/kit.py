"""The kit for bot authors: it connects, decodes messages, calls the bot and sends its answers.

A bot is a function from an open window to an action, or a `Bot`, which also receives events:

    from bots.kit import run

    def decide(window):
        return {"cells": ["C3"]}

    run(decide)
"""

import codecs
import faulthandler
import math
import os
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from time import monotonic
from types import FrameType
from typing import Any, Generic, Literal, Protocol, TypeVar, assert_never

import msgspec
from msgspec import UNSET

from bots.kit_types import check_game, types_of_bot, types_of_function
from bots.wire import WireLine
from protocol.codec import decode_server_message, encode
from protocol.messages import (
    MAX_FRAME_BYTES,
    PROTOCOL,
    Accepted,
    ClientMessage,
    ClockTerms,
    Closed,
    EventMessage,
    Faulted,
    Hello,
    Invited,
    NoAction,
    Opened,
    Over,
    Paused,
    Rejected,
    Resumed,
    ServerMessage,
    Submit,
    Welcome,
)
from protocol.refusals import Refusal
from protocol.words import Outcome

ViewT = TypeVar("ViewT")
EventT = TypeVar("EventT")


SLOW_START = 0.3
"""Seconds from a process's start to its `hello` above which the bot's log notes the duration."""
MOST_NOTES = 3
"""Maximum number of lines of one kind in the bot's log per match; after them only the total is logged."""
TEXT = 300
"""Maximum number of characters of the referee's text in such a line."""
MOST_REFUSED = 2
"""Number of illegal actions in a window after which the kit answers in the bot's place."""
OnError = Literal["crash", "default"]
BOT_TOML_ENCODING = "utf-8-sig"
REHEARSALS = 20
"""Number of rehearsals; it is more than Python needs to specialize a function's bytecode."""
LONGEST_WATCH = 1e6
"""Maximum seconds of one wait of the watch's thread."""
CALLS_SHOWN = 100
"""Maximum number of calls written per thread when the time of a window is over."""
ERRORS_SHOWN = 20
"""Maximum number of errors per match printed in full under `on_error="default"`; each later one is one line."""
ERROR_CHARACTERS = 6_000
"""Maximum number of characters printed: the last ones of a traceback, and the first ones of its window."""


def after(seconds: float) -> Callable[[], bool]:
    """Return a function that returns True after `seconds`, for `worlds_until` of `referee.games`."""
    end = monotonic() + seconds
    return lambda: monotonic() >= end


class Window(Generic[ViewT]):
    """An open window, passed to a bot's `decide`."""

    def __init__(self, opened: Opened, view: ViewT, match: Welcome, luck: Random, session: "Session") -> None:
        self.id = opened.id
        self.name = opened.window
        """The window's name in the game's vocabulary."""
        self.view = view
        """Everything that this seat may know now, as the annotated type or plain JSON values."""
        self.default: Any = opened.default
        """The action used if the bot submits none."""
        self.main_ms = opened.main_ms
        """Main time when the window opened, in milliseconds."""
        self.reserve_ms = opened.reserve_ms
        """Remaining reserve of the match, in milliseconds; 0 if this window may not use it."""
        self.deadline = monotonic() + opened.main_ms / 1000
        """End of main time, on `time.monotonic()`. A pause moves the referee's deadline, never this one."""
        self.match = match
        """The referee's welcome: seat, seats, variant, options, clock."""
        self.luck = luck
        """Random number generator of the bot, seeded by the referee."""
        self.submitted = False
        """True after the bot has submitted an action in this window."""
        self._session = session

    def left_ms(self) -> float:
        """Return the remaining main time in milliseconds; it is negative once the reserve runs."""
        return (self.deadline - monotonic()) * 1000

    def submit(self, action: Any, *, final: bool = False) -> None:
        """Submit an action now and continue to think. The action that `decide` returns replaces it."""
        self.submitted = True
        self._session.submit(self.id, action, final=final)

    def say(self, said: ClientMessage) -> None:
        """Send another message: an `Undo`, a `Pause` or a `Note` (all in `protocol.messages`)."""
        self._session.say(said)


class Bot(Generic[ViewT, EventT]):
    """A bot with a memory. Override the methods that you need; only `decide` is required.

    `class Mine(Bot[MistView, MistEvent])` sets the types of views and events. So do the annotations of `decide`
    and `event`. Without either they are plain JSON values.
    """

    view_type: Any = None
    """Type of views, if annotations do not set it; `Any` means plain JSON values."""
    event_type: Any = None
    """Type of events, if annotations do not set it; `Any` means plain JSON values."""
    on_error: OnError = "crash"
    """Behaviour when a method raises: the bot exits, or the kit prints the error and plays on.

    With `default`, a `decide` that raises counts as if it had returned None.
    """
    match: Welcome
    """The referee's welcome. Set before `welcome` is called."""
    luck: Random
    """Random number generator with the bot's own seed. Set before `welcome` is called."""

    def welcome(self) -> None:
        """Prepare for a match that starts, or continues after a restart; earlier events follow.

        A bot that plays more than one match must reset here everything it knows of the last one.
        """

    def event(self, event: EventT) -> None:
        """Handle an event that this seat learns of."""

    def decide(self, window: Window[ViewT]) -> Any:
        """Return the action for a window: a Struct of the game's words, or plain JSON values.

        None stands for the last action submitted in this window, or for its default if there is none. The bot's
        report counts windows of the second kind as a possible mistake: return `window.default` to choose it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not decide {window.name}")

    def rejected(self, rejected: Rejected) -> Any:
        """Return a replacement for an illegal last action of a window; the kit submits it once.

        None stands for the action accepted before it in this window, or the default; the kit logs this. The same
        applies if the replacement is illegal too.
        """

    def closed(self, closed: Closed) -> None:
        """Handle the end of a window; the message has the action used and the time charged."""

    def over(self, outcome: Outcome) -> None:
        """Handle the end of the match."""


class FunctionBot(Bot[Any, Any]):
    """A function as a bot; `run` wraps functions in it."""

    def __init__(self, decide: Callable[[Window[Any]], Any], view_type: Any = None) -> None:
        self.function = decide
        self.view_type = types_of_function(decide, Window) if view_type is None else view_type
        self.event_type = Any

    def decide(self, window: Window[Any]) -> Any:
        """Return the function's action."""
        return self.function(window)


class _Notes:
    """Logs the mishaps of one match: the first few of each kind, and the totals at the end."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._counts: dict[str, int] = {}
        self.errors = 0
        self.windows = 0
        self._nothing = 0
        self._latest_error = ""

    def raised(self, error: Exception) -> int:
        """Count an error after which the bot plays on; return the number of errors so far."""
        self.errors += 1
        self._latest_error = _printable(error_text(error))
        return self.errors

    def returned_nothing(self, window: int) -> None:
        """Log that `decide` returned None without having submitted an action."""
        self._nothing += 1
        if self._nothing <= MOST_NOTES:
            self._log(f"kit: window {window}: decide returned nothing; the default is taken")

    def add(self, kind: str, window: int, text: str) -> None:
        """Log a mishap; `kind` is the plural noun for the total."""
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        if count <= MOST_NOTES:
            self._log(f"kit: window {window}: {_printable(text)}")

    def over(self) -> None:
        """Log the totals at the end of the match."""
        for kind, count in self._counts.items():
            if count > MOST_NOTES:
                self._log(f"kit: {count} {kind} in all")
        if self._nothing:
            self._log(f"kit: decide returned nothing in {self._nothing} of {self.windows} windows")
        if self.errors:
            # This must be the last line, because the match's result quotes it.
            times = "once" if self.errors == 1 else f"{self.errors} times, most recently"
            self._log(f"kit: the bot raised {times} {self._latest_error}")


def _to_log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:TEXT])


class MessageTooLargeError(ValueError):
    """A message is larger than the referee accepts. The text names the line of the bot that sent it."""


class Watch:
    """Writes the calls of all threads to the bot's log when the time of a window is over.

    A thread of its own reads them while it holds the interpreter lock. Python's `faulthandler` reads without the
    lock, which may crash a bot that runs at that moment. So a call that never releases the lock is not logged.
    """

    def __init__(self, descriptor: int) -> None:
        """Write to the file descriptor of the log."""
        self._descriptor = descriptor
        self._left = MOST_NOTES
        self._seconds = 0.0
        """Time of the open window, in seconds."""
        self._ends = math.inf
        """End of that time on the monotonic clock; infinite if no window is open."""
        self._looks = math.inf
        """Time of the thread's next check; infinite while it waits for `_wake`."""
        self._lock = threading.Lock()
        """Lock for changes of the open window."""
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, opened: Opened, clock: ClockTerms) -> None:
        """Start to watch a window."""
        self._arm(opened.main_ms + opened.reserve_ms, clock)

    def begin_match(self, clock: ClockTerms) -> None:
        """Start to watch a match; work before the first window has the time of the shortest window."""
        self._left = MOST_NOTES
        self._arm(min(clock.main_ms.values(), default=0) + clock.reserve_ms, clock)

    def end(self) -> None:
        """Stop watching, because the bot has answered."""
        with self._lock:
            self._ends = math.inf

    def _arm(self, milliseconds: int, clock: ClockTerms) -> None:
        if self._left == 0:
            return
        seconds = milliseconds / 1000 * (1 if clock.wall_factor is UNSET else clock.wall_factor)
        with self._lock:
            self._seconds = seconds
            self._ends = monotonic() + seconds
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, name="kit: watch", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # The bot's limit of threads may be reached.
                self._thread = None
        elif self._ends < self._looks:  # Otherwise the thread's next check is early enough.
            self._wake.set()

    def _look(self) -> None:
        while True:
            self._looks = math.inf
            self._wake.clear()
            ends = self._ends
            left = ends - monotonic()
            if left <= 0:
                with self._lock:
                    if self._ends != ends:  # The bot has answered by now, and the next window may be open.
                        continue
                    self._left -= 1
                    self._ends = math.inf
                    seconds = self._seconds
                self._write(seconds)
            else:
                self._looks = ends  # A window that starts before this line has set `_wake`.
                self._wake.wait(min(left, LONGEST_WATCH))

    def _write(self, seconds: float) -> None:
        lines = [f"Timeout ({timedelta(seconds=seconds)})!"]
        for ident, latest in sys._current_frames().items():  # noqa: SLF001 - the documented way
            if ident != threading.get_ident():
                lines.append(f"Thread 0x{ident:016x} (most recent call first):")
                lines += _calls(latest)
        with suppress(OSError):  # Standard error may be closed by now.
            os.write(self._descriptor, "\n".join([*lines, ""]).encode(errors="replace"))


def _calls(frame: FrameType | None) -> Iterator[str]:
    """Yield the latest calls of a thread, the last one first, in the format of `faulthandler`."""
    for _ in range(CALLS_SHOWN):
        if frame is None:
            return
        code = frame.f_code
        yield f'  File "{code.co_filename}", line {frame.f_lineno} in {code.co_name}'
        frame = frame.f_back
    yield "  ..."


class Session:
    """One match from the bot's side, independent of the transport: `hear` handles messages, `say` sends answers.

    Raises:
        SystemExit: the bot's annotations are wrong, or name the words of another game; the text says where.
    """

    def __init__(
        self,
        bot: Bot[Any, Any],
        say: Callable[[ClientMessage], None],
        *,
        log: Callable[[str], None] = _to_log,
        on_error: OnError | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Create a session.

        Args:
            bot: the bot that plays.
            say: sends a message of the bot.
            log: receives one text per mishap.
            on_error: replaces the bot's own setting.
            watch: logs the bot's calls when the time of a window is over; None disables this.
        """
        self._bot = bot
        self.say = say
        self._log = log
        self._on_error = on_error
        self._watch = watch
        self.view_type, self.event_type = types_of_bot(bot, Bot, Window)
        self._window: Window[Any] | None = None
        self._last: Any = None
        """The bot's last submission in the open window, or the default."""
        self._standing: Any = None
        """The last accepted action of the open window; None if the default would be used."""
        self._notes = _Notes(log)
        self._no_action: NoAction | None = None
        """Reason why the bot has no action for the open window; None if it has one or chose the default."""
        self._unanswered = 0
        self._refused = 0
        """Number of illegal actions in the open window that no later action had replaced."""

    def hear(self, message: ServerMessage) -> bool:
        """Pass one message to the bot and send its answer; return False if the match is over for it."""
        match message:
            case Welcome():
                clock = message.clock
                with self._watched(lambda watch: watch.begin_match(clock)):
                    self._welcome(message)
            case EventMessage(event=event):
                self._event(event)
            case Opened():
                opened = message
                with self._watched(lambda watch: watch.begin(opened, self._bot.match.clock)):
                    self._decide_and_submit(opened)
            case Accepted(action=action):
                self._unanswered -= 1
                self._standing = action
            case Rejected():
                self._rejected(message)
            case Closed():
                self._guarded(self._bot.closed, message)
            case Over(outcome=outcome):
                try:
                    self._guarded(self._bot.over, outcome)
                finally:
                    self._notes.over()
                return False
            case Faulted(reason=reason, text=text):
                self._notes.over()
                self._log(_printable(f"the referee hangs up: {reason}: {text}"))
                return False
            case Invited() | Paused() | Resumed():
                pass
            case _ as unreachable:
                assert_never(unreachable)
        return True

    @contextmanager
    def _watched(self, begin: Callable[[Watch], None]) -> Generator[None, None, None]:
        """Write the calls of all threads to the log if the bot takes too long."""
        if self._watch is None:
            yield
            return
        begin(self._watch)
        try:
            yield
        finally:
            self._watch.end()

    def _decide_and_submit(self, opened: Opened) -> None:
        action = self.decide(opened, msgspec.convert(opened.view, self.view_type))
        try:
            self.submit(opened.id, action, final=True)
        except MessageTooLargeError as error:
            error = MessageTooLargeError(f"{error.args[0]}, returned by {_place_of(self._bot)}")
            if self._crashes:
                raise error from None
            self._notes.raised(error)
            self._log(f"decide of window {opened.id} {opened.window!r}: {error}; the match goes on")
            self._no_action = "raised"
            self.submit(opened.id, None, final=True)

    def submit(self, window: int, action: Any, *, final: bool) -> None:
        """Send an action; a `final` one cannot be changed."""
        self._last = action
        self._unanswered += 1
        because = UNSET if self._no_action is None else self._no_action
        self.say(Submit(window=window, action=msgspec.Raw(encode(action)), final=final, because=because))

    def _welcome(self, welcome: Welcome) -> None:
        check_game(self.view_type, welcome.game)
        self._bot.match = welcome
        self._bot.luck = Random(welcome.seed)
        self._guarded(self._bot.welcome)
        for event in welcome.told:
            self._event(event)

    def _event(self, event: Any) -> None:
        self._guarded(self._bot.event, msgspec.convert(event, self.event_type))

    def decide(self, opened: Opened, view: Any) -> Any:
        """Let the bot decide a window.

        Returns:
            The action to submit at last, None for the default. It is not submitted yet.
        """
        bot, notes = self._bot, self._notes
        window = self._window = Window(opened, view, bot.match, bot.luck, self)
        self._last, self._standing, self._no_action = opened.default, None, None
        self._unanswered = 0
        self._refused = 0
        errors = notes.errors
        notes.windows += 1
        action = self._guarded(bot.decide, window, opened=opened, says=True)
        if action is not None:
            return action
        if window.submitted:
            return self._last
        if notes.errors > errors:
            self._no_action = "raised"
            return None  # The match's report lists this as an error of the bot.
        if opened.default is not None:  # If the default is None, returning None chooses it.
            self._no_action = "returned-nothing"
            notes.returned_nothing(opened.id)
        return opened.default

    @property
    def _crashes(self) -> bool:
        """True if an error of the bot ends it."""
        return (self._on_error or self._bot.on_error) == "crash"

    def _guarded(
        self, method: Callable[..., Any], *given: Any, opened: Opened | None = None, says: bool = False
    ) -> Any:
        """Call a method of the bot; return None if it raised and the bot plays on.

        With `says`, the result is an action, which must be encodable.
        """
        crash = self._crashes
        try:
            returned = method(*given)
            if says and not crash:
                encode(returned)  # An action that cannot be encoded is an error of the bot, too.
        except Exception as error:
            if crash:
                raise
            in_full = self._notes.raised(error) <= ERRORS_SHOWN
            self._log(_told_of(error, getattr(method, "__name__", "decide"), opened, in_full=in_full))
            return None
        return returned

    def _rejected(self, rejected: Rejected) -> None:
        window = self._window
        if rejected.reason is Refusal.LATE and rejected.window is not None:
            self._notes.add("answers too late", rejected.window, "the answer came too late")
        if window is None or rejected.window != window.id:
            return
        self._unanswered -= 1
        # Only the last submission counts: an earlier illegal one was replaced by a later one.
        if rejected.reason is not Refusal.ILLEGAL or self._unanswered > 0:
            return
        self._refused += 1
        if self._refused > MOST_REFUSED:
            return
        if self._refused == MOST_REFUSED:
            # Without a final action the window would last for all of its time, which may be a day.
            self._fall_back(window.id, f"rejected again: {rejected.text}")
            return
        instead = self._guarded(self._bot.rejected, rejected, says=True)
        if instead is None:
            self._refused = MOST_REFUSED
            self._fall_back(window.id, f"rejected: {rejected.text}")
        else:
            self.submit(window.id, instead, final=True)

    def _fall_back(self, window: int, why: str) -> None:
        """Submit the last accepted action, or None for the default, in the bot's place."""
        what = "the default is taken" if self._standing is None else "what was accepted before stands"
        self._notes.add("windows answered by the kit", window, f"{why}; {what}")
        self.submit(window, self._standing, final=True)


def error_text(error: BaseException) -> str:
    """Return an error's type and text, even if its own `__str__` raises."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - an untrusted method may raise anything
        return f"{type(error).__name__}, and it cannot say what"


def _told_of(error: Exception, method: str, opened: Opened | None, *, in_full: bool) -> str:
    """Return the log's text of an error and its window, of bounded length."""
    where = method if opened is None else f"{method} of window {opened.id} {opened.window!r}"
    if not in_full:
        return f"{where} raised {error_text(error)[:200]}"
    import traceback  # noqa: PLC0415 - half a millisecond that a bot without errors need not pay

    lines = "".join(traceback.format_exception(error))[-ERROR_CHARACTERS:].rstrip()
    window = "" if opened is None else f"\n{encode(opened).decode()[:ERROR_CHARACTERS]}"
    return f"{where} raised; the match goes on\n{lines}{window}"


class Line(Protocol):
    """A transport of frames between a bot and its referee."""

    def send(self, frame: bytes) -> None:
        """Send one frame."""

    def receive(self) -> bytes | None:
        """Wait for the next frame and return it; return None when the line has closed."""


def _frame(said: ClientMessage) -> bytes:
    """Return the frame of a message.

    Raises:
        MessageTooLargeError: the frame is larger than the referee accepts.
    """
    frame = encode(said)
    if len(frame) > MAX_FRAME_BYTES:
        what = f"a message of {len(frame):,} bytes; {MAX_FRAME_BYTES:,} are allowed"
        raise MessageTooLargeError(f"{what}{_caller()}")
    return frame


def _caller() -> str:
    """Return the line of the bot that called the kit, such as ` (bot.py:12)`; "" for the kit's own calls."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - `inspect` is slow to import
    while frame is not None and frame.f_code.co_filename == __file__:
        if frame.f_code is Session._decide_and_submit.__code__:  # noqa: SLF001 - its own
            return ""
        frame = frame.f_back
    return "" if frame is None else f" ({Path(frame.f_code.co_filename).name}:{frame.f_lineno})"


def _place_of(bot: Bot[Any, Any]) -> str:
    """Return the name, file and line of the function that decides."""
    function = bot.function if isinstance(bot, FunctionBot) else type(bot).decide
    code = getattr(function, "__code__", None)
    if code is None:
        return "decide"
    return f"{code.co_name} ({Path(code.co_filename).name}:{code.co_firstlineno})"


def play(bot: Bot[Any, Any], line: Line, hello: Hello, watch: Watch | None = None) -> bool:
    """Play one match over a line.

    Returns:
        True if the match ended; False if the referee hung up or the connection was lost.
    """
    session = Session(bot, lambda said: line.send(_frame(said)), watch=watch)
    line.send(encode(hello))
    while (message := _next(line)) is not None:
        if not session.hear(message):
            return isinstance(message, Over)
    return False


def play_on(bot: Bot[Any, Any], line: Line, hello: Hello, watch: Watch | None = None) -> None:
    """Play every match that the bot is invited to, one after the other, until the line has closed."""
    while play(bot, line, hello, watch):
        while not isinstance(message := _next(line), Invited):
            if message is None:
                return
        hello = msgspec.structs.replace(hello, token=message.token)


def _next(line: Line) -> ServerMessage | None:
    """Return the next message that can be decoded; None when the line has closed."""
    while (frame := line.receive()) is not None:
        try:
            return decode_server_message(frame)
        except msgspec.MsgspecError as error:
            # Newer referees may send new messages within one protocol version; older bots ignore them.
            print(_printable(f"not understood: {error}"), file=sys.stderr)
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
        types_of_bot(bot, Bot, Window)
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
    player.view_type, player.event_type = types_of_bot(player, Bot, Window)
    line = WireLine(endpoint)
    hello = Hello(token=token, name=name, version=version, protocol=PROTOCOL)
    with suppress(OSError, ValueError, AttributeError):  # Standard error may be closed, or no file.
        faulthandler.enable()  # If a library crashes, the log has the bot's last calls.
    try:
        (play_on if os.environ.get("ARENA_KEPT") else play)(player, line, hello, _watch_windows())
    finally:
        line.close()


def _watch_windows() -> Watch | None:
    """Return the watch of the windows; None if there is no log, or the bot runs at a terminal."""
    with suppress(OSError, ValueError, AttributeError):  # Standard error may be closed, or no file.
        if not (sys.stdin and sys.stdin.isatty()):
            # The bot may close standard error, and its next file or socket would have the same descriptor.
            return Watch(os.dup(sys.stderr.fileno()))
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
