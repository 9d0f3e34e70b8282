"""A match as people go through it: its steps, who did what in each, and the board after it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct, field
from rich.text import Text

from arena.live import Eyes, board_text
from arena.quantities import counted, duration
from protocol.codec import Refused as RefusedFrame
from protocol.codec import decode_client_message, encode
from protocol.messages import MAX_NOTE_CHARACTERS, Note
from protocol.text import drawing_of, say
from protocol.words import Event, View
from referee.match import MICROSECONDS_PER_MS, In
from referee.rules import Addressed

MOST_STEPS = 20_000
"""Steps that are kept: of each the game's state or a seat's view, which is mostly that of the step before."""
KINDS_KEPT = 100
"""Kinds of refusals of one seat in one step that are counted each."""
KINDS_OF_REFUSALS = 5
"""Of one seat in one step, that are told."""
NOTES_KEPT = 20
"""Notes of one seat in one step that are shown."""
TEXT = 300
"""Characters of a text that a bot brought about, at most."""
Refused = dict[tuple[str, str], int]
"""Reason and text, as the bot was told them, to how often."""


FactKind = Literal["taken", "default", "refused", "late", "verdict", "gone", "pause", "note", "end"]


class Fact(Struct):
    """Something that happened in a step, in words."""

    text: str
    seat: int | None
    """The seat that may know it, beside the host; None: everybody may."""
    kind: FactKind


class SeatClock(Struct, frozen=True):
    """What a closed window took of one seat's time, in milliseconds."""

    seat: int
    main_ms: int
    """The window's main time."""
    used_ms: float
    reserve_ms: int
    """Reserve left for the match."""


class Step(Struct):
    """What happened up to the closing of a window, or an answer within it."""

    title: str
    turn: int | None
    """The turn or round that is played after it, where the game has such."""
    view: Callable[[Eyes], View]
    """The board after it. Raises ValueError where it is none of the game's."""
    told: tuple[Addressed, ...] = ()
    facts: list[Fact] = field(default_factory=list)
    clocks: list[SeatClock] = field(default_factory=list)
    """Of the seats of the window that it closes. A seat knows its own, the host all."""


class Terms(Struct, frozen=True, kw_only=True):
    """What was agreed before the match, and is no secret."""

    match: str
    variant: str
    seats: int
    reserve_ms: int
    """Of each seat, at the beginning."""


class Recording(Struct):
    """All of a match, or what one seat knew of it."""

    game: str
    names: Sequence[str]
    """By seat, printable. In one seat's own file only that seat has one."""
    steps: list[Step]
    own: int | None
    """The seat whose own file this is."""
    terms: Terms
    ranking: Sequence[Sequence[int]] = ()
    """The seats as they ended, the best first and level ones together; empty, where that is not known."""
    manifests: Sequence[str] = ()
    """By seat, as `BotIdentity.manifest_text`, printable."""

    def lines(self, number: int, eyes: Eyes) -> Iterator[str]:
        """What happened in a step, counted from 0, as far as these eyes may know it."""
        step = self.steps[number]
        yield f"step {number + 1} of {len(self.steps)}: {step.title}"
        for fact in step.facts:
            if fact.seat is None or eyes in (fact.seat, "host"):
                yield fact.text
        for told in self.seen(number, eyes):
            to = "" if told.seat is None else f"to {self.seat(told.seat)}: "
            yield f"{to}{drawing_of(self.game).words(told.event)}"

    def board(self, number: int, eyes: Eyes, *, plain: bool) -> Text:
        """The board after a step."""
        events: list[Event] = [told.event for told in self.seen(number, eyes)]
        so_far = [told.event for at in range(number + 1) for told in self.seen(at, eyes)]
        try:
            return board_text(self.game, self.steps[number].view(eyes), events, plain=plain, told=so_far)
        except Exception as error:
            if self.own is None:
                raise
            # The rules do not prove what one seat's own file says: it may show what no board of the game does.
            return Text(f"what is shown here is not a board of {self.game}: {error}"[:TEXT])

    def seen(self, number: int, eyes: Eyes) -> list[Addressed]:
        """The events of a step that these eyes may know."""
        return [told for told in self.steps[number].told if told.seat is None or eyes in (told.seat, "host")]

    def seat(self, number: int) -> str:
        """A seat with its bot's name."""
        return seat_text(number, self.names)

    def step_of_turn(self, turn: int) -> int:
        """The first step after which this turn is played, or a later one; in a game without turns, that step."""
        turns = [step.turn for step in self.steps]
        if all(each is None for each in turns):
            return max(0, min(turn, len(turns)) - 1)
        return next((at for at, each in enumerate(turns) if each is not None and each >= turn), len(turns) - 1)


def turn_of(view: Any) -> int | None:
    """The turn or round that a view tells of."""
    turn = getattr(view, "turn", getattr(view, "round", None))
    return turn if isinstance(turn, int) else None


def seat_text(number: int, names: Sequence[str]) -> str:
    """A seat with its bot's name, where it is known."""
    return f"seat {number} ({names[number]})" if number < len(names) and names[number] else f"seat {number}"


def note_of(record: In) -> str | None:
    """A bot's words for the transcript, if the frame is a note."""
    if record.cut or '"note"' not in record.frame:
        return None
    try:
        message = decode_client_message(record.raw())
    except RefusedFrame:
        return None
    return message.text[:MAX_NOTE_CHARACTERS] if isinstance(message, Note) else None


def taken_text(game: str, taken: Any) -> str:
    """An action that was taken, as a person could have typed it."""
    if taken is None:
        return "nothing"
    try:
        said = say(game, taken)
    except Exception:  # noqa: BLE001 - one seat's own file may say anything
        said = encode(taken).decode()
    return said if len(said) <= TEXT else f"{said[:TEXT]}…"


def took_text(microseconds: int) -> str:
    """The time that was used, as exact as it is measured."""
    return duration(microseconds) if microseconds >= MICROSECONDS_PER_MS else "less than 1 ms"


def default_text(*, withdrawn: bool, in_time: bool) -> str:
    """Why a default was taken of a bot that was there. `in_time`: before its time was up."""
    if in_time:
        return "the bot asked for it"
    return "it withdrew what it had submitted" if withdrawn else "no answer in time"


def refusal_facts(seat: int, who: str, refused: Refused, untold: int = 0) -> Iterator[Fact]:
    """What was refused of a seat's messages, the most frequent first. Of `untold` more its bot was not told."""
    ordered = sorted(refused.items(), key=lambda item: -item[1])
    for (reason, text), times in ordered[:KINDS_OF_REFUSALS]:
        often = "" if times == 1 else f" ({times:,} times)"
        yield Fact(f"{who}: refused ({reason}): {text}{often}", seat, "refused")
    more = untold + sum(times for _, times in ordered[KINDS_OF_REFUSALS:])
    if more:
        yield Fact(f"{who}: {counted(more, 'more message')} refused", seat, "refused")
