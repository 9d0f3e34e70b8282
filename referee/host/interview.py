"""A game that puts the questions of one seat of a match to another bot, and collects the answers. Pure.

Its windows are the seat's windows, in order. Between them it sends the events that the seat was sent, whatever the
answers are. The rules of the match's own game decide whether an answer is legal. The other seats are empty: their
players leave at the start. The game has no outcome; `reask` ends it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, assert_never, cast

from msgspec import Raw, Struct

from protocol.codec import Refused, decode_client_message, decode_server_message
from protocol.messages import (
    Closed,
    Faulted,
    Opened,
    Rejected,
    Submit,
)
from protocol.refusals import Fault, Refusal
from protocol.words import Action, Options, Outcome, View
from referee.games import GAMES
from referee.host.questions import Questionnaire
from referee.match import AnyRecord, Ended, In, Left, Out, WindowTime
from referee.rules import Addressed, Game, Luck, Owed, Quoted, Retold, Step, Taken, Window

ALL_ASKED = "all is asked"
"""The reason with which such a match is ended."""


class Interview(Game[int]):
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

    def deal(self, variant: str, options: Options, setup: Any, luck: Luck) -> Step[int]:
        """See `Game`."""
        del variant, options, setup, luck
        return Step(0, self._addressed(self._asked.told))

    def window(self, state: int) -> Window | None:
        """See `Game`; None after the last question."""
        if state == len(self._asked.questions):
            return None
        opened = self._asked.questions[state].opened
        retold = Retold(
            number=opened.id, main_ms=opened.main_ms, reserve_ms=opened.reserve_ms, unlimited=self._unlimited
        )
        return Window(opened.window, (Owed(self._seat, opened.default),), retold=retold)

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

    def close(self, state: int, taken: tuple[Taken | None, ...], luck: Luck) -> Step[int]:
        """Return the events that followed in the match."""
        del taken, luck
        return Step(state + 1, self._addressed(self._asked.questions[state].told))

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


class Answer(Struct, frozen=True, kw_only=True):
    """A bot's answer to one question."""

    action: Action | None
    """The action in canonical spelling; None: no action was valid, so that the default would have been used."""
    illegal: str = ""
    """The reason why the last illegal action was illegal, if no action was valid at the end."""
    chosen: bool = False
    """Without an action: whether the bot chose the default."""
    refused: tuple[str, ...] = ()
    """The texts with which its actions were refused."""


class Asked(Struct, frozen=True, kw_only=True):
    """A question with its answer."""

    opened: Opened
    closed: Closed | None
    """The window's result in the match; None: it was not sent, because the seat's bot had left."""
    answer: Answer | None
    """The bot's answer; None: it had left."""


class Interviewed(Struct, frozen=True):
    """The answers to all questions of a match."""

    asked: tuple[Asked, ...]
    """The questions in order."""
    gone: str = ""
    """The reason why the bot left before the last question; empty if it did not."""


def interviewed(asked: Questionnaire, records: Iterable[AnyRecord]) -> Interviewed:
    """Return the bot's answers, from the records of its own match."""
    heard = _Heard(asked.welcome.seat)
    for record in records:
        heard.take(record)
    answers: Sequence[Answer | None] = heard.answers
    answers = [*answers, *[None] * (len(asked.questions) - len(answers))]
    return Interviewed(
        tuple(
            Asked(opened=question.opened, closed=question.closed, answer=answer)
            for question, answer in zip(asked.questions, answers, strict=True)
        ),
        heard.gone,
    )


class _Heard:
    """Collects the answers of one seat's bot from a match's records."""

    def __init__(self, seat: int) -> None:
        self.answers: list[Answer | None] = []
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
        action = None if part.by_default else part.taken
        if self.gone and action is None:
            self.answers.append(None)
        else:
            chosen = action is None and self._chosen
            illegal = "" if action is not None or chosen else self._illegal
            refused = tuple(self._refused)
            self.answers.append(Answer(action=action, illegal=illegal, chosen=chosen, refused=refused))
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
            text = message.text if message.reason is Fault.NO_HELLO else f"{message.reason.value}: {message.text}"
            self.gone = self.gone or text


def _ended(exit_code: int | None) -> str:
    if exit_code is None:
        return "it leaves unread what it is sent"
    return f"ended by signal {-exit_code}" if exit_code < 0 else f"ended with exit code {exit_code}"
