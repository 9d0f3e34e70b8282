"""Each game in text: its rules in one page, drawings of views and events, and the notation of actions.

People at `console` and language models read and type the same. A game without text uses JSON for both. Parsers of
typed words serve all games; case does not matter.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from protocol.codec import Refused, decode_action, decode_json, encode
from protocol.games.listing import Parts
from protocol.text.drawing import Picture
from protocol.words import Action, Event, View

QUOTED_CHARACTERS = 20
Example = tuple[str, str]
"""A text to type, or its form with words in capitals to fill in; and its meaning."""
NOTHING = ("none", "stay", "nobody")
"""Notations of a default action that does nothing."""
MEANING_AT = 38
"""Column of an example's meaning, unless the example is longer."""
TYPES = {
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
"""JSON types as a decoder names them, to plain words."""


class InputTerms(Struct, frozen=True):
    """A match's terms and the seat, which determine the windows and the forms of actions."""

    variant: str
    options: Mapping[str, Any]
    """Options as in `welcome`; a missing one has its default."""
    seat: int


class ParseError(Exception):
    """The typed text is no action. The message describes the expected text."""


def quoted(word: str) -> str:
    """Return a typed word in a form that is safe to show."""
    return (
        word
        if word.isascii() and word.isalnum() and len(word) <= QUOTED_CHARACTERS
        else repr(word[:QUOTED_CHARACTERS])
    )


def name(word: str, names: Iterable[str], what: str) -> str:
    """Return a typed name in its canonical spelling. `what` describes it, with an article: `a title`.

    Raises:
        ParseError: it is not one of `names`.
    """
    known = {each.casefold(): each for each in names}
    if word.casefold() in known:
        return known[word.casefold()]
    raise ParseError(f"{quoted(word)} is not {what}: {', '.join(known.values())}")


def number(word: str, low: int, high: int, what: str) -> int:
    """Return a typed whole number. `what` describes it, with an article: `a seat`.

    Raises:
        ParseError: it is not from `low` to `high`.
    """
    digits = word.removeprefix("-")
    if digits.isascii() and digits.isdecimal() and len(digits) <= QUOTED_CHARACTERS and low <= int(word) <= high:
        return int(word)
    raise ParseError(f"{quoted(word)} is not {what}: {low} to {high}")


class Board(Protocol):
    """Draws a view and the events just before it; `plain` for ASCII only.

    `told`: all events of the viewer so far, for boards that show remembered pieces.
    """

    def __call__(  # noqa: D102 - see the class
        self, view: Any, events: Sequence[Any], *, plain: bool, told: Sequence[Any] = ()
    ) -> Picture: ...


class Drawing(Struct, frozen=True):
    """Drawings of one game for people."""

    board: Board
    words: Callable[[Any], str]
    """Returns a short text for an event."""


def _json_board(view: View, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()) -> Picture:
    """Draw any game's view as JSON."""
    del events, plain, told
    return Picture(msgspec.json.format(encode(view), indent=2).decode())


def _json_words(event: Event) -> str:
    return encode(event).decode()


AS_JSON = Drawing(_json_board, _json_words)


def _read_json(window: str, text: str) -> Any:
    """Parse an action typed as JSON."""
    del window
    try:
        return decode_json(text.encode(errors="replace"))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ParseError(f"this is not JSON: {_plain(str(error))}") from None


def _ask_for_json(window: str, view: View) -> str:
    del window, view
    return "type the action as JSON"


def _say_json(action: Any) -> str:
    return encode(action).decode()


def _no_texts(*_: object) -> tuple[()]:
    return ()


def _no_text(*_: object) -> str:
    return ""


def _no_entries(_: InputTerms) -> dict[str, Any]:
    return {}


class GameText(Struct, frozen=True, kw_only=True):
    """One game in text. What a game leaves out is JSON."""

    actions: Mapping[str, type[Action]] = {}
    """Form of each window's action in JSON; keyed by window name."""
    view: type[View] = View
    """Type of a seat's views."""
    event: Any = Event
    """Type of a seat's events: a union."""
    drawing: Drawing = AS_JSON
    read: Callable[[str, str], Any] = _read_json
    """(window's name, typed text) to an action of the window's form, or `ParseError`. The rules judge it."""
    ask: Callable[[str, Any], str] = _ask_for_json
    """(window's name, view) to the text that may be typed, in one line."""
    say: Callable[[Any], str] = _say_json
    """Action in canonical spelling to its notation."""
    words: Callable[[str, Any], tuple[str, ...]] = _no_texts
    """(window's name, view) to words for completion."""
    forms: Callable[[InputTerms], Mapping[str, tuple[Example, ...]]] = _no_entries
    """Each window that may open for this seat to the forms of its actions, with words in capitals to fill in."""
    examples: Callable[[str, Any], tuple[Example, ...]] = _no_texts
    """(window's name, view) to complete examples, each legal now."""
    effect: Callable[[str, Any, Any], str] = _no_text
    """(window's name, view, action in canonical spelling) to what the seat does by it, as a clause that may begin
    with `you`; "" if unknown."""
    if_nothing: Callable[[str, Any], str] = _no_text
    """(window's name, its default) to the effect on a seat that submits nothing, as a clause; "" if unknown."""
    rules: Callable[[str], str] = _no_text
    """(variant) to the rules in one page; "" if there is none."""
    fields: Callable[[InputTerms], Mapping[str, str]] = _no_entries
    """Each field of a view that is shown to models to its meaning."""


GAME_TEXTS: Parts[GameText] = Parts("text", expected=GameText)
"""The text of each game that has one."""
_ALL_JSON = GameText()


def text_of(game: str) -> GameText:
    """Return a game's text; JSON if the game has none."""
    return GAME_TEXTS.get(game, _ALL_JSON)


def read(game: str, window: str, text: str) -> Any:
    """Parse a typed action, in the game's notation or as a JSON object of the window's form.

    Raises:
        ParseError: it is neither.
    """
    game_text = text_of(game)
    if not text.startswith("{"):
        return game_text.read(window, text)
    action = _read_json(window, text)
    if window in game_text.actions:
        try:
            decode_action(text.encode(errors="replace"), game_text.actions[window])
        except Refused as refused:
            raise ParseError(f"this is not an action of the window {window}: {_plain(refused.text)}") from None
    return action


def _plain(complaint: str) -> str:
    """Return a decoder's message in plain words. It may quote the typed text."""
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in complaint)
    what, _, path = shown.partition(" - at ")
    place = " ".join(re.findall(r"\w+", path.replace("`key` in", "a key of")))
    what = re.sub(r"Invalid enum value (.*)", r"\1 is not known there", what)
    for name, words in TYPES.items():
        what = what.replace(f"`{name}`", words)
    what = what[:1].lower() + what[1:].replace("`", "")
    return f"{place}: {what}" if place else what


def say(game: str, action: Any) -> str:
    """Return an action in the notation in which it is typed."""
    return text_of(game).say(action)


def say_default(game: str, window: str, action: Any) -> str:
    """Return the effect on a seat that submits nothing.

    `action`: the window's default, or None if it is not known.
    """
    said = "" if action is None else say(game, action)
    if said and said not in NOTHING:
        return said
    happens = text_of(game).if_nothing(window, action)
    if said and happens:
        return f"{said} ({happens})"
    return said or happens or "nothing, or what is drawn when the window closes"


def if_nothing(game: str, window: str, action: Any) -> str:
    """Return a sentence on the effect of submitting nothing. `action`: the default, or None."""
    happens = text_of(game).if_nothing(window, action)
    if happens:
        return f"If you submit nothing, {happens}."
    return f"If you submit nothing, this is taken: {say_default(game, window, action)}"


def explain(game: str, terms: InputTerms) -> str:
    """Return the notation for each window that may open for this seat."""
    all_forms = text_of(game).forms(terms)
    if not all_forms:
        return "In this game an action is typed as JSON."
    lines = []
    for window, forms in all_forms.items():
        lines += [f"in the window {window}:", *listed(forms)]
    return "\n".join([*lines, "capital and small letters are the same; JSON is read, too"])


def listed(examples: Iterable[Example]) -> Iterator[str]:
    """Yield forms or examples as lines, each with its meaning."""
    for each, meaning in examples:
        gap = "  " if len(each) <= MEANING_AT else f"\n  {'':{MEANING_AT}}  "
        yield f"  {each:{MEANING_AT}}{gap}{meaning}".rstrip()


def drawing_of(game: str) -> Drawing:
    """Return a game's drawings."""
    return text_of(game).drawing
