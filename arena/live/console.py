"""Seats in the referee's process: of a person at the terminal (`console`), and of a language model (`chat`).

`human` interprets the typed lines; this module reads them without blocking the referee, and shows the clock. At a
terminal they are typed in `line_editor`.
"""

import os
import sys
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import TYPE_CHECKING, assert_never

import trio

from arena.live.human import Person, Shown
from arena.terminal import Screen, progress_console, say
from protocol.codec import decode_server_message, encode
from protocol.messages import (
    PROTOCOL,
    Accepted,
    ClientMessage,
    Closed,
    EventMessage,
    Faulted,
    Hello,
    Invited,
    Opened,
    Over,
    Paused,
    Rejected,
    Resumed,
    ServerMessage,
    Welcome,
)
from referee.bot_folder import CONSOLE
from referee.wire import MemoryLine

if TYPE_CHECKING:
    from arena.live.line_editor import LineEditor
    from bots.language_model.settings import Settings

OUR_INPUT = 0
"""The file descriptor of standard input."""
NO_CURSOR = ("dumb", "unknown")
"""Values of TERM without line editing: each submission is final, as from a pipe."""
READ_BYTES = 4096
LAST_WORDS_SECONDS = 0.2
"""Seconds for reading the last messages of a seat that is being cancelled; they have arrived already."""
MOST_CHARACTERS = 4_000
"""Longest line that is accepted, in characters; no action has a tenth of that."""
WAITING = "waiting"
"""Text in place of the clock while no window is open."""
MINUTE, HOUR = 60, 3600
NARROWEST = 12
"""Minimum width of the time left in columns, enough for `reserve 4:10`."""


async def lines_typed(fd: int) -> AsyncGenerator[str, None]:
    """Yield lines from a file descriptor until its end, without a thread that could not be stopped."""
    rest = b""
    while True:
        try:
            await trio.lowlevel.wait_readable(fd)
        except PermissionError:
            # The kernel does not wait for a plain file, which is always ready.
            await trio.lowlevel.checkpoint()
        read = os.read(fd, READ_BYTES)
        *lines, rest = (rest + read).split(b"\n")
        if not read:
            lines.append(rest)
        for line in lines:
            yield line.decode(errors="replace").strip()
        if not read:
            return


def console_seat() -> "Console":
    """Return the seat of the person at this terminal; without a terminal, of the lines on standard input."""
    keys, screen = sys.stdin, sys.stderr
    if not (keys and screen and keys.isatty() and screen.isatty()) or os.environ.get("TERM", "dumb") in NO_CURSOR:
        return Console(lines_typed(OUR_INPUT), progress_console(), final=True)
    # Imported here because prompt_toolkit takes a tenth of a second, which other matches do not need.
    from arena.live.line_editor import LineEditor  # noqa: PLC0415

    return Console(LineEditor(keys, screen), progress_console())


class Console:
    """One person's seat in one match."""

    def __init__(
        self, typed: "AsyncGenerator[str, None] | LineEditor", terminal: Screen, *, final: bool = False
    ) -> None:
        """Connect the seat to its input and output.

        Args:
            typed: the lines, or the editor in which they are typed.
            terminal: the place for all output.
            final: whether the input is a file or a pipe. Each submission is then final and waits for its
            window.
        """
        self._editor: LineEditor | None = None
        if isinstance(typed, AsyncGenerator):
            self._typed = typed
        else:
            self._editor, self._typed = typed, typed.lines()
        self._terminal = terminal
        self._final = final
        self._person = Person(final=final, plain=not terminal.is_terminal)
        self._kept: deque[str] = deque()
        """Actions typed before their window was open."""
        self._time: TimeLeft | None = None
        self._window: int | None = None
        self._typing_ended = False

    async def play(self, line: MemoryLine) -> None:
        """Play the seat at the other end of a line. Return when the match is over or the person leaves."""
        async with AsyncExitStack() as stack:
            if self._editor is not None:
                await stack.enter_async_context(self._editor.open())
            await self._play(line)

    async def _play(self, line: MemoryLine) -> None:
        line.say(encode(Hello(token="", name=CONSOLE, version="1", protocol=PROTOCOL)))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._type, line, nursery.cancel_scope)
            if self._editor is not None:
                nursery.start_soon(self._tick, self._editor)
            try:
                await self._hear(line)
            except trio.Cancelled:
                # The match is over, and its end has been sent: show it before the seat is cancelled.
                with trio.move_on_after(LAST_WORDS_SECONDS, shield=True):
                    await self._hear(line)
                raise
            nursery.cancel_scope.cancel()

    async def _hear(self, line: MemoryLine) -> None:
        """Show messages until the match is over or the line is closed."""
        while not self._person.over:
            try:
                frame = await line.hear()
            except trio.EndOfChannel:
                return
            message = decode_server_message(frame)
            self._keep_time(message)
            shown = self._person.hear(message)
            if self._editor is not None:
                self._edit(self._editor, message)
            self._show(shown)
            self._go_on(line)
            if self._typing_ended and self._person.ready:
                return

    async def _type(self, line: MemoryLine, leaving: trio.CancelScope) -> None:
        """Process typed lines."""
        async with aclosing(self._typed) as typed:
            async for text in typed:
                word = ""
                if text.startswith("/"):
                    word = text.split(maxsplit=1)[0].lower()
                if word == "/quit":
                    break
                if len(text) > MOST_CHARACTERS:
                    self._show([f"a line of {len(text)} characters; {MOST_CHARACTERS} are read"])
                elif word == "/undo" and self._kept:
                    self._show([f"dropped: {'; '.join(self._kept)}"])
                    self._kept.clear()
                elif word and word != "/submit":
                    self._do(line, self._person.command(text))
                elif text or (not self._final and self._person.ready):
                    self._keep(text[len(word) :].strip())
                    self._go_on(line)
            else:
                self._typing_ended = True
                if self._kept or not self._person.ready:
                    return
        leaving.cancel()

    def _keep(self, text: str) -> None:
        """Queue an action until it may be submitted, which is usually at once."""
        self._kept.append(text)
        if self._editor is not None and not self._person.asked:
            self._show([f"kept for your next window: {text}; /undo drops it"])

    def _go_on(self, line: MemoryLine) -> None:
        """Submit queued actions, one each time the person may act."""
        while self._kept and self._person.ready:
            self._do(line, self._person.act(self._kept.popleft()))

    def _do(self, line: MemoryLine, done: tuple[list[ClientMessage], list[Shown]]) -> None:
        messages, shown = done
        for message in messages:
            line.say(encode(message))
        self._show(shown)

    def _keep_time(self, message: ServerMessage) -> None:
        """Update the clock from a message."""
        now = trio.current_time()
        match message:
            case Opened(id=window, main_ms=main_ms, reserve_ms=reserve_ms):
                self._window = window
                self._time = TimeLeft(now, main_ms, reserve_ms)
            case Closed():
                self._window = self._time = None
            case Paused() if self._time is not None:
                self._time.pause(now)
            case Resumed() if self._time is not None:
                self._time.resume(now)
            case (
                Invited()
                | Welcome()
                | EventMessage()
                | Accepted()
                | Rejected()
                | Paused()
                | Resumed()
                | Over()
                | Faulted()
            ):
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def _edit(self, editor: "LineEditor", message: ServerMessage) -> None:
        """Update the line after a message. Text typed for one window must not be submitted to another."""
        if isinstance(message, Closed):
            editor.empty()
        editor.words = self._person.words()
        editor.show(self._prompt(), self._window)

    def _show(self, shown: Iterable[Shown]) -> None:
        for text in shown:
            # Only text is wrapped at a terminal; boards are drawn unchanged.
            wraps = self._terminal.is_terminal and isinstance(text, str)
            self._terminal.print(text, highlight=False, soft_wrap=not wraps, markup=False)

    async def _tick(self, editor: "LineEditor") -> None:
        """Refresh the clock in the prompt once a second."""
        while True:
            editor.show(self._prompt(), self._window)
            await trio.sleep(1)

    def _prompt(self) -> str:
        """Return the prompt with the time left. Its width is constant, so that typed text does not move."""
        if self._time is None:
            return f"[{WAITING:^12}] > "
        return f"[{self._time.text(trio.current_time()):^{self._time.width}}] > "


class TimeLeft:
    """A person's main time and reserve in one window, for display only: the referee's clock decides.

    All times are seconds on the same clock, which may be any.
    """

    def __init__(self, now: float, main_ms: int, reserve_ms: int) -> None:
        self._main = main_ms / 1000
        self._reserve = reserve_ms / 1000
        self._since: float | None = now
        self._used = 0.0
        self.width = max(len(self.text(now)), len(f"reserve {clock_text(self._reserve)}"), NARROWEST)
        """Columns of the longest possible text, so that a prompt behind it does not move."""

    def pause(self, now: float) -> None:
        """Stop the clock."""
        if self._since is not None:
            self._used += now - self._since
            self._since = None

    def resume(self, now: float) -> None:
        """Start the clock again."""
        if self._since is None:
            self._since = now

    def text(self, now: float) -> str:
        """Return the time left as `0:42`, as `0:42 +5:00` with a reserve, or as `reserve 4:10` within it."""
        main = self._main - self._used
        if self._since is not None:
            main -= now - self._since
        if not self._reserve:
            return clock_text(main)
        if main <= 0:
            return f"reserve {clock_text(self._reserve + main)}"
        return f"{clock_text(main)} +{clock_text(self._reserve)}"


def clock_text(seconds: float) -> str:
    """Return whole seconds as `4:10`; from an hour on as `23:59:57`."""
    whole = max(0, int(seconds))
    if whole < HOUR:
        return f"{whole // MINUTE}:{whole % MINUTE:02}"
    return f"{whole // HOUR}:{whole % HOUR // MINUTE:02}:{whole % MINUTE:02}"


FULL_SECONDS = 0.01
"""Seconds until the next attempt to send, when the referee's queue for the seat is full."""


class LanguageModelSeat:
    """A language model's seat in one match: `arena match GAME chat BOT`, with the endpoint in CHAT_URL.

    In the sandbox a bot has no network and none of our variables. The sample bot `chat` belongs to the project, so
    it may play here, as a person at the terminal may. It plays in a thread, because it waits for its endpoint.
    """

    def __init__(self, name: str, settings: "Settings") -> None:
        # Imported here because its HTTP client takes as long to import as all of trio, and few matches need it.
        from bots.language_model.player import ChatSeat  # noqa: PLC0415

        self._name = name
        self._seat = ChatSeat(settings)

    @property
    def actions(self) -> int:
        """Number of the model's answers that held an action."""
        return self._seat.actions

    async def play(self, line: MemoryLine) -> None:
        """Play the seat at the other end of a line. Return when the match is over, or the seat cannot continue."""
        from bots.kit import error_text  # noqa: PLC0415 - see `__init__`

        try:
            await trio.to_thread.run_sync(partial(self._play, line), abandon_on_cancel=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this seat's alone
            say(f"{self._name}: {error_text(error)}")

    def _play(self, line: MemoryLine) -> None:
        from bots.kit import play  # noqa: PLC0415 - see `__init__`

        hello = Hello(token="", name=self._name, version="1", protocol=PROTOCOL)
        play(self._seat, _LineOfThread(line), hello)


class _LineOfThread:
    """The bot's end of a line, for use in a thread."""

    def __init__(self, line: MemoryLine) -> None:
        self._line = line

    def send(self, frame: bytes) -> None:
        """Send one frame."""
        trio.from_thread.run(self._send, frame)

    def receive(self) -> bytes | None:
        """Wait for the next frame, and return it; return None once the referee has disconnected."""
        try:
            return trio.from_thread.run(self._line.hear)
        except trio.EndOfChannel:
            return None

    async def _send(self, frame: bytes) -> None:
        while True:
            try:
                self._line.say(frame)
            except trio.WouldBlock:
                await trio.sleep(FULL_SECONDS)
            else:
                return
