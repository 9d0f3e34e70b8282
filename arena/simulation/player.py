"""Bots at their seats in a match in this process, with the messages to and from them, and their errors."""

from typing import Any, Literal, assert_never, get_args

from msgspec import Raw, Struct, convert

from arena.simulation.defensive_copy import defensive_copy
from bots.kit import Bot, Session, error_text
from protocol.codec import decode_json, encode
from protocol.messages import (
    Accepted,
    ClientMessage,
    Closed,
    EventMessage,
    Hello,
    Note,
    Opened,
    Pause,
    Rejected,
    ServerMessage,
    Submit,
    Undo,
)
from protocol.refusals import Refusal
from protocol.words import Action, Event
from referee.rules import Illegal, Owed, Table, Taken

NAME = "in-process"
"""Name of the match in the bots' welcome."""
OnIllegal = Literal["raise", "default"]
OnError = Literal["raise", "default", "forfeit"]


class IllegalActionError(ValueError):
    """An action breaks a rule, or its seat does not owe one. `reason` is the text that a bot would receive."""

    def __init__(self, seat: int, window: str | None, reason: str) -> None:
        super().__init__(f"seat {seat}, {_named(window)}: {reason}")
        self.seat = seat
        self.window = window
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[int, str | None, str]]:
        """Support pickling, to return the error from another process."""
        return type(self), (self.seat, self.window, self.reason)


class BotError(RuntimeError):
    """A bot raised an exception, which is the cause of this one."""

    def __init__(self, seat: int, window: str | None, what: str) -> None:
        super().__init__(f"the bot of seat {seat} raised, {_named(window)}: {what}")
        self.seat = seat
        self.window = window
        self.what = what

    def __reduce__(self) -> tuple[type, tuple[int, str | None, str]]:
        """Support pickling, to return the error from another process."""
        return type(self), (self.seat, self.window, self.what)


def _named(window: str | None) -> str:
    return f"window {window!r}" if window else "outside a window"


class Rules(Struct, frozen=True):
    """Rules for illegal actions and errors of bots."""

    on_illegal: OnIllegal = "raise"
    on_error: OnError = "raise"

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown word, which would otherwise count as `default` or `raise`."""
        for name, words in (("on_illegal", get_args(OnIllegal)), ("on_error", get_args(OnError))):
            if (given := getattr(self, name)) not in words:
                raise ValueError(f"{name}: there is no {given!r}; there are {', '.join(words)}")


class Player:
    """A bot at its seat. It receives a referee's messages, as objects of its own types."""

    def __init__(self, bot: Bot[Any, Any], seat: int, rules: Rules) -> None:
        """Prepare the bot. Raise BotError if its annotations are wrong."""
        self.seat = seat
        self.rules = rules
        self.said: list[ClientMessage] = []
        """Messages of the bot that are not handled yet."""
        self.notes: list[str] = []
        """Texts for the bot's log about mishaps."""
        self.windows = self.defaults = self.illegal = 0
        self.gone = False
        """True after the bot raised and forfeited."""
        self._bot = bot
        self._action: Any = None
        """The bot's final action for the open window."""
        self._frame = b""
        """The final action as JSON."""
        self._owed: tuple[Owed | None, bytes] = None, b""
        """The last window of this seat, and its default as JSON."""
        self._standing: Action | None = None
        self._final = False
        self._events = 0
        self._window: str | None = None
        self._hears_events = getattr(bot.event, "__func__", None) is not Bot.event
        self._hears_closed = type(bot).closed is not Bot.closed
        try:
            self._session = Session(
                bot,
                self.said.append,
                log=self.notes.append,
                on_error="default" if rules.on_error == "default" else None,
            )
        except SystemExit as error:
            raise BotError(seat, None, str(error)) from None
        self._event_types = {*get_args(self._session.event_type), self._session.event_type}

    def hear(self, message: ServerMessage) -> None:
        """Pass a message to the bot.

        Raises:
            BotError: the bot raised.
        """
        if self.gone:
            return
        try:
            self._session.hear(message)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stranger's method raises
            self._raised(error)

    def hear_any(self, message: ServerMessage) -> None:
        """Pass any message to the bot, including the opening of a window, which `ask` makes itself."""
        self._window = message.window if isinstance(message, Opened) else self._window
        self.hear(message)

    def take(self) -> list[ClientMessage]:
        """Return and clear the bot's new messages."""
        said, self.said[:] = self.said[:], []
        return said

    def tell(self, event: Event) -> None:
        """Pass an event of the game to the bot."""
        if self._hears_events:
            own: Any = defensive_copy(event) if type(event) in self._event_types else decode_json(encode(event))
            self.hear(EventMessage(self._events, own))
        self._events += 1

    def ask(self, table: Table, owed: Owed, view: Any, *, main_ms: int, reserve_ms: int) -> None:
        """Let the bot decide a window; its messages are added to `said`."""
        assert table.window is not None  # noqa: S101 - a window is open because the seat owes an action
        name, session = table.window.name, self._session
        takes_it = type(view) is session.view_type
        own = defensive_copy(view) if takes_it else decode_json(encode(view))
        default = decode_json(self._default_of(owed))
        opened = Opened(self.windows, name, own, default, main_ms, reserve_ms)
        self._window = name
        self.windows += 1
        try:
            self._action = session.decide(opened, own if takes_it else self._converted(own))
            self._frame = encode(self._action)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stranger's method raises
            self._raised(error)

    def _default_of(self, owed: Owed) -> bytes:
        """Return the default as JSON; it is cached because games open the same window many times."""
        if owed is not self._owed[0]:
            self._owed = owed, encode(owed.default)
        return self._owed[1]

    def answer(self, table: Table) -> Action | None:
        """Return the bot's valid action for the open window; None stands for the default.

        Raises:
            IllegalActionError: an action broke a rule, and `on_illegal` is `raise`.
            BotError: as `hear`.
        """
        if self.gone:
            return None
        if not self.said and self._action is not None:
            # Replies to the bot could not change its action in this case.
            try:
                return table.read(self.seat, self._frame)
            except Illegal:
                pass  # The code below rejects the action.
        self._session.submit(self.windows - 1, self._action, final=True)
        self._standing, self._final = None, False
        while self.said:
            reply = self._reply(table, self.said.pop(0))
            if reply is not None:
                self.hear(reply)
        return self._taken()

    def _taken(self) -> Action | None:
        return None if self.gone else self._standing

    def _reply(self, table: Table, message: ClientMessage) -> ServerMessage | None:
        """Handle a message like a referee without delays; return the reply."""
        number = self.windows - 1
        match message:
            case Submit(window=window) | Undo(window=window) if window != number or self._final:
                why = Refusal.FINAL if window == number else Refusal.LATE
                return Rejected(window=window, reason=why, text="it cannot be changed any more")
            case Undo():
                self._standing = None
                return Accepted(number, None)
            case Submit(action=raw) if bytes(raw) == b"null":
                self._standing, self._final = None, message.final is True
                return Accepted(number, None)
            case Submit(action=raw):
                return self._submit(table, raw, final=message.final is not False)
            case Pause():
                return Rejected(window=None, reason=Refusal.NO_PAUSE, text="no pause is to be had now")
            case Hello() | Note():
                return None
            case _ as unreachable:
                assert_never(unreachable)

    def _submit(self, table: Table, raw: Raw, *, final: bool) -> ServerMessage:
        try:
            self._standing, self._final = table.read(self.seat, raw), final
        except Illegal as illegal:
            self.refused(illegal.reason)
            return Rejected(window=self.windows - 1, reason=Refusal.ILLEGAL, text=illegal.reason)
        return Accepted(self.windows - 1, self._standing)

    def close(self, taken: Taken, *, reserve_ms: int) -> None:
        """Pass the end of the window and the resolved action to the bot."""
        if taken.by_default:
            self.defaults += 1
        if self._hears_closed:
            own = None if taken.action is None else decode_json(encode(taken.action))
            number = self.windows - 1
            self.hear(Closed(number, own, by_default=taken.by_default, charged_ms=0, reserve_ms=reserve_ms))
        self._window = None

    def refused(self, reason: str) -> None:
        """Count an illegal action; raise IllegalActionError if `on_illegal` is `raise`."""
        self.illegal += 1
        if self.rules.on_illegal == "raise":
            raise IllegalActionError(self.seat, self._window, reason)

    def _raised(self, error: BaseException) -> None:
        failed = BotError(self.seat, self._window, error_text(error))
        if self.rules.on_error != "forfeit":
            raise failed from error
        self.gone = True
        self.said.clear()
        self.notes.append(str(failed))

    def _converted(self, view: Any) -> Any:
        return convert(view, self._session.view_type)
