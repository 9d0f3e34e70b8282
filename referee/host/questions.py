"""Extracts the windows and events of one seat from a transcript, so that another bot can be asked the same. Pure.

`interview` puts them to the other bot. All that it sends is made from frames that were sent to the seat, so that
the other bot learns nothing that the seat could not know. A whole transcript is replayed at the same time, so that
the rules can check the answers; the rest of the replay's state is not used. With a seat's own file only the form
of an answer can be checked.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct

from protocol.codec import encode
from protocol.messages import Closed, EventMessage, Opened, Rejected, Welcome
from referee.match import AnyRecord, Header, Out, SeatHeader
from referee.rules import Quoted
from referee.transcript import BadTermsError, Differs, check_seat_terms, steps


class Question(Struct, kw_only=True):
    """A window of the seat, as it was opened, with the messages that followed."""

    opened: Opened
    state: Any
    """The game's state when the window was opened; None: unknown."""
    closed: Closed | None = None
    """The window's result; None: it was not sent to the seat."""
    refused: list[Rejected] = []
    """The refusals of the bot's messages on this window."""
    told: list[Quoted] = []
    """The messages sent to the seat from here to its next window, `closed` included."""


class Questionnaire(Struct, kw_only=True):
    """All windows of one seat in a match, with its events."""

    welcome: Welcome
    told: list[Quoted] = []
    """The messages sent before its first window."""
    questions: list[Question] = []


class _Message(Struct, frozen=True):
    """A message's type, and the events in it as the bytes sent."""

    type: str
    n: Annotated[int, Meta(ge=0)] = 0
    event: Raw = Raw()
    told: tuple[Raw, ...] = ()


_message = msgspec.json.Decoder(_Message)
_welcome = msgspec.json.Decoder(Welcome)
_opened = msgspec.json.Decoder(Opened)
_closed = msgspec.json.Decoder(Closed)
_rejected = msgspec.json.Decoder(Rejected)


def questions_of(records: Iterable[AnyRecord], seat: int | None = None) -> Questionnaire | None:
    """Return the windows and events of a seat, from a whole transcript or from the seat's own file.

    A whole transcript is verified.

    Replies to the bot's messages are left out, and so is its reconnecting: events that were missed while the bot
    was away appear where it received them.

    Args:
        records: the transcript's records, from the header on.
        seat: the seat; None: the seat whose own file it is.

    Returns:
        The questionnaire; None: the seat's bot never sent `hello`.

    Raises:
        Differs: the rules contradict the transcript, or it has no such seat.
        TranscriptError: the transcript cannot be read, or was changed.
    """
    records = iter(records)
    header = next(records, None)
    walk: Iterator[tuple[AnyRecord, Any]]
    if isinstance(header, SeatHeader):
        seat, walk = _own_seat(header, seat), ((record, None) for record in records)
    else:
        walk = _replayed(chain([] if header is None else [header], records))
        if isinstance(header, Header) and (seat is None or not 0 <= seat < len(header.bots)):
            raise Differs(1, f"which seat? The seats are 0 to {len(header.bots) - 1}")
    collector: _Collector | None = None
    for number, (record, state) in enumerate(walk, start=2):
        if not isinstance(record, Out) or record.seat != seat:
            continue
        try:
            message = _message.decode(record.frame)
            if collector is None and message.type == "welcome":
                collector = _Collector(_welcome.decode(record.frame))
                _check_welcome(collector.found.welcome, header)
            if collector is not None:
                collector.take(record.frame, message, state)
        except (msgspec.MsgspecError, ValueError) as error:
            raise Differs(number, str(error)) from None
    return None if collector is None else collector.found


def _own_seat(header: SeatHeader, seat: int | None) -> int:
    try:
        check_seat_terms(header)
    except BadTermsError as error:
        raise Differs(1, str(error)) from None
    if seat not in (None, header.seat):
        raise Differs(1, f"this is the transcript of seat {header.seat} alone")
    return header.seat


def _check_welcome(welcome: Welcome, header: AnyRecord | None) -> None:
    """Check that the `welcome` of a seat's own file belongs to its match. Nothing else has verified that.

    Raises:
        ValueError: it does not.
    """
    if isinstance(header, SeatHeader):
        claimed = (welcome.match, welcome.game, welcome.variant, welcome.seat, welcome.seats, welcome.clock)
        if claimed != (header.match, header.game, header.variant, header.seat, header.seats, header.clock):
            raise ValueError("this welcome is of another match than the header")


def _replayed(records: Iterable[AnyRecord]) -> Iterator[tuple[AnyRecord, Any]]:
    walk = steps(records)
    next(walk)
    return ((record, match.table.state) for record, match in walk)


class _Collector:
    """Collects the messages sent to a seat, from its first `welcome` on."""

    def __init__(self, welcome: Welcome) -> None:
        self.found = Questionnaire(welcome=msgspec.structs.replace(welcome, told=()))
        self._by_id: dict[int | None, Question] = {}
        self._events = 0
        """Number of events sent to it."""

    def take(self, frame: Raw, message: _Message, state: Any) -> None:
        questions = self.found.questions
        told = questions[-1].told if questions else self.found.told
        match message.type:
            case "welcome":
                # A later `welcome` adds only events that the seat had not been sent.
                for n in range(self._events, len(message.told)):
                    told.append(Quoted(frame=Raw(encode(EventMessage(n, message.told[n]))), event=message.told[n]))
                self._events = len(message.told)
            case "event":
                self._events = message.n + 1
                told.append(Quoted(frame=frame, event=message.event))
            case "window":
                self._open(_opened.decode(frame), state)
            case "closed":
                told.append(Quoted(frame=frame))
                if questions:
                    questions[-1].closed = _closed.decode(frame)
            case "rejected":
                rejected = _rejected.decode(frame)
                if rejected.window in self._by_id:
                    self._by_id[rejected.window].refused.append(rejected)
            case "paused" | "resumed" | "over":
                told.append(Quoted(frame=frame))
            case _:
                pass

    def _open(self, opened: Opened, state: Any) -> None:
        questions = self.found.questions
        if opened.window not in self.found.welcome.clock.main_ms:
            raise ValueError(f"there is no window {opened.window!r}")
        if min(opened.main_ms, opened.reserve_ms) < 0:
            raise ValueError("a window's time is not negative")
        if not questions or opened.id > questions[-1].opened.id:
            # Otherwise it is the same window, sent again to a bot that reconnected.
            self._by_id[opened.id] = question = Question(opened=opened, state=state)
            questions.append(question)
