"""The bot named `console`: a seat for a person at the terminal.

Lines that are typed go to `human`, which knows what they mean; this reads them without holding up the referee, in
whose process it runs, and shows the clock.
"""

import os
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING

import trio

from arena.config import CONSOLE
from arena.live.human import Person, Shown
from arena.live.time_left import TimeLeft
from protocol.codec import decode_server_message, encode
from protocol.messages import PROTOCOL, ClientMessage, Closed, Hello, Opened, Paused, Resumed, ServerMessage
from referee.wire import MemoryLine

if TYPE_CHECKING:
    from arena.terminal import Screen

READ_BYTES = 4096
LAST_WORDS_SECONDS = 0.2
"""How long a seat that is being cleared may go on reading; what was sent to it is there already."""
CLEAR_LINE = "\r\N{ESCAPE}[K"
SAVE_CURSOR, RESTORE_CURSOR = "\N{ESCAPE}7", "\N{ESCAPE}8"


async def lines_typed(fd: int) -> AsyncGenerator[str, None]:
    """Lines from a file descriptor, without a thread that could not be stopped; ends at its end."""
    rest = b""
    while True:
        try:
            await trio.lowlevel.wait_readable(fd)
        except PermissionError:
            # A plain file: the kernel will not wait for it, for it is always ready.
            await trio.lowlevel.checkpoint()
        read = os.read(fd, READ_BYTES)
        *lines, rest = (rest + read).split(b"\n")
        for line in [*lines, rest] if not read else lines:
            yield line.decode(errors="replace").strip()
        if not read:
            return


class Console:
    """One person's seat in one match."""

    def __init__(self, typed: AsyncGenerator[str, None], terminal: "Screen") -> None:
        """`typed`: the lines; `terminal`: where to show things.

        At a terminal a submission can be replaced, and the clock is shown live. Where lines come from a file or a
        pipe, each submission stands at once, and each waits for its window.
        """
        self._typed = typed
        self._terminal = terminal
        self._live = terminal.is_terminal
        self._person = Person(final=not self._live, plain=not self._live)
        self._kept: deque[str] = deque()
        """Actions typed before their window was open."""
        self._time: TimeLeft | None = None
        self._typing_ended = False

    async def play(self, line: MemoryLine) -> None:
        """Plays the seat at the other end of a line; returns when the match is over or the person leaves."""
        line.say(encode(Hello(token="", name=CONSOLE, version="1", protocol=PROTOCOL)))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._type, line, nursery.cancel_scope)
            if self._live:
                nursery.start_soon(self._tick)
            try:
                await self._hear(line)
            except trio.Cancelled:
                # The match is over, and its end has been sent: it is to be seen before the seat is cleared.
                with trio.move_on_after(LAST_WORDS_SECONDS, shield=True):
                    await self._hear(line)
                raise
            nursery.cancel_scope.cancel()

    async def _hear(self, line: MemoryLine) -> None:
        """Shows what comes, until nothing more does."""
        while not self._person.over:
            try:
                frame = await line.hear()
            except trio.EndOfChannel:
                return
            message = decode_server_message(frame)
            self._keep_time(message)
            self._show(self._person.hear(message))
            self._go_on(line)
            if self._typing_ended and self._person.ready:
                return

    async def _type(self, line: MemoryLine, leaving: trio.CancelScope) -> None:
        """Passes on what is typed."""
        async with aclosing(self._typed) as typed:
            async for text in typed:
                if text == "/quit":
                    break
                if text.startswith("/") and not text.startswith("/submit"):
                    self._do(line, self._person.command(text))
                elif text or (self._live and self._person.ready):
                    self._kept.append(text.removeprefix("/submit").strip())
                    self._go_on(line)
            else:
                self._typing_ended = True
                if self._kept or not self._person.ready:
                    return
        leaving.cancel()

    def _go_on(self, line: MemoryLine) -> None:
        """Submits what was typed ahead, one action for each time the person may act."""
        while self._kept and self._person.ready:
            self._do(line, self._person.act(self._kept.popleft()))

    def _do(self, line: MemoryLine, done: tuple[list[ClientMessage], list[Shown]]) -> None:
        messages, shown = done
        for message in messages:
            line.say(encode(message))
        self._show(shown)

    def _keep_time(self, message: ServerMessage) -> None:
        """Follows the clock."""
        now = trio.current_time()
        match message:
            case Opened(main_ms=main_ms, reserve_ms=reserve_ms):
                self._time = TimeLeft(now, main_ms, reserve_ms)
            case Closed():
                self._time = None
            case Paused() if self._time is not None:
                self._time.pause(now)
            case Resumed() if self._time is not None:
                self._time.resume(now)
            case _:
                pass

    def _show(self, shown: Iterable[Shown]) -> None:
        if self._live:
            self._terminal.file.write(CLEAR_LINE)
        for text in shown:
            self._terminal.print(text, highlight=False, soft_wrap=True, markup=False)
        if self._live and self._time is not None:
            self._terminal.print(f"{self._clock()} > ", end="", highlight=False, markup=False)

    async def _tick(self) -> None:
        """Rewrites the clock at the start of the prompt's line, and leaves what is being typed alone."""
        while True:
            await trio.sleep(1)
            if self._time is not None:
                self._terminal.file.write(f"{SAVE_CURSOR}\r{self._clock()}{RESTORE_CURSOR}")
                self._terminal.file.flush()

    def _clock(self) -> str:
        """The time left, always as wide: the prompt must not move under what is typed."""
        left = "" if self._time is None else self._time.text(trio.current_time())
        return f"[{left:^12}]"
