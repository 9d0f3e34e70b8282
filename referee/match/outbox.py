"""What comes out of a match: messages to its seats, lines to its transcript, requests to its `MatchIO`. Pure."""

from typing import Protocol

from msgspec import Raw

from protocol.codec import encode
from protocol.messages import ServerMessage as Message
from referee.match.records import OUT_BYTES, Out, Record
from referee.match.seat import Seat
from referee.rules import Addressed, Quoted, reveal


class MatchIO(Protocol):
    """What a match asks of its surroundings. None of it waits, none of it fails."""

    def record(self, record: Record) -> None:
        """A line for the transcript."""

    def send(self, seat: int, frame: bytes, *, timed: bool = False) -> None:
        """A frame for a bot. `timed`: `Match.handed` is to be told when the transport has taken it."""

    def nobody_handed(self, seat: int) -> None:
        """The seat has a window, and no bot just now: `Match.handed` is to be told all the same."""

    def reconnected(self, seat: int) -> None:
        """The seat's bot has begun anew: what was sent and not yet taken is not for it."""

    def hang_up(self, seat: int) -> None:
        """The seat's bot has no part in the match any more."""

    def restart(self, seat: int) -> None:
        """The seat's bot has ended and is to be started again."""

    def told(self, told: tuple[Addressed, ...]) -> None:
        """These events are being sent to the seats: for spectators."""

    def paused(self, reason: str) -> None:
        """Every clock of the match stands still: for spectators."""

    def resumed(self) -> None:
        """The clocks run again: for spectators."""


class Outbox:
    """Sends a match's messages, each with its record. `now` is the time of the latest input."""

    def __init__(self, io: MatchIO, seats: list[Seat]) -> None:
        self.io = io
        self.now = 0
        self.size = 0
        """Bytes that what was sent has added to the transcript."""
        self._seats = seats

    def send(self, seat: Seat, message: Message | Raw, *, timed: bool = False) -> None:
        """To one seat, if its bot is there."""
        if seat.present:
            self._send(seat, message, timed=timed)

    def send_unwelcomed(self, seat: Seat, message: Message) -> None:
        """To a bot that may not have said a right `hello` yet."""
        if not seat.gone:
            self._send(seat, message)

    def send_all(self, message: Message) -> None:
        """To every seat whose bot is there."""
        for seat in self._seats:
            self.send(seat, message)

    def tell(self, told: tuple[Addressed, ...]) -> None:
        """Sends the game's events to their seats, which can ask for them again."""
        for one in told:
            if isinstance(one.event, Quoted):
                self._quote(one.event, one.seat)
                continue
            event = Raw(encode(one.event))
            for number in reveal.audience(one, len(self._seats)):
                seat = self._seats[number]
                if seat.present:
                    self._send(seat, reveal.event_message(event, len(seat.told)))
                seat.told.append(event)
        self.io.told(told)

    def _quote(self, quoted: Quoted, number: int | None) -> None:
        for seat in self._seats if number is None else (self._seats[number],):
            self.send(seat, quoted.frame)
            if quoted.event is not None:
                seat.told.append(quoted.event)

    def _send(self, seat: Seat, message: Message | Raw, *, timed: bool = False) -> None:
        frame = encode(message)
        self.io.record(Out(at=self.now, seat=seat.number, frame=Raw(frame)))
        self.size += len(frame) + OUT_BYTES
        self.io.send(seat.number, frame, timed=timed)
