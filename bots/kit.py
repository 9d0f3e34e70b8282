"""The kit for bot authors: it connects, decodes, calls the bot, and answers.

A bot is a function from an open window to an action, or a `Bot`, which also hears events:

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
"""Seconds from a process's start to its `hello` from which on the bot's log says how long it took."""
MOST_NOTES = 3
"""Lines in the bot's log of one kind, in one match; then only their number is told."""
TEXT = 300
"""Characters of the referee's text in such a line."""
MOST_REFUSED = 2
"""Actions of a window that may break a rule, before the kit answers it in the bot's place."""
OnError = Literal["crash", "default"]
BOT_TOML_ENCODING = "utf-8-sig"
REHEARSALS = 20
"""More than Python needs to see how a function is used."""
LONGEST_WATCH = 1e6
"""Seconds: a window of more is not watched to its end."""
CALLS_SHOWN = 100
"""Of each thread, when the time of a window is over."""
ERRORS_SHOWN = 20
"""Errors of a match that are printed in full under `on_error="default"`; each later one takes a line."""
ERROR_CHARACTERS = 6_000
"""Of one traceback its last characters are printed, of its window the first."""


def after(seconds: float) -> Callable[[], bool]:
    """Return a function that is true once so many seconds have passed: for `worlds_until` of `referee.games`."""
    end = monotonic() + seconds
    return lambda: monotonic() >= end


class Window(Generic[ViewT]):
    """An open window, as a bot gets it."""

    def __init__(self, opened: Opened, view: ViewT, match: Welcome, luck: Random, session: "Session") -> None:
        self.id = opened.id
        self.name = opened.window
        """The window's name in the game's vocabulary."""
        self.view = view
        """Everything this seat may know now: of the annotated type, or plain JSON values."""
        self.default: Any = opened.default
        """The action taken if none comes."""
        self.main_ms = opened.main_ms
        """Main time left when the window opened."""
        self.reserve_ms = opened.reserve_ms
        """Reserve left for the match; 0 where this window may not use it."""
        self.deadline = monotonic() + opened.main_ms / 1000
        """When main time ends, on `time.monotonic()`. A pause moves the referee's deadline, never this one."""
        self.match = match
        """What the referee's welcome said: seat, seats, variant, options, clock."""
        self.luck = luck
        """The bot's own chance, made from the seed that the referee gave it."""
        self.submitted = False
        """Whether the bot has submitted something here."""
        self._session = session

    def left_ms(self) -> float:
        """Main time left now; negative once the reserve runs."""
        return (self.deadline - monotonic()) * 1000

    def submit(self, action: Any, *, final: bool = False) -> None:
        """Submits now and lets the bot think on. What `decide` returns in the end replaces it."""
        self.submitted = True
        self._session.submit(self.id, action, final=final)

    def say(self, said: ClientMessage) -> None:
        """Says something else: an `Undo`, a `Pause`, a `Note` (all in `protocol.messages`)."""
        self._session.say(said)


class Bot(Generic[ViewT, EventT]):
    """A bot that keeps a memory. Override what you need; `decide` is the only must.

    `class Mine(Bot[MistView, MistEvent])` says what views and events are decoded into. So do the annotations of
    `decide` and `event`. Without either they are plain JSON values.
    """

    view_type: Any = None
    """What views are decoded into, where annotations do not say it; `Any` leaves plain JSON values."""
    event_type: Any = None
    """What events are decoded into, where annotations do not say it."""
    on_error: OnError = "crash"
    """What happens when a method raises: the bot ends, or the error is printed and the match goes on.

    With `default`, a window whose `decide` raised counts as if it had returned None.
    """
    match: Welcome
    """Set before `welcome` is called."""
    luck: Random
    """The bot's own chance, made from its own seed. Set before `welcome` is called."""

    def welcome(self) -> None:
        """The match begins, or goes on after a new start; then the events told so far follow.

        A bot that is kept for more than one match forgets here what it knew of the last one.
        """

    def event(self, event: EventT) -> None:
        """The game tells this seat something."""

    def decide(self, window: Window[ViewT]) -> Any:
        """The action for a window: a Struct of the game's words, or plain JSON values.

        None means: what was submitted last in this window, or its default where nothing was. The bot's report
        counts windows of the second kind, for a `return` may be missing: return `window.default` if you mean it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not decide {window.name}")

    def rejected(self, rejected: Rejected) -> Any:
        """The last action of a window broke a rule. What this returns is submitted instead, once.

        None stands for what was accepted before it in this window, or the default; the kit says so in the bot's
        log. If what is returned breaks a rule too, that is what stands.
        """

    def closed(self, closed: Closed) -> None:
        """A window is over: what was taken, and what time it cost."""

    def over(self, outcome: Outcome) -> None:
        """The match has ended."""


class FunctionBot(Bot[Any, Any]):
    """A function as a bot: what `run` makes of one."""

    def __init__(self, decide: Callable[[Window[Any]], Any], view_type: Any = None) -> None:
        self.function = decide
        self.view_type = types_of_function(decide, Window) if view_type is None else view_type
        self.event_type = Any

    def decide(self, window: Window[Any]) -> Any:
        """What the function says."""
        return self.function(window)


class _Notes:
    """What the bot's log gets of mishaps in one match: the first few of each kind, and at last their number."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._counts: dict[str, int] = {}
        self.errors = 0
        self.windows = 0
        self._nothing = 0
        self._latest_error = ""

    def raised(self, error: Exception) -> int:
        """The bot raised this and goes on; how often it has raised."""
        self.errors += 1
        self._latest_error = _printable(error_text(error))
        return self.errors

    def returned_nothing(self, window: int) -> None:
        """`decide` returned nothing, and had submitted nothing."""
        self._nothing += 1
        if self._nothing <= MOST_NOTES:
            self._log(f"kit: window {window}: decide returned nothing; the default is taken")

    def add(self, kind: str, window: int, text: str) -> None:
        """`kind`: what there is a number of."""
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        if count <= MOST_NOTES:
            self._log(f"kit: window {window}: {_printable(text)}")

    def over(self) -> None:
        """The match has ended."""
        for kind, count in self._counts.items():
            if count > MOST_NOTES:
                self._log(f"kit: {count} {kind} in all")
        if self._nothing:
            self._log(f"kit: decide returned nothing in {self._nothing} of {self.windows} windows")
        if self.errors:
            # The last line of all: the match's result quotes it.
            times = "once" if self.errors == 1 else f"{self.errors} times, most recently"
            self._log(f"kit: the bot raised {times} {self._latest_error}")


def _to_log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:TEXT])


class MessageTooLargeError(ValueError):
    """A message that the referee would refuse for its size. The text names the bot's own line."""


class Watch:
    """Writes the calls of all threads to the bot's log when the time of a window is over.

    It does so in a thread that holds the interpreter while it looks. Python's `faulthandler` looks without, and a
    bot that goes on at that moment may die of it. So a call that never lets go of the interpreter is not seen.
    """

    def __init__(self, descriptor: int) -> None:
        """`descriptor`: of the log."""
        self._descriptor = descriptor
        self._left = MOST_NOTES
        self._seconds = 0.0
        """Of the window that is open."""
        self._ends = math.inf
        """When they are over, on the monotonic clock; endless: no window is open."""
        self._looks = math.inf
        """When the thread looks next; endless: it waits to be woken."""
        self._lock = threading.Lock()
        """Held while a window begins, ends or is found to be over."""
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, opened: Opened, clock: ClockTerms) -> None:
        """A window is open for the bot."""
        self._arm(opened.main_ms + opened.reserve_ms, clock)

    def begin_match(self, clock: ClockTerms) -> None:
        """A match begins: what the bot does before its first window is on the time of that window."""
        self._left = MOST_NOTES
        self._arm(min(clock.main_ms.values(), default=0) + clock.reserve_ms, clock)

    def end(self) -> None:
        """The bot has answered."""
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
            except RuntimeError:  # The bot may have no more threads.
                self._thread = None
        elif self._ends < self._looks:  # Else it looks when an earlier window would have ended, and again.
            self._wake.set()

    def _look(self) -> None:
        while True:
            self._looks = math.inf
            self._wake.clear()
            ends = self._ends
            left = ends - monotonic()
            if left <= 0:
                with self._lock:
                    if self._ends != ends:  # The bot has answered meanwhile, and the next window may be open.
                        continue
                    self._left -= 1
                    self._ends = math.inf
                    seconds = self._seconds
                self._write(seconds)
            else:
                self._looks = ends  # A window that begins before this line has set `_wake`.
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
    """The latest calls of a thread, the last one first, as `faulthandler` writes them."""
    for _ in range(CALLS_SHOWN):
        if frame is None:
            return
        code = frame.f_code
        yield f'  File "{code.co_filename}", line {frame.f_lineno} in {code.co_name}'
        frame = frame.f_back
    yield "  ..."


class Session:
    """One match from the bot's side, without a line: messages are heard, answers go to `say`.

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
        """Begin.

        Args:
            bot: plays it.
            say: takes what the bot says.
            log: takes mishaps, a text each.
            on_error: in place of the bot's own.
            watch: tells of the bot when the time of a window is over; None: nobody does.
        """
        self._bot = bot
        self.say = say
        self._log = log
        self._on_error = on_error
        self._watch = watch
        self.view_type, self.event_type = types_of_bot(bot, Bot, Window)
        self._window: Window[Any] | None = None
        self._last: Any = None
        """What the bot submitted last in the open window, or its default."""
        self._standing: Any = None
        """What the referee holds for the open window; None: nothing, so that the default would be taken."""
        self._notes = _Notes(log)
        self._no_action: NoAction | None = None
        """Why the bot has no action for the open window; None: it has one, or chose the default itself."""
        self._unanswered = 0
        self._refused = 0
        """Actions of the open window that broke a rule, and that nothing had replaced."""

    def hear(self, message: ServerMessage) -> bool:
        """Passes one message on to the bot, and says what the bot answers. False: the match is over for it."""
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
        """Have the calls of all threads written to the log if the bot is at it for too long."""
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
        """Says an action. `final` gives up the right to change it."""
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
            return None  # Which is told as such in the match's report.
        if opened.default is not None:  # Else nothing is what `window.default` says.
            self._no_action = "returned-nothing"
            notes.returned_nothing(opened.id)
        return opened.default

    @property
    def _crashes(self) -> bool:
        """Whether an error of the bot's ends it."""
        return (self._on_error or self._bot.on_error) == "crash"

    def _guarded(
        self, method: Callable[..., Any], *given: Any, opened: Opened | None = None, says: bool = False
    ) -> Any:
        """What the bot's method returns; None where it raised and the bot goes on. `says`: that is an action."""
        crash = self._crashes
        try:
            returned = method(*given)
            if says and not crash:
                encode(returned)  # What cannot be said is an error of the bot's, too.
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
        # Only the last submission decides: an early one that broke a rule was replaced by what came after it.
        if rejected.reason is not Refusal.ILLEGAL or self._unanswered > 0:
            return
        self._refused += 1
        if self._refused > MOST_REFUSED:
            return
        if self._refused == MOST_REFUSED:
            # Who does not give up the window would wait for the end of its time, which may be a day.
            self._fall_back(window.id, f"rejected again: {rejected.text}")
            return
        instead = self._guarded(self._bot.rejected, rejected, says=True)
        if instead is None:
            self._refused = MOST_REFUSED
            self._fall_back(window.id, f"rejected: {rejected.text}")
        else:
            self.submit(window.id, instead, final=True)

    def _fall_back(self, window: int, why: str) -> None:
        """Answers in the bot's place: what was accepted before stands, or the default is taken."""
        what = "the default is taken" if self._standing is None else "what was accepted before stands"
        self._notes.add("windows answered by the kit", window, f"{why}; {what}")
        self.submit(window, self._standing, final=True)


def error_text(error: BaseException) -> str:
    """Its type and what it says. A bot's own error may raise when it is asked for that."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - whatever a stranger's method raises
        return f"{type(error).__name__}, and it cannot say what"


def _told_of(error: Exception, method: str, opened: Opened | None, *, in_full: bool) -> str:
    """An error with its window, bounded, for the bot's log."""
    where = method if opened is None else f"{method} of window {opened.id} {opened.window!r}"
    if not in_full:
        return f"{where} raised {error_text(error)[:200]}"
    import traceback  # noqa: PLC0415 - half a millisecond that a bot without errors need not pay

    lines = "".join(traceback.format_exception(error))[-ERROR_CHARACTERS:].rstrip()
    window = "" if opened is None else f"\n{encode(opened).decode()[:ERROR_CHARACTERS]}"
    return f"{where} raised; the match goes on\n{lines}{window}"


class Line(Protocol):
    """What carries frames between a bot and its referee."""

    def send(self, frame: bytes) -> None:
        """Sends one frame."""

    def receive(self) -> bytes | None:
        """Waits for the next frame; None when the line has closed."""


def _frame(said: ClientMessage) -> bytes:
    """Return a message as it is sent.

    Raises:
        MessageTooLargeError: the referee would refuse it.
    """
    frame = encode(said)
    if len(frame) > MAX_FRAME_BYTES:
        what = f"a message of {len(frame):,} bytes; {MAX_FRAME_BYTES:,} are allowed"
        raise MessageTooLargeError(f"{what}{_caller()}")
    return frame


def _caller() -> str:
    """Return the line of the bot that called the kit, such as ` (bot.py:12)`, or "" where it calls itself."""
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
        Whether it came to its end: not if the referee hung up, or the line was cut.
    """
    session = Session(bot, lambda said: line.send(_frame(said)), watch=watch)
    line.send(encode(hello))
    while (message := _next(line)) is not None:
        if not session.hear(message):
            return isinstance(message, Over)
    return False


def play_on(bot: Bot[Any, Any], line: Line, hello: Hello, watch: Watch | None = None) -> None:
    """Plays one match after the other, each that it is invited to, until the line is cut."""
    while play(bot, line, hello, watch):
        while not isinstance(message := _next(line), Invited):
            if message is None:
                return
        hello = msgspec.structs.replace(hello, token=message.token)


def _next(line: Line) -> ServerMessage | None:
    """The next message that is understood; None when the line has closed."""
    while (frame := line.receive()) is not None:
        try:
            return decode_server_message(frame)
        except msgspec.MsgspecError as error:
            # A referee may learn new words within one protocol version: a bot lives on without them.
            print(_printable(f"not understood: {error}"), file=sys.stderr)
    return None


class _Rehearsal:
    """A line on which a referee's messages lie ready."""

    def __init__(self, frames: list[bytes]) -> None:
        self._frames = iter(frames)

    def send(self, frame: bytes) -> None:
        """Nobody hears it."""

    def receive(self) -> bytes | None:
        """The next message."""
        return next(self._frames, None)


def _rehearsed(_window: Window[Any]) -> None:
    """Decide nothing."""


def rehearse() -> None:
    """Plays to nobody until Python has settled on how to run the kit: bots forked from here share its memory."""
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
    """Plays the match that this process was started for. Returns when it is over, or the referee hangs up.

    A bot that says `keeps = true` in its bot.toml may be kept for more: `welcome` is called for each.

    Args:
        bot: a `Bot`, or a function from a window to an action.
        view_type: for a function: what its views are decoded into. Left out, its annotation says it
            (`window: Window[MistView]`). A `Bot` has its own.
        on_error: `default` prints what `decide` raises, with the window, and goes on with the default. Left out,
            the `Bot` says it; a function crashes.
        name: the bot's name; left out, bot.toml in the current folder says it, as it does the version.
        version: the bot's version.

    Raises:
        SystemExit: it was not started by a referee, has no name, or its annotations are wrong; the text says what
            to do.
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
    # What is wrong is said before anybody waits for this bot.
    player.view_type, player.event_type = types_of_bot(player, Bot, Window)
    line = WireLine(endpoint)
    hello = Hello(token=token, name=name, version=version, protocol=PROTOCOL)
    with suppress(OSError, ValueError, AttributeError):  # Standard error may be closed, or no file.
        faulthandler.enable()  # If a library crashes, the log says where the bot was.
    try:
        (play_on if os.environ.get("ARENA_KEPT") else play)(player, line, hello, _watch_windows())
    finally:
        line.close()


def _watch_windows() -> Watch | None:
    """Return what watches the windows; None: there is no log, or the bot's author sits at its terminal."""
    with suppress(OSError, ValueError, AttributeError):  # Standard error may be closed, or no file.
        if not (sys.stdin and sys.stdin.isatty()):
            # A bot may close standard error, and its next file or socket would get the number.
            return Watch(os.dup(sys.stderr.fileno()))
    return None


def _seconds_running() -> float:
    """How long this process has been there; where the kernel does not say, its processor time."""
    try:
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()


def _identity(name: str | None, version: str | None) -> tuple[str, str]:
    """Name and version: as given, else from bot.toml."""
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
