"""What one seat was asked in a match, and what it was told between: its transcript as a list of questions. Pure.

So that another bot can be asked the same (`reask`). All that goes to that bot is made from frames that were sent
to the seat: it gets nothing that the seat could not know. The match is replayed meanwhile, so that the rules can
be asked whether an answer is legal; what else the replay knows goes nowhere.
"""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Raw, Struct

from protocol.codec import encode
from protocol.messages import Closed, EventMessage, Opened, Welcome
from protocol.words import Action
from referee.match import AnyRecord, Out
from referee.transcript import Replayed, steps


class Greeting(Struct, frozen=True):
    """The first step: the seat's `welcome`."""

    frame: bytes
    welcome: Welcome


class Telling(Struct, frozen=True):
    """Something the seat was told, as it was told."""

    frame: bytes
    event: Raw | None = None
    """What it says, if it is an event of the game."""


class Question(Struct, frozen=True):
    """A window of the seat's, at the moment it was opened."""

    frame: bytes
    opened: Opened
    match: Replayed
    seat: int

    def read(self, raw: Raw) -> Action:
        """The canonical action that an answer submits.

        Only until the next step is asked for: the match then goes on.

        Raises:
            Illegal: the seat could not have submitted it.
        """
        return self.match.table.read(self.seat, raw)


class Settled(Struct, frozen=True):
    """What came of the last question in the match."""

    frame: bytes
    closed: Closed


Step = Greeting | Telling | Question | Settled


class _Kind(Struct, frozen=True):
    """What a message is."""

    type: str


class _Event(Struct, frozen=True):
    """An event, whose bytes are kept as they are."""

    n: int
    event: Raw


class _Told(Struct, frozen=True):
    """Of a `welcome`: the events told before, whose bytes are kept as they are."""

    told: tuple[Raw, ...] = ()


_kind = msgspec.json.Decoder(_Kind)
_event = msgspec.json.Decoder(_Event)
_told = msgspec.json.Decoder(_Told)
_welcome = msgspec.json.Decoder(Welcome)
_opened = msgspec.json.Decoder(Opened)
_closed = msgspec.json.Decoder(Closed)


def questions(records: Iterable[AnyRecord], seat: int) -> Iterator[Step]:
    """The steps of one seat through a match, from the records of its whole transcript, which is proved meanwhile.

    The first is its `welcome`; there is none where its bot never said hello. Left out are the answers to what the
    bot said, and its coming back: what it was told while it was away comes where it heard of it.

    Raises:
        Differs: the rules do not lead to what the transcript says.
    """
    path = _Path(seat)
    for record, match in steps(records):
        if isinstance(record, Out) and record.seat == seat:
            yield from path.follow(bytes(record.frame), match)


class _Path:
    """How far a seat has come."""

    def __init__(self, seat: int) -> None:
        self._seat = seat
        self._events: int | None = None
        """How many it was told; None before its first `welcome`."""
        self._windows = 0

    def follow(self, frame: bytes, match: Replayed) -> Iterator[Step]:
        """What comes of one frame that was sent to it."""
        match _kind.decode(frame).type:
            case "welcome":
                yield from self._welcome(frame)
            case "event":
                heard = _event.decode(frame)
                self._events = heard.n + 1
                yield Telling(frame, heard.event)
            case "window":
                opened = _opened.decode(frame)
                if opened.id >= self._windows:
                    # Else it is the same window, shown again to a bot that came back.
                    self._windows = opened.id + 1
                    yield Question(frame, opened, match, self._seat)
            case "closed":
                yield Settled(frame, _closed.decode(frame))
            case "paused" | "resumed" | "over":
                yield Telling(frame)
            case _:
                pass

    def _welcome(self, frame: bytes) -> Iterator[Step]:
        """The first as it is; of a later one, the events that the seat had not been told."""
        told = _told.decode(frame).told
        if self._events is None:
            yield Greeting(frame, _welcome.decode(frame))
        else:
            for n in range(self._events, len(told)):
                yield Telling(encode(EventMessage(n=n, event=told[n])), told[n])
        self._events = len(told)
