"""A person's seat in the referee's process: what the browser is told, and what it may send.

It converts the referee's messages to those for browsers (with everything said in words), and typed text to the
referee's. The rules judge a preview exactly as they would judge the submission.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol, assert_never

import msgspec
import trio
from msgspec import Raw, Struct

from arena.live import in_names, plain_refusal, view_of
from arena.practice.seat_log import SeatLog
from arena.statistics import places_by_seat
from arena.viewer import runes_of
from protocol import text as game_text
from protocol.codec import decode_server_message, encode
from protocol.messages import (
    PROTOCOL,
    Accepted,
    ClientMessage,
    ClockTerms,
    Closed,
    EventMessage,
    Faulted,
    Hello,
    Invited,
    Opened,
    Over,
    Pause,
    Paused,
    Rejected,
    Resumed,
    ServerMessage,
    Submit,
    Undo,
    Welcome,
)
from protocol.text import InputTerms, ParseError, drawing_of, text_of
from protocol.words import Event, Outcome, View
from referee.display_text import cut, printable
from referee.games import GAMES
from referee.rules import Addressed, Illegal, Table
from referee.wire import MemoryLine

TEXT = 2_200
"""Longest text for the browser, in characters."""
MOST_WORDS = 600
"""Maximum words of a window that are offered for completion."""
MOST_TYPED = 4_000
"""Longest text that may be typed, in characters; no action has a tenth of that."""
CLOSED = "This window is closed."
NOT_SENT = "Too many messages are on their way; try again."


class NotOpenError(Exception):
    """The window is not open for this seat."""


class RefusedTextError(Exception):
    """The typed text is no action, or no legal one. The text says why."""


class SeatLine(Protocol):
    """The bot's end of a line to the referee."""

    def say(self, frame: bytes) -> None:
        """Send a message. Raises trio.WouldBlock if too many are on their way."""

    async def hear(self) -> bytes:
        """Return the next message. Raises trio.EndOfChannel at the end."""

    def hear_nowait(self) -> bytes | None:
        """Return the next message; None if there is none now."""


class Preview(Struct, frozen=True):
    """What a typed text would submit."""

    action: Any
    text: str
    """The action as it is typed, in canonical spelling."""
    effect: str
    """What the seat does by it, as a clause; "" if the game does not say."""


class Person:
    """One person's seat in one match. `now` returns milliseconds on the referee's clock."""

    def __init__(
        self, seat: int, *, game: str, names: Sequence[str], now: Callable[[], int], changed: Callable[[], None]
    ) -> None:
        """Create the seat. `changed` is called after each message to the browser."""
        self.seat = seat
        self.log = SeatLog()
        self.over = False
        """True if the person was told the outcome."""
        self.leaving = trio.CancelScope()
        """Scope in which the seat is played; cancel it to leave the match."""
        self._game = game
        self._names = names
        self._now = now
        self._changed = changed
        self._line: SeatLine | None = None
        self._table: Table | None = None
        self._view: dict[str, Any] | None = None
        """The view that the browser was sent last."""
        self._opened: Opened | None = None
        self._window = ""
        """Name of the window that was open last."""
        self._standing: Any = None
        """Submission that the referee holds for the open window."""
        self._sent: Any = None
        """Submission that is not answered yet."""
        self._is_final = False
        """True if that submission is final."""
        self.paused = False
        """True if a pause that this person asked for is on."""

    async def play(self, line: MemoryLine) -> None:
        """Play the seat at the other end of a line: see `LocalSeat.play`."""
        line.say(encode(Hello(token="", name="person", version="1", protocol=PROTOCOL)))
        await self.sit(line)

    async def sit(self, line: SeatLine) -> None:
        """Play the seat at the other end of a line, from the referee's answer to `hello` on."""
        self._line = line
        try:
            with self.leaving:
                while not self.over:
                    self.hear(decode_server_message(await line.hear()))
        except trio.EndOfChannel:
            pass
        finally:
            # The last messages have been sent when the match ends and the seat is cancelled.
            while (frame := line.hear_nowait()) is not None:
                self.hear(decode_server_message(frame))
            self._line = self._opened = None

    def tell(self, kind: str, **fields: Any) -> None:
        """Send the browser a message."""
        self.log.add({"type": kind, "at_ms": self._now()} | fields)
        self._changed()

    def saw(self, table: Table, told: Sequence[Addressed]) -> None:
        """Send the seat's view after a step of the match, if it changed."""
        del told  # The referee's messages bring the events.
        self._table = table
        self._show(view_of(table.game, table.state, self.seat))

    def _show(self, view: View) -> None:
        shown: dict[str, Any] = msgspec.to_builtins(view, str_keys=True)
        if shown != self._view:
            self._view = shown
            self.tell("view", view=shown)

    def hear(self, message: ServerMessage) -> None:  # noqa: C901 - a case a message
        """Convert a message of the referee."""
        match message:
            case Invited() | Welcome():
                pass  # The page was told the terms before the match.
            case EventMessage(event=event):
                self._hear_event(event)
            case Opened():
                self._hear_window(message)
            case Accepted(window=window, action=action):
                self._hear_accepted(window, action)
            case Rejected(window=window, reason=reason, text=text):
                self._sent, self._is_final = None, False
                self.tell("rejected", window=window, reason=reason, text=_line(plain_refusal(text)))
            case Closed():
                self._hear_closed(message)
            case Paused(reason=reason):
                self.paused = reason == f"seat {self.seat}"
                self.tell("paused", reason=reason, text=f"The clocks stand still: {self._named(reason)}.")
            case Resumed(reason=reason):
                self.paused = False
                self.tell("resumed", reason=reason)
            case Over(outcome=outcome):
                self.hear_outcome(outcome)
            case Faulted(reason=reason, text=text):
                self.tell("fault", reason=reason, text=_line(text))
            case _ as unreachable:
                assert_never(unreachable)

    def hear_outcome(self, outcome: Outcome) -> None:
        """Send the outcome, unless it was sent already."""
        if self.over:
            return
        self.over = True
        self._opened = None
        places = places_by_seat(outcome)
        self.tell(
            "over",
            ranking=outcome.ranking,
            places=[places.get(seat) for seat in range(len(self._names))],
            reason=_line(outcome.reason),
        )

    def preview(self, window: int, text: str) -> Preview:
        """Return what a text would submit, without submitting it.

        Raises:
            NotOpenError: the window is not open.
            RefusedTextError: the rules would refuse it.
        """
        opened = self._open(window)
        if len(text) > MOST_TYPED:
            raise RefusedTextError(f"A text of {len(text)} characters is too long.")
        try:
            action = game_text.read(self._game, opened.window, text.strip())
        except ParseError as unclear:
            raise RefusedTextError(_line(str(unclear))) from None
        if self._table is None:
            if text.lstrip().startswith("{"):  # JSON without a judge may lack what the game's notation has.
                return Preview(action, _line(text.strip()), "")
        else:
            try:
                judged = self._table.read(self.seat, encode(action))
            except Illegal as illegal:
                raise RefusedTextError(_line(plain_refusal(illegal.reason))) from None
            action = msgspec.json.decode(encode(judged))
        return Preview(action, _line(game_text.say(self._game, action)), self._effect(opened, action))

    def submit(self, window: int, text: str, *, final: bool) -> None:
        """Submit typed text to the open window.

        Raises:
            NotOpenError: the window is not open.
            RefusedTextError: the text is no legal action, or cannot be sent.
        """
        self._submit(self.preview(window, text).action, final=final)

    def finish(self, window: int) -> None:
        """Make the submission final, or the default if nothing is submitted. Raises as `submit`."""
        opened = self._open(window)
        action = self._sent
        if action is None:
            action = self._standing
        if action is None:
            action = opened.default
        self._submit(action, final=True)

    def undo(self, window: int) -> None:
        """Withdraw the submission. Raises as `submit`."""
        self._open(window)
        self._say(Undo(window=window))
        self._sent, self._is_final = None, False

    def pause(self) -> None:
        """Ask for a pause. Raises RefusedTextError if it cannot be sent."""
        self._say(Pause())

    def _submit(self, action: Any, *, final: bool) -> None:
        if self._opened is None:
            raise NotOpenError(CLOSED)
        self._say(Submit(window=self._opened.id, action=Raw(encode(action)), final=final))
        self._sent, self._is_final = action, final

    def _say(self, message: ClientMessage) -> None:
        if self._line is None:
            raise RefusedTextError("The match is not being played.")
        try:
            self._line.say(encode(message))
        except trio.WouldBlock:
            raise RefusedTextError(NOT_SENT) from None

    def _open(self, window: int) -> Opened:
        if self._opened is None or self._opened.id != window:
            raise NotOpenError(CLOSED)
        return self._opened

    def _hear_event(self, told: Any) -> None:
        event: Event = msgspec.convert(told, _union(GAMES[self._game].events))
        said = self._named(drawing_of(self._game).words(event))
        if type(event).__name__ == "Reveal":
            self.tell("event", text=said, reveal=told)
        else:
            self.tell("event", text=said)

    def _hear_window(self, opened: Opened) -> None:
        self._opened, self._window = opened, opened.window
        self._standing = self._sent = None
        self._is_final = False
        view = self._view_of(opened)
        name, texts = opened.window, text_of(self._game)
        if self._table is None:  # The referee is on another machine.
            self._show(view)
        self.tell(
            "window",
            id=opened.id,
            window=name,
            main_ms=opened.main_ms,
            reserve_ms=opened.reserve_ms,
            ask=self._named(texts.ask(name, view)),
            if_nothing=self._named(game_text.if_nothing(self._game, name, opened.default)),
            default=opened.default,
            default_text=_line(game_text.say_default(self._game, name, opened.default)),
            words=[_line(word) for word in texts.words(name, view)[:MOST_WORDS]],
            examples=[self._example(opened, *each) for each in texts.examples(name, view)[:MOST_WORDS]],
        )

    def _example(self, opened: Opened, text: str, meaning: str) -> list[str]:
        """Return an example for the browser: its text, its meaning, and its effect."""
        effect = ""
        with suppress(ParseError):
            effect = self._effect(opened, game_text.read(self._game, opened.window, text))
        return [_line(text), self._named(meaning), effect]

    def _effect(self, opened: Opened, action: Any) -> str:
        """Return what the seat does by an action, as a clause; "" if the game does not say."""
        return self._named(text_of(self._game).effect(opened.window, self._view_of(opened), action))

    def _view_of(self, opened: Opened) -> Any:
        return msgspec.convert(opened.view, GAMES[self._game].view_type)

    def _hear_accepted(self, window: int, action: Any) -> None:
        self._standing, self._sent = action, None
        said = "" if action is None else _line(game_text.say(self._game, action))
        self.tell("accepted", window=window, action=action, text=said, final=self._is_final)
        if self._is_final:
            self._opened = None

    def _hear_closed(self, closed: Closed) -> None:
        self._opened = None
        taken = game_text.say_default(self._game, self._window, closed.taken)
        if not closed.by_default and closed.taken is not None:
            taken = game_text.say(self._game, closed.taken)
        self.tell(
            "closed",
            window=closed.window,
            taken=closed.taken,
            text=_line(taken),
            by_default=closed.by_default,
            charged_ms=closed.charged_ms,
            reserve_ms=closed.reserve_ms,
        )

    def _named(self, text: str) -> str:
        """Return a text with the players' names instead of their seats."""
        return _line(in_names(text, self._names))


def table_fields(
    game: str, terms: InputTerms, *, match: str, names: Sequence[str], clock: ClockTerms, pace: str
) -> dict[str, Any]:
    """Return the fields of the message `table`, the first one about a match.

    Args:
        game: name of the game.
        terms: the variant, the options and the seat.
        match: id of the match.
        names: names of all seats.
        clock: time limits; see `ClockTerms`.
        pace: text about the time limits.
    """
    text = text_of(game)
    return {
        "match": match,
        "game": game,
        "variant": terms.variant,
        "seats": len(names),
        "seat": terms.seat,
        "names": names,
        "runes": runes_of(game),
        "pace": pace,
        "main_ms": clock.main_ms,
        "reserve_ms": clock.reserve_ms,
        "pauses": clock.pauses,
        "pause_ms": clock.pause_ms,
        "forms": {window: [list(form) for form in forms] for window, forms in text.forms(terms).items()},
        "rules": text.rules(terms.variant),
    }


def _line(text: str) -> str:
    return cut(printable(text), TEXT)


def _union(types: Sequence[type[Any]]) -> Any:
    made = types[0]
    for each in types[1:]:
        made = made | each  # type: ignore[assignment]  # a union, which no type of a type is
    return made
