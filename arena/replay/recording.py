"""A recorded match for display: its steps, the actions in each, and the board after it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct, field
from rich.text import Text

from arena.live import Eyes, board_text
from arena.quantities import duration, pluralise
from protocol.codec import Refused as RefusedFrame
from protocol.codec import decode_client_message, encode
from protocol.messages import MAX_NOTE_CHARACTERS, Note
from protocol.text import drawing_of, say
from protocol.words import Event, View
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
"""Reason and text of a refusal, as sent to the bot, to its frequency."""


FactKind = Literal["taken", "default", "refused", "late", "verdict", "gone", "pause", "note", "end"]


class Fact(Struct):
    """An occurrence in a step, as text."""

    text: str
    seat: int | None
    """The only seat that may know it, apart from the host; None: everyone may."""
    kind: FactKind


class SeatClock(Struct, frozen=True):
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
    clocks: list[SeatClock] = field(default_factory=list)
    """Clocks of the seats of the window that closed. A seat knows its own, the host all."""


class Terms(Struct, frozen=True, kw_only=True):
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
    """Printable names; indexed by seat. One seat's own file has only that seat's."""
    steps: list[Step]
    own: int | None
    """Seat that owns the file; None for a whole match."""
    terms: Terms
    ranking: Sequence[Sequence[int]] = ()
    """Groups of seats, best first, with ties in one group; empty if unknown."""
    manifests: Sequence[str] = ()
    """Printable `BotIdentity.manifest_text`; indexed by seat."""

    def lines(self, number: int, eyes: Eyes) -> Iterator[str]:
        """Yield the texts of a step, counted from 0, that this viewpoint may know."""
        step = self.steps[number]
        yield f"step {number + 1} of {len(self.steps)}: {step.title}"
        for fact in step.facts:
            if fact.seat is None or eyes in (fact.seat, "host"):
                yield fact.text
        for told in self.seen(number, eyes):
            to = "" if told.seat is None else f"to {self.seat(told.seat)}: "
            yield f"{to}{drawing_of(self.game).words(told.event)}"

    def board(self, number: int, eyes: Eyes, *, plain: bool) -> Text:
        """Return the board after a step."""
        events: list[Event] = [told.event for told in self.seen(number, eyes)]
        so_far = [told.event for at in range(number + 1) for told in self.seen(at, eyes)]
        try:
            return board_text(self.game, self.steps[number].view(eyes), events, plain=plain, told=so_far)
        except Exception as error:
            if self.own is None:
                raise
            # The rules do not prove one seat's own file, so a view may be an impossible board.
            return Text(f"what is shown here is not a board of {self.game}: {error}"[:TEXT])

    def seen(self, number: int, eyes: Eyes) -> list[Addressed]:
        """Return the events of a step that this viewpoint may know."""
        return [told for told in self.steps[number].told if told.seat is None or eyes in (told.seat, "host")]

    def seat(self, number: int) -> str:
        """Return a seat with its bot's name."""
        return seat_text(number, self.names)

    def step_of_turn(self, turn: int) -> int:
        """Return the first step whose turn is `turn` or later; in a game without turns, step number `turn`."""
        turns = [step.turn for step in self.steps]
        if all(each is None for each in turns):
            return max(0, min(turn, len(turns)) - 1)
        return next((at for at, each in enumerate(turns) if each is not None and each >= turn), len(turns) - 1)


def turn_of(view: Any) -> int | None:
    """Return the turn or round of a view, if it has one."""
    turn = getattr(view, "turn", getattr(view, "round", None))
    return turn if isinstance(turn, int) else None


def seat_text(number: int, names: Sequence[str]) -> str:
    """Return a seat with its bot's name, if that is known."""
    return f"seat {number} ({names[number]})" if number < len(names) and names[number] else f"seat {number}"


def note_of(record: In) -> str | None:
    """Return a note's text, or None if the frame is no note."""
    if record.cut or '"note"' not in record.frame:
        return None
    try:
        message = decode_client_message(record.raw())
    except RefusedFrame:
        return None
    return message.text[:MAX_NOTE_CHARACTERS] if isinstance(message, Note) else None


def taken_text(game: str, taken: Any) -> str:
    """Return an action in the notation that a person would type."""
    if taken is None:
        return "nothing"
    try:
        said = say(game, taken)
    except Exception:  # noqa: BLE001 - one seat's own file may say anything
        said = encode(taken).decode()
    return said if len(said) <= TEXT else f"{said[:TEXT]}…"


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

    `untold`: further ones without an answer.
    """
    ordered = sorted(refused.items(), key=lambda item: -item[1])
    for (reason, text), times in ordered[:KINDS_OF_REFUSALS]:
        often = "" if times == 1 else f" ({times:,} times)"
        yield Fact(f"{who}: refused ({reason}): {text}{often}", seat, "refused")
    more = untold + sum(times for _, times in ordered[KINDS_OF_REFUSALS:])
    if more:
        yield Fact(f"{who}: {pluralise(more, 'more message')} refused", seat, "refused")
