"""A person's line at a pseudo-terminal: edited, emptied from outside, and the terminal given back as it was."""

import fcntl
import io
import os
import struct
import sys
import termios
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, suppress

import pytest
import trio

from arena.live import line_editor
from arena.live.line_editor import MOST_CHARACTERS, QUIT, LineEditor
from arena.terminal import say

PATIENCE_SECONDS = 20
UP, LEFT, CTRL_A, CTRL_C, CTRL_D, CTRL_K = "\x1b[A", "\x1b[D", "\x01", "\x03", "\x04", "\x0b"


class Typist:
    """Whoever sits at the other end of the terminal."""

    def __init__(self) -> None:
        self.end, terminal = os.openpty()
        self.terminal = terminal
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.modes = termios.tcgetattr(terminal)
        self.interrupted = trio.Event()
        self.keys = io.TextIOWrapper(io.FileIO(terminal, "r", closefd=False))
        self.screen = io.TextIOWrapper(io.FileIO(terminal, "w", closefd=False))
        self.editor = LineEditor(self.keys, self.screen, interrupt=self._interrupt)
        self.token = trio.lowlevel.current_trio_token()
        self.seen = ""

    def _interrupt(self) -> None:
        self.token.run_sync_soon(self.interrupted.set)

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    async def sees(self, text: str) -> None:
        """Wait until this text has appeared after everything awaited before."""
        while text not in self.seen:
            await trio.lowlevel.wait_readable(self.end)
            self.seen += os.read(self.end, 65_536).decode(errors="replace")
        self.seen = self.seen.partition(text)[2]

    @asynccontextmanager
    async def sits(self) -> AsyncGenerator[AsyncGenerator[str, None], None]:
        """While the editor is open, in window 1."""
        with trio.fail_after(PATIENCE_SECONDS):
            async with self.editor.open(), aclosing(self.editor.lines()) as lines:
                self.editor.show("time > ", 1)
                await self.sees("time >")
                yield lines
        assert self.modes == termios.tcgetattr(self.terminal)


@pytest.fixture
async def typist(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Typist, None]:
    monkeypatch.setenv("TERM", "xterm")
    typist = Typist()
    yield typist
    for fd in (typist.terminal, typist.end):
        with suppress(OSError):
            os.close(fd)


async def test_a_line_is_edited_before_it_is_entered(typist: Typist) -> None:
    async with typist.sits() as lines:
        typist.type(f"3 D7{CTRL_A}C{CTRL_K}3 e5{LEFT}\x7fF\r")
        assert "C3 F5" == await anext(lines)


async def test_earlier_lines_come_back(typist: Typist) -> None:
    async with typist.sits() as lines:
        typist.type("C3\rD7\r")
        assert ["C3", "D7"] == [await anext(lines), await anext(lines)]
        typist.type(f"{UP}{UP}\r")
        assert "C3" == await anext(lines)


async def test_an_unfinished_line_is_removed_when_its_window_ends_and_can_be_recalled(typist: Typist) -> None:
    async with typist.sits() as lines:
        typist.type("C3 D")
        await typist.sees("C3 D")
        typist.editor.empty()
        await typist.sees("the window is over: 'C3 D' was not sent")
        typist.type("E5\r")
        assert "E5" == await anext(lines)
        typist.type(f"{UP}{UP}7\r")
        assert "C3 D7" == await anext(lines)


async def test_while_earlier_lines_are_searched_the_line_is_taken_away_too(typist: Typist) -> None:
    async with typist.sits() as lines:
        typist.type("C3\r\x12C")
        assert "C3" == await anext(lines)
        await typist.sees("search")
        typist.editor.empty()
        typist.editor.print("emptied\n")
        await typist.sees("emptied")
        typist.type("D7\r")
        assert "D7" == await anext(lines)


async def test_a_line_that_was_entered_for_an_earlier_window_is_no_line(typist: Typist) -> None:
    async with typist.sits() as lines:
        typist.editor.show("time > ", 2)
        typist.editor._entered("C3", 1)
        typist.editor._entered("D7", None)
        assert "D7" == await anext(lines)
        await typist.sees("the window was over: 'C3' was not sent")


async def test_printed_text_and_the_clock_do_not_change_the_typed_line(typist: Typist) -> None:
    async with typist.sits() as lines:
        typist.type("C3 ")
        await typist.sees("C3")
        say("seat 1 has left")
        await typist.sees("seat 1 has left")
        typist.editor.show("soon > ", 1)
        await typist.sees("soon")
        typist.type("D7\r")
        assert "C3 D7" == await anext(lines)
    assert not isinstance(sys.stderr, line_editor._Above)


async def test_ctrl_c_empties_the_line_and_then_interrupts(typist: Typist) -> None:
    async with typist.sits() as lines:
        typist.type(f"C3{CTRL_C}D7\r")
        assert "D7" == await anext(lines)
        assert not typist.interrupted.is_set()
        typist.type(CTRL_C)
        await typist.interrupted.wait()


async def test_ctrl_d_leaves_and_what_comes_then_is_still_shown(typist: Typist) -> None:
    async with typist.sits() as lines:
        typist.type(CTRL_D)
        assert QUIT == await anext(lines)
        typist.editor.print("over\n")
        await typist.sees("over")


async def test_tab_completes_words_however_they_are_written(typist: Typist) -> None:
    typist.editor.words = ("Charity", "/help", "nobody")
    async with typist.sits() as lines:
        typist.type("body cH\t\r/he\t\r")
        assert ["body Charity", "/help"] == [await anext(lines), await anext(lines)]


async def test_a_paste_is_one_line_and_not_endless(typist: Typist) -> None:
    async with typist.sits() as lines:
        typist.type("\x1b[200~C3\nD7\r\nE5\x1b[201~")
        await typist.sees("C3 D7 E5")
        typist.type("\r")
        assert "C3 D7 E5" == await anext(lines)
        typist.type(f"\x1b[200~{'x' * 2 * MOST_CHARACTERS}\x1b[201~\r")
        assert "x" * MOST_CHARACTERS == await anext(lines)


async def test_a_resized_terminal_is_drawn_again(typist: Typist) -> None:
    async with typist.sits() as lines:
        typist.type("C3 D")
        await typist.sees("C3 D")
        fcntl.ioctl(typist.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 20, 0, 0))
        typist.editor.show("time > ", 1)
        await typist.sees("C3 D")
        typist.type("7\r")
        assert "C3 D7" == await anext(lines)


async def test_a_blocked_terminal_delays_no_match_and_is_restored(
    typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_editor, "CLOSING_SECONDS", 0.01)
    async with typist.sits():
        for _ in range(100):
            typist.editor.print("x" * 10_000 + "\n")
    typist.editor.print("nobody is there any more")
    # Now it takes all there is; the thread that stood in a write must change nothing.
    with trio.move_on_after(PATIENCE_SECONDS):
        while not typist.editor._loop.is_closed():
            with trio.move_on_after(0.01):
                await typist.sees("no such text")
    assert typist.editor._loop.is_closed()
    assert typist.modes == termios.tcgetattr(typist.terminal)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
async def test_the_terminal_is_given_back_after_a_crash(typist: Typist, error: type[BaseException]) -> None:
    with pytest.RaisesGroup(error, allow_unwrapped=True, flatten_subgroups=True):
        async with typist.editor.open():
            typist.editor.show("time > ", 1)
            with trio.fail_after(PATIENCE_SECONDS):
                await typist.sees("time >")
            assert typist.modes != termios.tcgetattr(typist.terminal)
            raise error
    assert typist.modes == termios.tcgetattr(typist.terminal)


async def test_a_terminal_that_is_hung_up_has_left(typist: Typist) -> None:
    with trio.fail_after(PATIENCE_SECONDS):
        async with typist.editor.open(), aclosing(typist.editor.lines()) as lines:
            typist.editor.show("time > ", 1)
            await typist.sees("time >")
            os.close(typist.end)
            assert QUIT == await anext(lines)
