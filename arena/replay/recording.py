"""A recorded match for display: its steps, actions and boards, and its player at a terminal."""

import os
import re
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, Literal

from msgspec import Struct, field
from rich.live import Live
from rich.text import Text

from arena.live import Eyes, board_text, joined, laid_out, may_know, part_of
from arena.quantities import duration, pluralise
from arena.terminal import Screen
from protocol.codec import Refused as RefusedFrame
from protocol.codec import decode_client_message, encode
from protocol.messages import MAX_NOTE_CHARACTERS, Note
from protocol.text import Remark, drawing_of, say
from protocol.words import Event, View
from referee.display_text import cut
from referee.match import MICROSECONDS_PER_MS, In
from referee.rules import Addressed

MOST_STEPS = 20_000
"""Most steps of a recording.

Each holds the game's state or a seat's view, which mostly shares data with the last.
"""
KINDS_KEPT = 100
"""Most kinds of refusals of one seat in one step that are counted separately."""
KINDS_OF_REFUSALS = 5
"""Most kinds of refusals of one seat in one step that are shown."""
NOTES_KEPT = 20
"""Most notes of one seat in one step that are shown."""
TEXT = 300
"""Longest text that originates from a bot, in characters."""
Refused = dict[tuple[str, str], int]
"""Number of refusals, keyed by reason and text as sent to the bot."""


FactKind = Literal["taken", "default", "refused", "late", "verdict", "gone", "pause", "note", "end"]


class Fact(Struct):
    """An occurrence in a step, as text."""

    text: str
    seat: int | None
    """The only seat that may know the fact, apart from the host; None: everyone may."""
    kind: FactKind
    fault: Remark | None = None
    """Fault of the seat's bot, for viewers who may see all; None if there is no new fault."""
    action: str = ""
    """Action of the seat, in the notation that a person types; "" if the fact is no action."""


class ClockReading(Struct, frozen=True):
    """One seat's time in a closed window, in milliseconds."""

    seat: int
    main_ms: int
    """Main time of the window."""
    used_ms: float
    reserve_ms: int
    """Reserve left for the match."""


class Step(Struct):
    """Events up to the closing of a window, or to an answer within it."""

    title: str
    turn: int | None
    """The turn or round that follows, where the game has such."""
    view: Callable[[Eyes], View]
    """Returns the board after the step for a viewpoint. Raises ValueError if it is not a board of the game."""
    told: tuple[Addressed, ...] = ()
    facts: list[Fact] = field(default_factory=list)
    clocks: list[ClockReading] = field(default_factory=list)
    """Clocks of the seats of the window that closed. A seat knows its own, the host all."""
    remarks: list[Remark] = field(default_factory=list)
    """The game's commentary, for those who may see all; empty in one seat's own file."""
    scores: list[int] = field(default_factory=list)
    """Score after the step, by seat, for those who may see all; empty if the game has no commentary."""

    @property
    def faults(self) -> list[Remark]:
        """Faults of bots in this step, for those who may see all."""
        return [fact.fault for fact in self.facts if fact.fault is not None]


class PublicTerms(Struct, frozen=True, kw_only=True):
    """Public terms of a match, agreed before it."""

    match: str
    variant: str
    seats: int
    reserve_ms: int
    """Reserve of each seat at the start."""


class Recording(Struct):
    """A whole match, or one seat's knowledge of it."""

    game: str
    names: Sequence[str]
    """Printable names, no two alike; indexed by seat. One seat's own file has only that seat's."""
    steps: list[Step]
    own: int | None
    """Seat that owns the file; None for a whole match."""
    terms: PublicTerms
    ranking: Sequence[Sequence[int]] = ()
    """Groups of seats, best first, with ties in one group; empty if unknown."""
    manifests: Sequence[str] = ()
    """Printable `BotIdentity.manifest_text`; indexed by seat."""

    def lines(self, number: int, eyes: Eyes) -> Iterator[str]:
        """Yield the texts of a step, counted from 0, that this viewpoint may know: for the host remarks first."""
        step = self.steps[number]
        place = f"step {number + 1} of {len(self.steps)}"
        remarks = [*step.faults, *step.remarks] if eyes == "host" else []
        if remarks:
            yield place
            yield from (remark.text for remark in remarks)
            yield step.title
        else:
            yield f"{place}: {step.title}"
        for fact in step.facts:
            if may_know(eyes, fact.seat):
                yield fact.text
        for told in self.seen(number, eyes):
            words = drawing_of(self.game).words(told.event)
            yield words if told.seat is None else f"to {seat_text(told.seat, self.names)}: {words}"

    def board(self, number: int, eyes: Eyes, *, plain: bool) -> Text:
        """Return the board after a step."""
        so_far: list[Event] = []
        events: list[Event] = []
        for at in range(number + 1):
            events = [told.event for told in self.seen(at, eyes)]
            so_far += events
        try:
            return board_text(self.game, self.steps[number].view(eyes), events, plain=plain, told=so_far)
        except Exception as error:
            if self.own is None:
                raise
            # The rules do not prove one seat's own file, so a view may be an impossible board.
            return Text(f"what is shown here is not a board of {self.game}: {error}"[:TEXT])

    def seen(self, number: int, eyes: Eyes) -> list[Addressed]:
        """Return the events of a step that this viewpoint may know."""
        return [told for told in self.steps[number].told if may_know(eyes, told.seat)]

    def step_of_turn(self, turn: int) -> int:
        """Return the first step whose turn is `turn` or later; in a game without turns, step number `turn`."""
        turns = {at: step.turn for at, step in enumerate(self.steps) if step.turn is not None}
        if not turns:
            return max(0, min(turn, len(self.steps)) - 1)
        return next((at for at, its in turns.items() if its >= turn), len(self.steps) - 1)


def turn_of(view: Any) -> int | None:
    """Return the turn or round of a view, if it has one."""
    turn = getattr(view, "turn", getattr(view, "round", None))
    return turn if isinstance(turn, int) else None


def seat_text(number: int, names: Sequence[str]) -> str:
    """Return a seat with its bot's name, if that is known."""
    if number < len(names) and names[number]:
        return f"seat {number} ({names[number]})"
    return f"seat {number}"


def note_of(record: In) -> str | None:
    """Return a note's text, or None if the frame is no note."""
    if record.cut or '"note"' not in record.frame:
        return None
    with suppress(RefusedFrame):
        message = decode_client_message(record.raw())
        if isinstance(message, Note):
            return message.text[:MAX_NOTE_CHARACTERS]
    return None


def taken_text(game: str, taken: Any) -> str:
    """Return an action in the notation that a person would type."""
    if taken is None:
        return "nothing"
    try:
        said = say(game, taken)
    except Exception:  # noqa: BLE001 - one seat's own file may say anything
        said = encode(taken).decode()
    return cut(said, TEXT)


def took_text(microseconds: int) -> str:
    """Return the time used, in the precision of its measurement."""
    return duration(microseconds) if microseconds >= MICROSECONDS_PER_MS else "less than 1 ms"


def default_text(*, withdrawn: bool, in_time: bool) -> str:
    """Return why a connected bot played the default. `in_time`: before its time was up."""
    if in_time:
        return "the bot asked for it"
    return "it withdrew what it had submitted" if withdrawn else "no answer in time"


def refusal_facts(seat: int, who: str, refused: Refused, untold: int = 0) -> Iterator[Fact]:
    """Yield texts for a seat's refused messages, the most frequent first.

    `untold`: number of further refused messages that were not answered.
    """
    ordered = sorted(refused.items(), key=lambda item: -item[1])
    for (reason, text), times in ordered[:KINDS_OF_REFUSALS]:
        often = f" ({times:,} times)" * (times > 1)
        yield Fact(f"{who}: refused ({reason}): {text}{often}", seat, "refused")
    more = untold + sum(times for _, times in ordered[KINDS_OF_REFUSALS:])
    if more:
        yield Fact(f"{who}: {pluralise(more, 'more message')} refused", seat, "refused")


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


class ReplayCursor:
    """Position in a recorded match, and the effects of keys."""

    def __init__(self, recording: Recording, eyes: Eyes) -> None:
        self.at = 0
        """Index of the step, from 0."""
        self.playing = False
        self.speed = USUAL
        self.over = False
        """True if the person has left."""
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
                if "up" in act:
                    by = -by
                self._scroll = max(0, self._scroll + by)
            case "play":
                self.playing = not self.playing
                if self.at == self._last:
                    self.at = 0
            case "faster":
                self.speed = min(len(SECONDS) - 1, self.speed + 1)
            case "slower":
                self.speed = max(0, self.speed - 1)
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
            body = list(map(Text, HELP.split("\n")))
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
        keys = "n next  p back  g turn  a play"
        if self.playing:
            keys = f"playing, {self.seconds:g} s a step  + - speed"
        status = f"{self.at + 1}/{self._last + 1}  {keys}  ? help  q quit"
        return f"{status}  j more below" if more else status

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
    player = ReplayCursor(recording, eyes)
    with _keys_at_once(sys.stdin.fileno()), Live(console=screen, screen=True, auto_refresh=False) as live:
        due = monotonic() + player.seconds
        size = None
        while not player.over:
            if size is None or screen.size != size:
                size = screen.size
                live.update(joined(player.lines(screen, *size)), refresh=True)
            wait = LOOK_SECONDS
            if player.playing:
                wait = min(wait, max(0.0, due - monotonic()))
            keys = _pressed(sys.stdin.fileno(), wait)
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
