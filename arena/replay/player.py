"""Shows a recorded match at a terminal, forward and back, by keys."""

import os
import re
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from rich.live import Live
from rich.text import Text

from arena.live import Eyes, joined, laid_out, part_of
from arena.replay.recording import Recording
from arena.terminal import Screen

SECONDS = (8.0, 4.0, 2.0, 1.0, 0.5, 0.25, 0.1, 0.05)
"""Seconds that autoplay shows a step, for each of its speeds, the slowest first."""
USUAL = 3
LOOK_SECONDS = 0.5
"""Seconds between checks of the terminal's size."""
READ_BYTES = 1024
DIGITS = 9
"""Most digits of a typed turn."""
HELP = """\
n  space  Enter  →    the next step
p  Backspace  ←       the step before
g 12 Enter            to turn 12
Home  End             to the first step, to the last
a                     play by itself, and stop
+  -                  faster, slower
k j  ↑ ↓  PgUp PgDn   scroll
?                     this help
q                     leave"""
KEYS = {
    "n": "next", " ": "next", "\n": "next", "\r": "next", "\x1b[C": "next", "\x1bOC": "next",
    "p": "back", "\x7f": "back", "\b": "back", "\x1b[D": "back", "\x1bOD": "back",
    "\x1b[H": "first", "\x1bOH": "first", "\x1b[1~": "first",
    "\x1b[F": "last", "\x1bOF": "last", "\x1b[4~": "last",
    "k": "up", "\x1b[A": "up", "\x1bOA": "up", "\x1b[5~": "page up",
    "j": "down", "\x1b[B": "down", "\x1bOB": "down", "\x1b[6~": "page down",
    "a": "play", "+": "faster", "=": "faster", "-": "slower", "g": "go", "?": "help", "q": "quit",
}  # fmt: skip
"""Terminal input to command. All other keys do nothing."""
_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])|.", re.DOTALL)


class Player:
    """Position in a recorded match, and the effects of keys."""

    def __init__(self, recording: Recording, eyes: Eyes) -> None:
        self.at = 0
        """Index of the step, from 0."""
        self.playing = False
        self.speed = USUAL
        self.over = False
        """Whether the person has left."""
        self._recording = recording
        self._eyes = eyes
        self._scroll = 0
        self._page = 1
        self._typed: str | None = None
        """The turn that is being typed."""
        self._helps = False

    @property
    def seconds(self) -> float:
        """Seconds that autoplay shows a step at the current speed."""
        return SECONDS[self.speed]

    def press(self, key: str) -> None:  # noqa: C901, PLR0912 - one case a meaning
        """Execute a key's command."""
        if self._typed is not None and self._type(key):
            return
        self._typed = None
        act = KEYS.get(key)
        self._helps = act == "help" and not self._helps
        match act:
            case "next" if self.playing and key == " ":
                self.playing = False
            case "next":
                self._go(self.at + 1)
            case "back":
                self._go(self.at - 1)
            case "first":
                self._go(0)
            case "last":
                self._go(self._last)
            case "up" | "down" | "page up" | "page down":
                by = self._page if "page" in act else 1
                self._scroll = max(0, self._scroll + (by if "down" in act else -by))
            case "play":
                self.playing = not self.playing
                if self.at == self._last:
                    self.at = 0
            case "faster" | "slower":
                step = 1 if act == "faster" else -1
                self.speed = max(0, min(len(SECONDS) - 1, self.speed + step))
            case "go":
                self._typed, self.playing = "", False
            case "quit":
                self.over = True
            case _:
                pass

    def play_on(self) -> None:
        """Show the next step in autoplay; stop at the end."""
        self._show(self.at + 1)
        self.playing = self.at < self._last

    def lines(self, screen: Screen, width: int, height: int) -> list[Text]:
        """Return the terminal's lines; the last one shows the position and the keys."""
        if self._helps:
            body = [Text(line) for line in HELP.split("\n")]
        else:
            board = self._recording.board(self.at, self._eyes, plain=False)
            body = laid_out(screen, board, list(self._recording.lines(self.at, self._eyes)), width=width)
        self._page = max(1, height - 2)
        shown, self._scroll = part_of(body, scroll=self._scroll, width=width, height=height - 1)
        shown += [Text() for _ in range(height - 1 - len(shown))]
        status = Text(self._status(more=len(body) - height + 1 > self._scroll), style="reverse")
        status.truncate(width, pad=True)
        return [*shown, status]

    def _status(self, *, more: bool) -> str:
        if self._typed is not None:
            return f"to turn: {self._typed}"
        playing = (
            f"playing, {self.seconds:g} s a step  + - speed" if self.playing else "n next  p back  g turn  a play"
        )
        below = "  j more below" if more else ""
        return f"{self.at + 1}/{self._last + 1}  {playing}  ? help  q quit{below}"

    def _type(self, key: str) -> bool:
        """Handle a key while a turn is typed. Return whether it was part of that."""
        typed = self._typed or ""
        if key.isascii() and key.isdecimal():
            self._typed = (typed + key)[:DIGITS]
        elif key in ("\x7f", "\b"):
            self._typed = typed[:-1]
        elif key in ("\r", "\n") and typed:
            self._typed = None
            self._go(self._recording.step_of_turn(int(typed)))
        elif key != " ":
            self._typed = None
            return key in ("\x1b", "\r", "\n")
        return True

    @property
    def _last(self) -> int:
        return len(self._recording.steps) - 1

    def _go(self, to: int) -> None:
        self.playing = False
        self._show(to)

    def _show(self, to: int) -> None:
        self.at = max(0, min(self._last, to))
        self._scroll = 0


def play_back(recording: Recording, eyes: Eyes, screen: Screen) -> None:
    """Show the steps in a screen of their own until the person leaves."""
    player = Player(recording, eyes)
    with _keys_at_once(sys.stdin.fileno()), Live(console=screen, screen=True, auto_refresh=False) as live:
        due = monotonic() + player.seconds
        size = None
        while not player.over:
            if size is None or screen.size != size:
                size = screen.size
                live.update(joined(player.lines(screen, *size)), refresh=True)
            wait = max(0.0, due - monotonic()) if player.playing else LOOK_SECONDS
            keys = _pressed(sys.stdin.fileno(), min(wait, LOOK_SECONDS))
            if keys is None:
                return
            was = player.playing, player.speed
            for key in keys:
                player.press(key)
            if (player.playing, player.speed) != was:
                due = monotonic() + player.seconds
            elif player.playing and monotonic() >= due:
                player.play_on()
                due = monotonic() + player.seconds
            elif not keys:
                continue
            size = None


def _pressed(fd: int, seconds: float) -> Sequence[str] | None:
    """Return the keys pressed within a time in seconds, or None at the end of input."""
    if not select.select([fd], [], [], seconds)[0]:
        return ()
    read = os.read(fd, READ_BYTES)
    return _KEY.findall(read.decode(errors="replace")) if read else None


@contextmanager
def _keys_at_once(fd: int) -> Iterator[None]:
    """Read keys when they are pressed, without echo; Ctrl-C still works."""
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
