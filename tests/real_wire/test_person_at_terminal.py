"""A person at a real terminal: a whole match through the command line, in real time."""

import os
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.errors import SIGNALLED
from referee.match.records import WindowTime
from referee.transcript.reader import read_transcript
from tests.long import mostly_slow
from tests.real_wire.processes import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
CLOCK = """\
[clock]
kind = "wall"
reserve_ms = 0

[clock.main_ms]
first = 1500
turn = 1500
"""


class Terminal:
    """A match with a person in seat 0 of Mist, and the person's end of the terminal."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.end, self.terminal = os.openpty()
        self.modes = termios.tcgetattr(self.terminal)
        words = ("match", "mist", "console", "mist_random", "--isolation", "none", "--seed", "3")
        self.arena = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "arena", *words, "--transcripts", str(folder), *options],
            cwd=ROOT,
            env=os.environ | {"TERM": "xterm"},
            stdin=self.terminal,
            stdout=self.terminal,
            stderr=self.terminal,
        )
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    def sees(self, text: str) -> None:
        """Return when this has appeared after all that was waited for before."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while text not in self.seen:
            assert time.monotonic() < give_up, self.seen
            if select.select([self.end], [], [], 0.1)[0]:
                self.seen += os.read(self.end, 65_536).decode(errors="replace")
        self.seen = self.seen.partition(text)[2]

    def exit(self) -> int:
        """How the arena has ended; the terminal is as it was."""
        code = self.arena.wait(PATIENCE_SECONDS)
        assert self.modes == termios.tcgetattr(self.terminal)
        return code


@contextmanager
def sitting(folder: Path, *options: str) -> Iterator[Terminal]:
    terminal = Terminal(folder, *options)
    try:
        yield terminal
    finally:
        terminal.arena.kill()
        terminal.arena.wait()
        os.close(terminal.end)
        os.close(terminal.terminal)


def test_a_line_that_was_not_entered_is_gone_when_time_is_up(tmp_path: Path) -> None:
    clock = tmp_path / "clock.toml"
    clock.write_text(CLOCK)
    options = ("--clock", str(clock), "--options", '{"first": 0, "max_turns": 4}')
    with sitting(tmp_path / "transcripts", *options) as terminal:
        terminal.sees("If you submit nothing,")
        terminal.type("C3 D")
        terminal.sees("'C3 D' was not sent")
        terminal.sees("If you submit nothing,")
        terminal.type("b2!\r")
        terminal.sees("taken: B2")
        terminal.sees("transcript:")
        assert 0 == terminal.exit()
    (transcript,) = (tmp_path / "transcripts").glob("*.jsonl")
    taken = [
        part.taken
        for record in read_transcript(transcript)
        if isinstance(record, WindowTime)
        for part in record.seats
        if part.seat == 0
    ]
    assert [{"cells": ["E5"]}, {"cells": ["B2"]}] == taken


def test_ctrl_c_empties_the_line_and_then_stops_the_match(tmp_path: Path) -> None:
    with sitting(tmp_path, "--options", '{"first": 0}') as terminal:
        terminal.sees("If you submit nothing,")
        terminal.type("C3\x03J9\r")
        terminal.sees("J9 is no cell")
        terminal.type("\x03")
        terminal.sees("stopped; the match so far:")
        assert SIGNALLED + signal.SIGINT == terminal.exit()


@pytest.mark.parametrize("stop", mostly_slow(1, [signal.SIGTERM, signal.SIGHUP]))
def test_a_signal_gives_the_terminal_back(tmp_path: Path, stop: signal.Signals) -> None:
    with sitting(tmp_path) as terminal:
        terminal.sees("If you submit nothing,")
        terminal.type("C3 D")
        terminal.sees("C3 D")
        terminal.arena.send_signal(stop)
        terminal.sees("stopped; the match so far:")
        assert SIGNALLED + stop == terminal.exit()


def test_ctrl_d_leaves_the_match(tmp_path: Path) -> None:
    with sitting(tmp_path, "--options", '{"first": 0, "max_turns": 2}') as terminal:
        terminal.sees("If you submit nothing,")
        terminal.type("\x04")
        terminal.sees("disconnected")
        terminal.sees("transcript:")
        assert 0 == terminal.exit()
