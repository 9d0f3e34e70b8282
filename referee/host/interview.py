"""Puts the windows of one seat of a match to another bot, and collects the answers. Pure.

`questions_of` extracts the windows and events of a seat from a transcript. All that the other bot is sent is made
from frames that were sent to the seat, so that it learns nothing that the seat could not know. A whole transcript
is replayed at the same time, so that the rules can check the answers; the rest of the replay's state is not used.
With a seat's own file only the form of an answer can be checked.

`Interview` is the game that puts the questions. Its windows are the seat's windows, in order. Between them it
sends the events that the seat was sent, whatever the answers are. The rules of the match's own game decide whether
an answer is legal. The other seats are empty: their players leave at the start. The game has no outcome; `reask`
ends it.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import Annotated, Any, assert_never, cast

import msgspec
from msgspec import Meta, Raw, Struct

from protocol.codec import Refused, decode_client_message, decode_server_message, encode
from protocol.messages import (
    Closed,
    EventMessage,
    Faulted,
    Opened,
    Rejected,
    Submit,
    Welcome,
)
from protocol.refusals import Fault, Refusal
from protocol.words import Action, Options, Outcome, Setup, View
from referee.games import GAMES
from referee.match import AnyRecord, Ended, Header, In, Left, Out, SeatHeader, WindowTime
from referee.rules import (
    Addressed,
    Game,
    MatchRandom,
    PendingSeat,
    Quoted,
    ResolvedActions,
    Retold,
    Transition,
    Window,
)
from referee.transcript import BadTermsError, Differs, check_seat_terms, steps

_welcome = msgspec.json.Decoder(Welcome)
_opened = msgspec.json.Decoder(Opened)
_closed = msgspec.json.Decoder(Closed)
_rejected = msgspec.json.Decoder(Rejected)
ALL_ASKED = "all is asked"
"""The reason with which such a match is ended."""


class AskedWindow(Struct, kw_only=True):
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
    """The messages sent before the seat's first window."""
    questions: list[AskedWindow] = []


class _Message(Struct, frozen=True):
    """A message's type, and the events in it as the bytes sent."""

    type: str
    n: Annotated[int, Meta(ge=0)] = 0
    event: Raw = Raw()
    told: tuple[Raw, ...] = ()


_message = msgspec.json.Decoder(_Message)


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
        walk = _replayed(chain(filter(None, [header]), records))
        if isinstance(header, Header) and seat not in range(len(header.bots)):
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
    if collector is None:
        return None
    return collector.found


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
        self._by_id: dict[int | None, AskedWindow] = {}
        self._told = self.found.told
        """The messages sent since the seat's latest window; a list of the questionnaire's."""
        self._events = 0
        """Number of events sent to the seat."""

    def take(self, frame: Raw, message: _Message, state: Any) -> None:
        questions = self.found.questions
        told = self._told
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
            self._by_id[opened.id] = question = AskedWindow(opened=opened, state=state)
            questions.append(question)
            self._told = question.told


class Interview(Game[int, Options, Setup, View]):
    """The game. Its state is the number of questions put so far."""

    def __init__(self, asked: Questionnaire, *, unlimited: bool = False) -> None:
        """Set up the game. If `unlimited`, no window runs out of time, whatever times the bot is shown."""
        self._of = GAMES[asked.welcome.game]
        self.name, self.actions = self._of.name, self._of.actions  # type: ignore[misc]
        self._asked = asked
        self._seat = asked.welcome.seat
        self._unlimited = unlimited

    def read_options(self, variant: str, given: Raw | None) -> Options:
        """Return the options that the seat was sent."""
        del variant, given
        return cast("Options", self._asked.welcome.options)

    def seats(self, options: Options) -> int:
        """See `Game`."""
        del options
        return self._asked.welcome.seats

    def deal(self, variant: str, options: Options, setup: Setup, rng: MatchRandom) -> Transition[int]:
        """See `Game`."""
        del variant, options, setup, rng
        return Transition(0, self._addressed(self._asked.told))

    def window(self, state: int) -> Window | None:
        """See `Game`; None after the last question."""
        if state == len(self._asked.questions):
            return None
        opened = self._asked.questions[state].opened
        retold = Retold(
            number=opened.id, main_ms=opened.main_ms, reserve_ms=opened.reserve_ms, unlimited=self._unlimited
        )
        return Window(opened.window, (PendingSeat(self._seat, opened.default),), retold=retold)

    def read_action(self, state: int, seat: int, raw: bytes | Raw) -> Action:
        """See `Game`. The match's own rules read the action where the match's state is known."""
        question = self._asked.questions[state]
        if question.state is None:
            return super().read_action(state, seat, raw)
        return self._of.read_action(question.state, seat, raw)

    def check(self, state: int, seat: int, action: Action) -> Action:
        """Accept every action of the right form: where the match's state is unknown, it may be legal."""
        del state, seat
        return action

    def close(self, state: int, taken: ResolvedActions, rng: MatchRandom) -> Transition[int]:
        """Return the events that followed in the match."""
        del taken, rng
        return Transition(state + 1, self._addressed(self._asked.questions[state].told))

    def view(self, state: int, seat: int | None) -> View:
        """Return the view that the seat was sent."""
        del seat
        return cast("View", self._asked.questions[state].opened.view)

    def host_view(self, state: int) -> View:
        """See `view`."""
        return self.view(state, None)

    def outcome(self, state: int) -> Outcome | None:
        """Return None: this game has no winner."""
        del state
        return None

    def _addressed(self, told: Iterable[Quoted]) -> tuple[Addressed, ...]:
        return tuple(Addressed(quoted, self._seat) for quoted in told)


class BotAnswer(Struct, frozen=True, kw_only=True):
    """A bot's answer to one question."""

    action: Action | None
    """The action in canonical spelling; None: no action was valid, so that the default would have been used."""
    illegal: str = ""
    """The reason why the last illegal action was illegal, if no action was valid at the end."""
    chosen: bool = False
    """True if there is no action because the bot chose the default."""
    refused: tuple[str, ...] = ()
    """The texts with which the bot's actions were refused."""


class AnsweredQuestion(Struct, frozen=True, kw_only=True):
    """A question with its answer."""

    opened: Opened
    closed: Closed | None
    """The window's result in the match; None: it was not sent, because the seat's bot had left."""
    answer: BotAnswer | None
    """The bot's answer; None: it had left."""


class Interviewed(Struct, frozen=True):
    """The answers to all questions of a match."""

    asked: tuple[AnsweredQuestion, ...]
    """The questions in order."""
    gone: str = ""
    """The reason why the bot left before the last question; empty if it did not."""


def interviewed(asked: Questionnaire, records: Iterable[AnyRecord]) -> Interviewed:
    """Return the bot's answers, from the records of its own match."""
    heard = _Heard(asked.welcome.seat)
    for record in records:
        heard.take(record)
    found: list[AnsweredQuestion] = []
    for question, answer in zip_longest(asked.questions, heard.answers):
        found.append(AnsweredQuestion(opened=question.opened, closed=question.closed, answer=answer))
    return Interviewed(tuple(found), heard.gone)


class _Heard:
    """Collects the answers of one seat's bot from a match's records."""

    def __init__(self, seat: int) -> None:
        self.answers: list[BotAnswer | None] = []
        self.gone = ""
        self._seat = seat
        self._illegal = ""
        self._chosen = False
        self._refused: list[str] = []

    def take(self, record: AnyRecord) -> None:
        """Read a record. Records of other seats have no effect."""
        if isinstance(record, WindowTime):
            self._close(record)
        elif isinstance(record, Ended):
            if isinstance(record.void, str) and record.void != ALL_ASKED:
                self.gone = self.gone or record.void
        elif isinstance(record, Left | In | Out) and record.seat == self._seat:
            self._take_own(record)

    def _take_own(self, record: Left | In | Out) -> None:
        match record:
            case Left():
                self.gone = self.gone or _ended(record.exit)
            case In(closed=""):
                self._said(record.raw())
            case In():
                pass  # This record has no frame.
            case Out():
                self._told(bytes(record.frame))
            case _ as unreachable:
                assert_never(unreachable)

    def _close(self, window: WindowTime) -> None:
        (part,) = window.seats
        refused = tuple(self._refused)
        if not part.by_default:
            self.answers.append(BotAnswer(action=part.taken, refused=refused))
        elif self.gone:
            self.answers.append(None)
        elif self._chosen:
            self.answers.append(BotAnswer(action=None, chosen=True, refused=refused))
        else:
            self.answers.append(BotAnswer(action=None, illegal=self._illegal, refused=refused))
        self._illegal, self._chosen, self._refused = "", False, []

    def _said(self, frame: bytes) -> None:
        try:
            said = decode_client_message(frame)
        except Refused:
            return
        if isinstance(said, Submit):
            self._chosen = bytes(said.action) == b"null" and said.final is True

    def _told(self, frame: bytes) -> None:
        if not frame.startswith((b'{"type":"rejected"', b'{"type":"fault"')):
            return
        message = decode_server_message(frame)
        if isinstance(message, Rejected):
            self._refused.append(f"{message.reason}: {message.text}")
            if message.reason is Refusal.ILLEGAL:
                self._illegal = message.text
            else:
                self._chosen = False
        elif isinstance(message, Faulted):
            text = message.text
            if message.reason is not Fault.NO_HELLO:
                text = f"{message.reason.value}: {text}"
            self.gone = self.gone or text


def _ended(exit_code: int | None) -> str:
    if exit_code is None:
        return "it leaves unread what it is sent"
    if exit_code < 0:
        return f"ended by signal {-exit_code}"
    return f"ended with exit code {exit_code}"
