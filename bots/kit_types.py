"""Types of a bot's views and events, read from its annotations, into which the kit decodes them."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

ROOM = "protocol.games."
"""Package of the games' words, with one module per game."""


def types_of_bot(bot: Any, base: type, window: type) -> tuple[Any, Any]:
    """Return the types of a bot's views and events; `Any` (plain JSON values) if none is set.

    The bot's own `view_type` or `event_type` has precedence over the parameters of `base`, and these over the
    annotations of `decide` and `event`. `window` is the class of windows.

    Raises:
        SystemExit: an annotation is wrong; the text says where.
    """
    view, event = map(_plain, _subscripted(type(bot), base, ()))
    asked, told = bot.view_type, bot.event_type
    if asked is None:
        annotated = types_of_function(bot.decide, window)
        if Any not in (annotated, view) and isinstance(annotated, type) and annotated is not view:
            _refuse(bot.decide, f"its window has views of {annotated.__name__}, the class says {view.__name__}")
        asked = annotated if view is Any else view
    if told is None:
        told = _plain(_annotation(bot.event)) if event is Any else event
    return asked, told


def types_of_function(decide: Callable[..., Any], window: type) -> Any:
    """Return the type of views from the annotation of `decide`; `Any` if there is none.

    Raises:
        SystemExit: the annotation is not `Window[...]`, or has an unknown name.
    """
    hint = _plain(_annotation(decide))
    if hint is Any or hint is window:
        return Any
    if get_origin(hint) is not window:
        name = getattr(hint, "__name__", hint)
        _refuse(decide, f"its window is annotated {name}; write Window[{name}]")
    return _plain(get_args(hint)[0])


def check_game(view: Any, game: str) -> None:
    """Raise SystemExit if the views' type belongs to another game than the match."""
    module = getattr(view, "__module__", "")
    if isinstance(view, type) and module.startswith(ROOM) and module != ROOM + game.replace("-", "_"):
        theirs = module.removeprefix(ROOM).replace("_", "-")
        raise SystemExit(f"the bot decodes views into {view.__name__}, of {theirs}; this match is {game}")


def _subscripted(kind: Any, base: type, given: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the class's arguments for the two parameters of `base`, its own or inherited ones."""
    if kind is base:
        return given if len(given) == 2 else (Any, Any)  # noqa: PLR2004 - view and event
    filled = dict(zip(getattr(kind, "__parameters__", ()), given, strict=False))
    bases: tuple[Any, ...] = kind.__dict__.get("__orig_bases__", kind.__bases__)
    for one in bases:
        origin: Any = get_origin(one) or one
        if isinstance(origin, type) and issubclass(origin, base):
            return _subscripted(origin, base, tuple(filled.get(each, each) for each in get_args(one)))
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
