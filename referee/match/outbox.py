"""The outputs of a match: messages to its seats, records for its transcript, requests to its `MatchIO`. Pure."""

from typing import Protocol

from msgspec import Raw

from protocol.codec import encode
from protocol.messages import ServerMessage as Message
from referee.match.records import OUT_BYTES, Out, Record
from referee.match.seat import Seat
from referee.rules import Addressed, Quoted, reveal


class MatchIO(Protocol):
    """The services that a match uses. They must not block or fail."""

    def record(self, record: Record) -> None:
        """Write a record to the transcript."""

    def send(self, seat: int, frame: bytes, *, timed: bool = False) -> None:
        """Send a frame to a bot. If `timed`, apply a `Handed` when the transport has accepted it."""

    def nobody_handed(self, seat: int) -> None:
        """Apply a `Handed` for a seat that has a window but no bot at the moment."""

    def reconnected(self, seat: int) -> None:
        """Drop unsent frames of a seat whose bot has reconnected."""

    def hang_up(self, seat: int) -> None:
        """Disconnect a seat's bot, which has left the match."""

    def restart(self, seat: int) -> None:
        """Start a seat's bot again, which has exited."""

    def told(self, told: tuple[Addressed, ...]) -> None:
        """Show spectators the events that are being sent to the seats."""

    def paused(self, reason: str) -> None:
        """Show spectators that all clocks are stopped."""

    def resumed(self) -> None:
        """Show spectators that the clocks run again."""


class Outbox:
    """Sends the messages of a match, and writes a record of each. `now` is the time of the latest input."""

    def __init__(self, io: MatchIO, seats: list[Seat]) -> None:
        self.io = io
        self.now = 0
        self.size = 0
        """Bytes that the messages sent have added to the transcript."""
        self._seats = seats

    def send(self, seat: Seat, message: Message | Raw, *, timed: bool = False) -> None:
        """Send a message to a seat, if its bot is connected."""
        if seat.present:
            self._send(seat, message, timed=timed)

    def send_unwelcomed(self, seat: Seat, message: Message) -> None:
        """Send a message to a bot that may not have sent a valid `hello` yet."""
        if not seat.gone:
            self._send(seat, message)

    def send_all(self, message: Message) -> None:
        """Send a message to every seat whose bot is connected."""
        for seat in self._seats:
            self.send(seat, message)

    def tell(self, told: tuple[Addressed, ...]) -> None:
        """Send the game's events to their seats, and store them for bots that reconnect."""
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
