"""One match from a bot's side, independent of the transport: messages to the bot, its answers, its log."""

import math
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from time import monotonic
from types import FrameType
from typing import Any, assert_never

import msgspec
from msgspec import UNSET

from bots.kit.bot import Bot, FunctionBot, OnError, Window, check_game, types_of_bot
from protocol.codec import encode
from protocol.messages import (
    MAX_FRAME_BYTES,
    Accepted,
    ClientMessage,
    ClockTerms,
    Closed,
    EventMessage,
    Faulted,
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

MOST_NOTES = 3
"""Maximum number of lines of one kind in the bot's log per match; after them only the total is logged."""
TEXT = 300
"""Maximum number of characters of the referee's text in such a line."""
MOST_REFUSED = 2
"""Number of illegal actions in a window after which the kit answers in the bot's place."""
LONGEST_WATCH = 1e6
"""Maximum seconds of one wait of the watch's thread."""
CALLS_SHOWN = 100
"""Maximum number of calls written per thread when the time of a window is over."""
ERRORS_SHOWN = 20
"""Maximum number of errors per match printed in full under `on_error="default"`; each later one is one line."""
ERROR_CHARACTERS = 6_000
"""Maximum number of characters printed: the last ones of a traceback, and the first ones of its window."""
KIT = f"{Path(__file__).parent}{os.sep}"
"""Beginning of the paths of the kit's own files."""


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
        self._latest_error = printable(error_text(error))
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
            self._log(f"kit: window {window}: {printable(text)}")

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


def printable(text: str) -> str:
    """Return the beginning of a text of the referee, with escapes for characters that cannot be printed."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:TEXT])


class MessageTooLargeError(ValueError):
    """A message is larger than the referee accepts. The text names the line of the bot that sent it."""


class CallWatch:
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
        watch: CallWatch | None = None,
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
        self.view_type, self.event_type = types_of_bot(bot)
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
                self._log(printable(f"the referee hangs up: {reason}: {text}"))
                return False
            case Invited() | Paused() | Resumed():
                pass
            case _ as unreachable:
                assert_never(unreachable)
        return True

    @contextmanager
    def _watched(self, begin: Callable[[CallWatch], None]) -> Generator[None, None, None]:
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
        self._bot.rng = Random(welcome.seed)
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
        window = self._window = Window(opened, view, bot.match, bot.rng, self)
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


def frame_of(said: ClientMessage) -> bytes:
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
    while frame is not None and frame.f_code.co_filename.startswith(KIT):
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
