"""The line that a person types at a terminal: edited, with history, while text appears above it.

prompt_toolkit runs in a thread of its own, with asyncio's loop. The referee queues orders for it and receives
lines: a terminal that is slow, or accepts no output at all, blocks only the thread, and no clock.
"""

import asyncio
import io
import os
import re
import signal
import termios
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, redirect_stderr, suppress
from functools import partial
from typing import Any, TextIO

import trio
from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session, in_terminal
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.search import stop_search
from prompt_toolkit.shortcuts import CompleteStyle

QUIT = "/quit"
"""Line that Ctrl-D on an empty line enters, and the loss of the terminal."""
MOST_CHARACTERS = 4_000
"""Longest line, in characters; a longer paste is cut."""
LINES_AHEAD = 100
"""Most lines that may wait to be read; further ones are lost."""
CLOSING_SECONDS = 1.0
"""Seconds for the last output at closing; then only the terminal's modes are restored."""
WORD = re.compile(r"[^\s,;:]+")

Order = Callable[[], Awaitable[None]]


class LineEditor:
    """A terminal's input line. While it is `open`, output to standard error appears above the line."""

    def __init__(self, keys: TextIO, screen: TextIO, *, interrupt: Callable[[], None] | None = None) -> None:
        """Prepare the line.

        `interrupt`: action of Ctrl-C on an empty line; by default the same as without an editor.
        """
        self.words: tuple[str, ...] = ()
        """Words that Tab completes."""
        self._keys = keys
        self._screen = screen
        self._interrupt = interrupt or partial(os.kill, os.getpid(), signal.SIGINT)
        self._window: int | None = None
        """The open window, as the referee knows it; `_shown` is the window of the prompt."""
        self._shown: int | None = None
        self._prompt = ""
        self._orders: asyncio.Queue[Order | None] = asyncio.Queue()
        self._send, self._receive = trio.open_memory_channel[tuple[str, int | None]](LINES_AHEAD)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None, None]:
        """Open the editor on the terminal; restore the terminal's modes in any case."""
        modes = termios.tcgetattr(self._keys)
        self._loop = asyncio.new_event_loop()
        self._fds = os.dup(self._keys.fileno()), os.dup(self._screen.fileno())
        try:
            async with trio.open_nursery() as nursery:
                running = trio.CancelScope(shield=True)
                nursery.start_soon(self._run, running)
                try:
                    with redirect_stderr(_Above(self)):
                        yield
                finally:
                    self._order(None)
                    running.deadline = trio.current_time() + CLOSING_SECONDS
        finally:
            with suppress(termios.error):  # The terminal is gone.
                termios.tcsetattr(self._keys, termios.TCSANOW, modes)

    async def lines(self) -> AsyncGenerator[str, None]:
        """Yield lines as they are entered, except those for a window that is over."""
        async for text, window in self._receive:
            if window is not None and window != self._window and text != QUIT:
                self.print(f"the window was over: {text!r} was not sent\n")
            else:
                yield text

    def show(self, prompt: str, window: int | None) -> None:
        """Show this prompt, for this window."""
        self._window = window
        self._order(partial(self._show, prompt, window))

    def empty(self) -> None:
        """Clear the unfinished line with a notice; it remains in the history."""
        self._order(self._empty)

    def print(self, text: str) -> None:
        """Print above the line."""
        self._order(partial(self._print, text))

    def _order(self, order: Order | None) -> None:
        with suppress(RuntimeError):  # The thread has ended, and its loop is closed.
            self._loop.call_soon_threadsafe(self._orders.put_nowait, order)

    async def _run(self, running: trio.CancelScope) -> None:
        """Run the thread to its end, or until `running` is cancelled."""
        token = trio.lowlevel.current_trio_token()
        with running:
            await trio.to_thread.run_sync(self._thread, token, abandon_on_cancel=True)
        if running.cancelled_caught:
            # The thread is still blocked in a write. Its later output must not reach the terminal any more.
            nothing = os.open(os.devnull, os.O_RDWR)
            for fd in self._fds:
                os.dup2(nothing, fd)
            os.close(nothing)
        else:
            for fd in self._fds:
                os.close(fd)

    # The following methods run in the thread.

    def _thread(self, token: trio.lowlevel.TrioToken) -> None:
        self._token = token
        try:
            keys, screen = self._fds
            with open(keys, closefd=False) as typed, open(screen, "w", closefd=False) as shown:
                self._loop.run_until_complete(self._edit(typed, shown))
        except (OSError, termios.error):
            self._enter(QUIT, None)
        finally:
            self._loop.close()

    def _enter(self, text: str, window: int | None) -> None:
        """Send a line to the referee's thread."""
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._entered, text, window)

    def _entered(self, text: str, window: int | None) -> None:
        """Queue a line; runs in the referee's thread."""
        with suppress(trio.WouldBlock):
            self._send.send_nowait((text, window))

    async def _edit(self, typed: TextIO, shown: TextIO) -> None:
        keys = _RawInput(typed)
        # The cursor's position is not needed for one line, and some terminals never report it.
        screen = Vt100_Output.from_pty(shown, term=os.environ.get("TERM"))
        screen.enable_cpr = False
        self._text = shown
        # Raw mode also applies between two lines, so that Ctrl-C has the same effect there.
        with create_app_session(keys, screen), keys.raw_mode():
            self._session: PromptSession[str] = PromptSession(
                completer=WordCompleter(lambda: list(self.words), ignore_case=True, pattern=WORD),
                complete_while_typing=False,
                complete_style=CompleteStyle.READLINE_LIKE,
                key_bindings=self._bindings(),
            )
            typing = asyncio.ensure_future(self._type())
            obeying = asyncio.ensure_future(self._obey())
            await asyncio.wait([typing, obeying], return_when=asyncio.FIRST_COMPLETED)
            try:
                if typing.done():
                    typing.result()
                await obeying
            finally:
                self._session.app.erase_when_done = True
                for task in (typing, obeying):
                    task.cancel()
                await asyncio.wait([typing, obeying])

    async def _type(self) -> None:
        """Send each line to the referee, until the person leaves or the editor is closed."""
        while True:
            try:
                text = await self._session.prompt_async(lambda: self._prompt, handle_sigint=False)
            except EOFError:
                self._enter(QUIT, None)
                return
            self._enter(text.strip()[:MOST_CHARACTERS], self._shown)

    async def _obey(self) -> None:
        while (order := await self._orders.get()) is not None:
            await order()

    async def _show(self, prompt: str, window: int | None) -> None:
        self._prompt, self._shown = prompt, window
        self._session.app.invalidate()

    async def _empty(self) -> None:
        buffer = self._session.default_buffer
        text = buffer.text.strip()
        if self._session.layout.is_searching:
            stop_search()
        if text:
            buffer.append_to_history()
            await self._print(f"the window is over: {text!r} was not sent (arrow up brings it back)\n")
        buffer.reset()

    async def _print(self, text: str) -> None:
        async with in_terminal():
            self._text.write(text)
            self._text.flush()

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()

        @bindings.add("c-c")
        def interrupt(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.reset()
            else:
                self._interrupt()

        @bindings.add(Keys.BracketedPaste)
        def paste(event: KeyPressEvent) -> None:
            room = MOST_CHARACTERS - len(event.current_buffer.text)
            event.current_buffer.insert_text(" ".join(event.data.split())[: max(0, room)])

        return bindings


class _RawInput(Vt100Input):
    """Input that remains raw while text is printed above the line.

    In cooked mode Ctrl-D would be lost and keys echoed.
    """

    def cooked_mode(self) -> AbstractContextManager[None]:
        return nullcontext()


class _Above(io.TextIOBase):
    """Standard error while the editor is open."""

    def __init__(self, editor: LineEditor) -> None:
        self._editor = editor

    def write(self, text: str) -> int:
        self._editor.print(text)
        return len(text)

    def isatty(self) -> bool:
        return True

    def writelines(self, lines: Iterable[Any]) -> None:
        self.write("".join(lines))
