"""The parts that an author writes: a `Bot` or a function, and the `Window` that it decides.

Annotations set the types into which the kit decodes views and events.
"""

from collections.abc import Callable
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from protocol.messages import ClientMessage, Closed, Opened, Rejected, Welcome
from protocol.words import Outcome

if TYPE_CHECKING:
    from bots.kit.session import Session

ViewT = TypeVar("ViewT")
EventT = TypeVar("EventT")
OnError = Literal["crash", "default"]
ROOM = "protocol.games."
"""Package of the games' words, with one module per game."""


def after(seconds: float) -> Callable[[], bool]:
    """Return a function that returns True after `seconds`, for `worlds_until` of `referee.games`."""
    end = monotonic() + seconds
    return lambda: monotonic() >= end


class Window(Generic[ViewT]):
    """An open window, passed to a bot's `decide`."""

    def __init__(self, opened: Opened, view: ViewT, match: Welcome, rng: Random, session: "Session") -> None:
        self.id = opened.id
        self.name = opened.window
        """The window's name in the game's vocabulary."""
        self.view = view
        """Everything that this seat may know now, as the annotated type or plain JSON values."""
        self.default: Any = opened.default
        """The action used if the bot submits none."""
        self.main_ms = opened.main_ms
        """Main time when the window opened, in milliseconds."""
        self.reserve_ms = opened.reserve_ms
        """Remaining reserve of the match, in milliseconds; 0 if this window may not use it."""
        self.deadline = monotonic() + opened.main_ms / 1000
        """End of main time, on `time.monotonic()`. A pause moves the referee's deadline, never this one."""
        self.match = match
        """The referee's welcome: seat, seats, variant, options, clock."""
        self.rng = rng
        """Random number generator of the bot, seeded by the referee."""
        self.submitted = False
        """True after the bot has submitted an action in this window."""
        self._session = session

    def left_ms(self) -> float:
        """Return the remaining main time in milliseconds; it is negative once the reserve runs."""
        return (self.deadline - monotonic()) * 1000

    def submit(self, action: Any, *, final: bool = False) -> None:
        """Submit an action now and continue to think. The action that `decide` returns replaces it."""
        self.submitted = True
        self._session.submit(self.id, action, final=final)

    def say(self, said: ClientMessage) -> None:
        """Send another message: an `Undo`, a `Pause` or a `Note` (all in `protocol.messages`)."""
        self._session.say(said)


class Bot(Generic[ViewT, EventT]):
    """A bot with a memory. Override the methods that you need; only `decide` is required.

    `class Mine(Bot[MistView, MistEvent])` sets the types of views and events. So do the annotations of `decide`
    and `event`. Without either they are plain JSON values.
    """

    view_type: Any = None
    """Type of views, if annotations do not set it; `Any` means plain JSON values."""
    event_type: Any = None
    """Type of events, if annotations do not set it; `Any` means plain JSON values."""
    on_error: OnError = "crash"
    """Behaviour when a method raises: the bot exits, or the kit prints the error and plays on.

    With `default`, a `decide` that raises counts as if it had returned None.
    """
    match: Welcome
    """The referee's welcome. Set before `welcome` is called."""
    rng: Random
    """Random number generator with the bot's own seed. Set before `welcome` is called."""

    def welcome(self) -> None:
        """Prepare for a match that starts, or continues after a restart; earlier events follow.

        A bot that plays more than one match must reset here everything it knows of the last one.
        """

    def event(self, event: EventT) -> None:
        """Handle an event that this seat learns of."""

    def decide(self, window: Window[ViewT]) -> Any:
        """Return the action for a window: a Struct of the game's words, or plain JSON values.

        None stands for the last action submitted in this window, or for its default if there is none. The bot's
        report counts such a default as a possible mistake: return `window.default` to choose it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not decide {window.name}")

    def rejected(self, rejected: Rejected) -> Any:
        """Return a replacement for an illegal last action of a window; the kit submits it once.

        None stands for the action accepted before it in this window, or the default; the kit logs this. The same
        applies if the replacement is illegal too.
        """

    def closed(self, closed: Closed) -> None:
        """Handle the end of a window; the message has the action used and the time charged."""

    def over(self, outcome: Outcome) -> None:
        """Handle the end of the match."""


class FunctionBot(Bot[Any, Any]):
    """A function as a bot; `run` wraps functions in it."""

    def __init__(self, decide: Callable[[Window[Any]], Any], view_type: Any = None) -> None:
        self.function = decide
        self.view_type = types_of_function(decide) if view_type is None else view_type
        self.event_type = Any

    def decide(self, window: Window[Any]) -> Any:
        """Return the function's action."""
        return self.function(window)


def types_of_bot(bot: Bot[Any, Any]) -> tuple[Any, Any]:
    """Return the types of a bot's views and events; `Any` (plain JSON values) if none is set.

    The bot's own `view_type` or `event_type` has precedence over the parameters of `Bot`, and these over the
    annotations of `decide` and `event`.

    Raises:
        SystemExit: an annotation is wrong; the text says where.
    """
    view, event = map(_plain, _subscripted(type(bot), ()))
    asked, told = bot.view_type, bot.event_type
    if asked is None:
        annotated = types_of_function(bot.decide)
        if Any not in (annotated, view) and isinstance(annotated, type) and annotated is not view:
            _refuse(bot.decide, f"its window has views of {annotated.__name__}, the class says {view.__name__}")
        asked = annotated if view is Any else view
    if told is None:
        told = _plain(_annotation(bot.event)) if event is Any else event
    return asked, told


def types_of_function(decide: Callable[..., Any]) -> Any:
    """Return the type of views from the annotation of `decide`; `Any` if there is none.

    Raises:
        SystemExit: the annotation is not `Window[...]`, or has an unknown name.
    """
    hint = _plain(_annotation(decide))
    if hint is Any or hint is Window:
        return Any
    if get_origin(hint) is not Window:
        name = getattr(hint, "__name__", hint)
        _refuse(decide, f"its window is annotated {name}; write Window[{name}]")
    return _plain(get_args(hint)[0])


def check_game(view: Any, game: str) -> None:
    """Raise SystemExit if the views' type belongs to another game than the match."""
    module = getattr(view, "__module__", "")
    if isinstance(view, type) and module.startswith(ROOM) and module != ROOM + game.replace("-", "_"):
        theirs = module.removeprefix(ROOM).replace("_", "-")
        raise SystemExit(f"the bot decodes views into {view.__name__}, of {theirs}; this match is {game}")


def _subscripted(kind: Any, given: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the class's arguments for the two parameters of `Bot`, its own or inherited ones."""
    if kind is Bot:
        return given if len(given) == 2 else (Any, Any)  # noqa: PLR2004 - view and event
    filled = dict(zip(getattr(kind, "__parameters__", ()), given, strict=False))
    bases: tuple[Any, ...] = kind.__dict__.get("__orig_bases__", kind.__bases__)
    for one in bases:
        origin: Any = get_origin(one) or one
        if isinstance(origin, type) and issubclass(origin, Bot):
            return _subscripted(origin, tuple(filled.get(each, each) for each in get_args(one)))
    return Any, Any


def _plain(hint: Any) -> Any:
    """Return an annotation; `Any` for one without a particular type."""
    return Any if hint is object or isinstance(hint, TypeVar) else hint


def _annotation(function: Callable[..., Any]) -> Any:
    """Return the annotation of the first parameter after `self`; `Any` if there is none."""
    function = getattr(function, "__wrapped__", function)
    code, hints = getattr(function, "__code__", None), getattr(function, "__annotations__", {})
    at = int(hasattr(function, "__self__"))
    if code is None or code.co_argcount <= at:
        return Any
    hint = hints.get(code.co_varnames[at], Any)
    if not isinstance(hint, str):
        return hint

    def only() -> None:
        """Hold this one annotation; others may use names that are imported for type checkers only."""

    only.__annotations__ = {"it": hint}
    try:
        return get_type_hints(only, function.__globals__)["it"]
    except (NameError, SyntaxError, TypeError, AttributeError) as error:
        _refuse(function, f"its annotation {hint[:100]!r} is not understood: {error}")


def _refuse(function: Callable[..., Any], text: str) -> Any:
    code = function.__code__
    raise SystemExit(f"{code.co_filename}:{code.co_firstlineno}: {function.__name__}: {text}")
