"""The game of asking a bot again what another one was asked in a match, and what it answered. Pure.

Its windows are the questions that a seat was asked, one after another. It tells what the seat was told between,
whatever the answers. The rules of the match's own game say whether an answer is legal. The other seats are empty:
their players leave at the start. The game has no outcome: `reask` ends it.
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
"""Why a match of it is ended."""


class Interview(Game[int]):
    """Its state is the number of questions that were asked."""

    def __init__(self, asked: Questionnaire, *, unlimited: bool = False) -> None:
        """`unlimited`: the time for an answer never ends, whatever the bot is told of it."""
        self._of = GAMES[asked.welcome.game]
        self.name, self.actions = self._of.name, self._of.actions  # type: ignore[misc]
        self._asked = asked
        self._seat = asked.welcome.seat
        self._unlimited = unlimited

    def read_options(self, variant: str, given: Raw | None) -> Options:
        """As the seat was told them."""
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
        """See `Game`; None once all is asked."""
        if state == len(self._asked.questions):
            return None
        opened = self._asked.questions[state].opened
        retold = Retold(
            number=opened.id, main_ms=opened.main_ms, reserve_ms=opened.reserve_ms, unlimited=self._unlimited
        )
        return Window(opened.window, (Owed(self._seat, opened.default),), retold=retold)

    def read_action(self, state: int, seat: int, raw: bytes | Raw) -> Action:
        """See `Game`. The match's own rules read it, as far as the match is known."""
        question = self._asked.questions[state]
        if question.state is None:
            return super().read_action(state, seat, raw)
        return self._of.read_action(question.state, seat, raw)

    def check(self, state: int, seat: int, action: Action) -> Action:
        """Of a match that is not known, any action of the right form may be legal."""
        del state, seat
        return action

    def close(self, state: int, taken: tuple[Taken | None, ...], luck: Luck) -> Step[int]:
        """Tells what followed in the match."""
        del taken, luck
        return Step(state + 1, self._addressed(self._asked.questions[state].told))

    def view(self, state: int, seat: int | None) -> View:
        """As the seat was shown it."""
        del seat
        return cast("View", self._asked.questions[state].opened.view)

    def host_view(self, state: int) -> View:
        """See `view`."""
        return self.view(state, None)

    def outcome(self, state: int) -> Outcome | None:
        """None: nobody wins or loses."""
        del state
        return None

    def _addressed(self, told: Iterable[Quoted]) -> tuple[Addressed, ...]:
        return tuple(Addressed(quoted, self._seat) for quoted in told)


class Answer(Struct, frozen=True, kw_only=True):
    """What a bot answered to one question."""

    action: Action | None
    """In canonical spelling; None: nothing stood, and the default would have been taken."""
    illegal: str = ""
    """Why the last action that broke a rule did, if nothing stood in the end."""
    chosen: bool = False
    """With no action: it asked for the default."""
    refused: tuple[str, ...] = ()
    """What it was told of each action that was refused."""


class Asked(Struct, frozen=True, kw_only=True):
    """One question."""

    opened: Opened
    closed: Closed | None
    """What came of it in the match; None: the seat was not told, its bot was gone."""
    answer: Answer | None
    """The bot's; None: it was gone."""


class Interviewed(Struct, frozen=True):
    """What came of all questions of a match."""

    asked: tuple[Asked, ...]
    """In order."""
    gone: str = ""
    """Why the bot was not asked to the end; empty if it was."""


def interviewed(asked: Questionnaire, records: Iterable[AnyRecord]) -> Interviewed:
    """What the bot answered, from the records of its own match."""
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
    """What a match's records say of the answers of one seat's bot."""

    def __init__(self, seat: int) -> None:
        self.answers: list[Answer | None] = []
        self.gone = ""
        self._seat = seat
        self._illegal = ""
        self._chosen = False
        self._refused: list[str] = []

    def take(self, record: AnyRecord) -> None:
        """Take what a record says of the seat. The other records do not matter here."""
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
                pass  # It stands for no frame.
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
