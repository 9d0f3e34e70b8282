"""Bots in matches of this process: those that callers pass to `play`, and each at its seat with its messages.

Bots get copies of views and events. A game's Structs are frozen, but may contain dicts that belong to the state.
"""

import runpy
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar, assert_never, get_args

import msgspec
from msgspec import Raw, Struct, convert
from msgspec.structs import replace

from bots import kit
from bots.kit import Bot, FunctionBot, Session, Window, error_text
from protocol.codec import decode_json, encode
from protocol.messages import (
    Accepted,
    ClientMessage,
    ClockTerms,
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
from referee.rules import Illegal, PendingSeat, ResolvedAction, Table

BotGiven = Callable[[Window[Any]], Any] | Bot[Any, Any] | type[Bot[Any, Any]] | str | Path
"""A function from window to action, a `Bot`, a subclass of it, or a bot as named on the command line."""
_LOADING = Lock()


class BotSource(Struct, frozen=True):
    """Source of the bots of one seat."""

    name: str
    version: str
    content: str
    """Hash of the bot's folder; empty for an object."""
    make: Callable[[], Bot[Any, Any]]
    """Returns the bot for a match."""


def sources_of(game: str, given: Sequence[BotGiven], seats: int) -> list[BotSource]:
    """Return the sources of the bots by seat.

    Raises:
        ValueError: the number of bots is wrong, one does not play this game, or one object has two seats.
        TypeError: one is not a bot, or `given` is not a list.
    """
    check_number(game, given, seats)
    objects = [id(each) for each in given if isinstance(each, Bot)]
    if len(set(objects)) < len(objects):
        raise ValueError("bots: one Bot object sits in two seats; give its class, or one object for each")
    return [source_of(game, each) for each in given]


def check_number(game: str, given: Any, seats: int) -> None:
    """Raise TypeError if `given` is not a list, and ValueError if the number of bots is wrong."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise TypeError(
            f"bots: {given!r:.100} is not a list; give one bot for each of the {seats} seats of {game}"
        )
    if len(given) != seats:
        raise ValueError(f"bots: {len(given)} for the {seats} seats of {game}")


def source_of(game: str, given: BotGiven, *, fresh: bool = False) -> BotSource:
    """Return the source of one bot; with `fresh`, an object is copied for each match. Raise as `sources_of`."""
    if isinstance(given, str | Path):
        return _from_folder(game, str(given))
    if isinstance(given, Bot):
        name = type(given).__name__
        if fresh:
            return BotSource(name, "", "", partial(_copied, name, given))
        return BotSource(name, "", "", lambda: given)
    if isinstance(given, type):
        if issubclass(given, Bot):
            return BotSource(given.__name__, "", "", given)
        raise TypeError(f"bots: {given.__name__} is not derived from bots.kit.Bot")
    if callable(given):
        return BotSource(str(getattr(given, "__name__", type(given).__name__)), "", "", lambda: FunctionBot(given))
    raise TypeError(f"bots: {given!r} is not a function, a Bot or a bot's folder")


def _from_folder(game: str, given: str) -> BotSource:
    """Load a bot's folder once; copy its bot for each match unless bot.toml has `keeps`."""
    from arena.config import label_of  # noqa: PLC0415 - what is given as an object need not wait
    from referee.bot_folder import PYTHON, find_bot  # noqa: PLC0415 - as above

    folder = find_bot(given)
    if not folder.plays(game):
        raise ValueError(f"{given}: does not play {game}; bot.toml says so")
    program, *words = folder.command
    if program != PYTHON or not words or words[0].startswith("-") or folder.transport != "zmq":
        raise ValueError(f"{given}: only a Python bot that uses the kit plays in this process: python FILE")
    if not (folder.folder / words[0]).resolve().is_relative_to(folder.folder.resolve()):
        raise ValueError(f"{given}: {words[0]} lies outside of the folder")
    try:
        bot = _loaded(folder.folder, words)
    except (Exception, SystemExit) as error:
        text = f"{words[0]} ended before it called bots.kit.run, which bots in this process must do: {error!r}"
        raise ValueError(f"{given}: {text}") from error
    if bot is None:
        raise ValueError(f"{given}: {words[0]} does not call bots.kit.run, which bots in this process must do")
    make = (lambda: bot) if folder.keeps else partial(_copied, given, bot)
    return BotSource(label_of(given), folder.version, folder.content, make)


def _copied(name: str, bot: Bot[Any, Any]) -> Bot[Any, Any]:
    """Return a copy of a bot for one match."""
    try:
        return deepcopy(bot)
    except Exception as error:
        raise ValueError(f"{name}: this bot cannot be copied for each match: {error}") from error


def _loaded(folder: Path, words: list[str]) -> Bot[Any, Any] | None:
    """Run a program with its arguments, and return the bot that it passes to `bots.kit.run`, or None.

    Later errors of the program are ignored, because at the referee the match would be over by then. Modules in its
    folder are removed from `sys.modules`, so that another bot does not import them by the same name.
    """
    found: list[Bot[Any, Any]] = []

    def take(bot: Any, *, view_type: Any = None, on_error: kit.OnError | None = None, **_: Any) -> None:
        player = bot if isinstance(bot, Bot) else FunctionBot(bot, view_type)
        if on_error is not None:
            player.on_error = on_error
        found.append(player)

    with _LOADING:
        run, path, argv, known = kit.run, sys.path[:], sys.argv, set(sys.modules)
        kit.run = take
        sys.argv = words
        sys.path.insert(0, str(folder))
        try:
            runpy.run_path(str(folder / words[0]), run_name="__main__")
        except (Exception, SystemExit):
            if not found:
                raise
        finally:
            kit.run, sys.path[:], sys.argv = run, path, argv
            for name in set(sys.modules) - known:
                if (getattr(sys.modules[name], "__file__", None) or "").startswith(f"{folder}/"):
                    del sys.modules[name]
    return found[0] if found else None


ValueT = TypeVar("ValueT")
Copy = Callable[[Any], Any]
_LEAVES = (str, int, float, bool, bytes, type(None))


def defensive_copy(value: ValueT) -> ValueT:
    """Return the Struct with a copy of every dict and list in it."""
    kind: Any = type(value)
    own: dict[str, Any] = {}
    for name, copy in _copies(kind):
        own[name] = copy(getattr(value, name))
    return replace(value, **own) if own else value  # type: ignore[type-var]


@cache
def _copies(kind: type[Any]) -> tuple[tuple[str, Copy], ...]:
    """Return the fields of a Struct that may contain mutable values, each with its copy function."""
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)  # noqa: S101 - views and events are
    return tuple((field.name, _copy_of(field.type)) for field in info.fields if _may_change(field.type, ()))


def _copy_of(info: msgspec.inspect.Type) -> Copy:
    """Return the copy function of a type; a dict of immutable values is copied in one step."""
    if isinstance(info, msgspec.inspect.DictType) and not _may_change(info.value_type, ()):
        return lambda value: value.copy() if isinstance(value, dict) else value  # The field may be unset.
    return _copied_any


def _copied_any(value: Any) -> Any:
    """Return a copy of a value of an unspecific type, such as `Any` or a union."""
    if isinstance(value, _LEAVES):
        return value
    if isinstance(value, Struct):
        return defensive_copy(value)
    if isinstance(value, dict):
        return {key: _copied_any(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(map(_copied_any, value))
    return value


def _may_change(info: msgspec.inspect.Type, within: tuple[type, ...]) -> bool:
    inspect = msgspec.inspect
    match info:
        case inspect.StructType(cls=kind, fields=fields):
            return kind not in within and any(_may_change(field.type, (*within, kind)) for field in fields)
        case inspect.UnionType(types=types) | inspect.TupleType(item_types=types):
            return any(_may_change(each, within) for each in types)
        case inspect.VarTupleType(item_type=item) | inspect.FrozenSetType(item_type=item):
            return _may_change(item, within)
        case inspect.DictType() | inspect.ListType() | inspect.SetType() | inspect.AnyType() | inspect.RawType():
            return True
        case _:
            return False


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
        self._owed: tuple[PendingSeat | None, bytes] = None, b""
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
        if isinstance(message, Opened):
            self._window = message.window
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

    def ask(self, table: Table, owed: PendingSeat, terms: ClockTerms) -> None:
        """Let the bot decide a window; its messages are added to `said`."""
        assert table.window is not None  # noqa: S101 - a window is open because the seat owes an action
        name, session = table.window.name, self._session
        view = table.game.view(table.state, self.seat)
        takes_it = type(view) is session.view_type
        own = defensive_copy(view) if takes_it else decode_json(encode(view))
        default = decode_json(self._default_of(owed))
        opened = Opened(self.windows, name, own, default, terms.main_ms[name], terms.reserve_ms)
        self._window = name
        self.windows += 1
        try:
            self._action = session.decide(opened, own if takes_it else convert(own, session.view_type))
            self._frame = encode(self._action)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stranger's method raises
            self._raised(error)

    def _default_of(self, owed: PendingSeat) -> bytes:
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
        return self._standing

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

    def close(self, taken: ResolvedAction, *, reserve_ms: int) -> None:
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
        self.gone, self._standing = True, None
        self.said.clear()
        self.notes.append(str(failed))
