"""What a bot's annotations say of its views and events: the types that the kit decodes them into."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

ROOM = "protocol.games."
"""Where each game's words are, in a module named as the game."""


def types_of_bot(bot: Any, base: type, window: type) -> tuple[Any, Any]:
    """The types of a bot's views and events. `Any` where nothing says one: plain JSON values.

    First counts the bot's own `view_type` or `event_type`, then what `base` is subscripted with, then the
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
    """The view's type, by the annotation of the window; `Any` where there is none.

    Raises:
        SystemExit: the annotation is no `Window[...]`, or names what is not there.
    """
    hint = _plain(_annotation(decide))
    if hint is Any or hint is window:
        return Any
    if get_origin(hint) is not window:
        name = getattr(hint, "__name__", hint)
        _refuse(decide, f"its window is annotated {name}; write Window[{name}]")
    return _plain(get_args(hint)[0])


def check_game(view: Any, game: str) -> None:
    """Raises SystemExit where views are decoded into the words of another game than the one that begins."""
    module = getattr(view, "__module__", "")
    if isinstance(view, type) and module.startswith(ROOM) and module != ROOM + game.replace("-", "_"):
        theirs = module.removeprefix(ROOM).replace("_", "-")
        raise SystemExit(f"the bot decodes views into {view.__name__}, of {theirs}; this match is {game}")


def _subscripted(kind: Any, base: type, given: tuple[Any, ...]) -> tuple[Any, Any]:
    """What a class puts for the two parameters of `base`, itself or by what it derives from."""
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
    """An annotation, where it asks for no type in particular: `Any`."""
    return Any if hint is object or isinstance(hint, TypeVar) else hint


def _annotation(function: Callable[..., Any]) -> Any:
    """The annotation of the first parameter, `self` not counted; `Any` where there is none."""
    function = getattr(function, "__wrapped__", function)
    code, hints = getattr(function, "__code__", None), getattr(function, "__annotations__", {})
    at = int(hasattr(function, "__self__"))
    if code is None or code.co_argcount <= at:
        return Any
    hint = hints.get(code.co_varnames[at], Any)
    if not isinstance(hint, str):
        return hint

    def only() -> None:
        """Has this one annotation: others may name what is imported for the type checker only."""

    only.__annotations__ = {"it": hint}
    try:
        return get_type_hints(only, function.__globals__)["it"]
    except (NameError, SyntaxError, TypeError, AttributeError) as error:
        _refuse(function, f"its annotation {hint[:100]!r} is not understood: {error}")


def _refuse(function: Callable[..., Any], text: str) -> Any:
    code = function.__code__
    raise SystemExit(f"{code.co_filename}:{code.co_firstlineno}: {function.__name__}: {text}")
