"""Each game in text: its rules in one page, drawings of views and events, and the notation of actions.

People at `console` and language models read and type the same. A game without text uses JSON for both.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from protocol.codec import Refused, decode_action, decode_json, encode
from protocol.games import fight_for_a_name as fight
from protocol.games import hive_mind as hive
from protocol.games import mist as mist_words
from protocol.games import pointing as pointing_words
from protocol.games import runes_to_ruins as runes
from protocol.text import drawing, rules
from protocol.text import input as typed
from protocol.text.parsing import Example, ParseError, Terms
from protocol.text.picture import Picture
from protocol.words import Action, Event, View

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


class Board(Protocol):
    """Draws a view and the events just before it; `plain` for ASCII only.

    `told`: all events of the viewer so far, for boards that show remembered pieces.
    """

    def __call__(  # noqa: D102 - see the class
        self, view: View, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()
    ) -> Picture: ...


class Drawing(Struct, frozen=True):
    """Drawings of one game for people."""

    board: Board
    words: Callable[[Event], str]
    """Returns a short text for an event."""


class GameText(Struct, frozen=True, kw_only=True):
    """One game in text."""

    read: Callable[[str, str], dict[str, Any]]
    """(window's name, typed text) to an action of the window's form, or `ParseError`. The rules judge it."""
    ask: Callable[[str, View], str]
    """(window's name, view) to the text that may be typed, in one line."""
    say: Callable[[dict[str, Any]], str]
    """Action in canonical spelling to its notation."""
    words: Callable[[str, View], tuple[str, ...]]
    """(window's name, view) to words for completion."""
    forms: Callable[[Terms], Mapping[str, tuple[Example, ...]]]
    """Each window that may open for this seat to the forms of its actions, with words in capitals to fill in."""
    examples: Callable[[str, View], tuple[Example, ...]]
    """(window's name, view) to complete examples, each legal now."""
    if_nothing: Callable[[str, dict[str, Any] | None], str]
    """(window's name, its default) to the effect on a seat that submits nothing, as a clause."""
    actions: Mapping[str, type[Action]]
    """Window to the form of its action in JSON."""
    view: type[View]
    """Type of a seat's views."""
    event: Any
    """Type of a seat's events: a union."""
    drawing: Drawing
    rules: Callable[[str], str]
    """(variant) to the rules in one page."""
    fields: Callable[[Terms], Mapping[str, str]]
    """Each field of a view that is shown to models to its meaning."""


def read(game: str, window: str, text: str) -> Any:
    """Parse a typed action, in the game's notation or as a JSON object of the window's form.

    Raises:
        ParseError: it is neither.
    """
    if game in GAME_TEXTS and not text.startswith("{"):
        return GAME_TEXTS[game].read(window, text)
    try:
        raw = text.encode(errors="replace")
        action = decode_json(raw)
        if game in GAME_TEXTS:
            decode_action(raw, GAME_TEXTS[game].actions[window])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ParseError(f"this is not JSON: {_plain(str(error))}") from None
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


def ask(game: str, window: str, view: View) -> str:
    """Return the text that may be typed in this window."""
    return GAME_TEXTS[game].ask(window, view) if game in GAME_TEXTS else "type the action as JSON"


def say(game: str, action: Any) -> str:
    """Return an action in the notation in which it is typed."""
    return GAME_TEXTS[game].say(action) if game in GAME_TEXTS else encode(action).decode()


def say_default(game: str, window: str, action: Any) -> str:
    """Return the effect on a seat that submits nothing.

    `action`: the window's default, or None if it is not known.
    """
    said = "" if action is None else say(game, action)
    if said and said not in NOTHING:
        return said
    happens = GAME_TEXTS[game].if_nothing(window, action) if game in GAME_TEXTS else ""
    if said and happens:
        return f"{said} ({happens})"
    return said or happens or "nothing, or what is drawn when the window closes"


def if_nothing(game: str, window: str, action: Any) -> str:
    """Return a sentence on the effect of submitting nothing. `action`: the default, or None."""
    if game in GAME_TEXTS:
        return f"If you submit nothing, {GAME_TEXTS[game].if_nothing(window, action)}."
    return f"If you submit nothing, this is taken: {say_default(game, window, action)}"


def words(game: str, window: str, view: View) -> tuple[str, ...]:
    """Return words for completion in this window."""
    return GAME_TEXTS[game].words(window, view) if game in GAME_TEXTS else ()


def explain(game: str, terms: Terms) -> str:
    """Return the notation for each window that may open for this seat."""
    if game not in GAME_TEXTS:
        return "In this game an action is typed as JSON."
    lines = []
    for window, forms in GAME_TEXTS[game].forms(terms).items():
        lines += [f"in the window {window}:", *listed(forms)]
    return "\n".join([*lines, "capital and small letters are the same; JSON is read, too"])


def listed(examples: Iterable[Example]) -> Iterator[str]:
    """Yield forms or examples as lines, each with its meaning."""
    for each, meaning in examples:
        gap = "  " if len(each) <= MEANING_AT else f"\n  {'':{MEANING_AT}}  "
        yield f"  {each:{MEANING_AT}}{gap}{meaning}".rstrip()


def examples(game: str, window: str, view: View) -> tuple[Example, ...]:
    """Return complete examples for this window, each with its meaning."""
    return GAME_TEXTS[game].examples(window, view) if game in GAME_TEXTS else ()


def _json_board(view: View, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()) -> Picture:
    """Draw any game's view as JSON."""
    del events, plain, told
    return Picture(msgspec.json.format(encode(view), indent=2).decode())


def _json_words(event: Event) -> str:
    return encode(event).decode()


def drawing_of(game: str) -> Drawing:
    """Return a game's drawings."""
    return GAME_TEXTS[game].drawing if game in GAME_TEXTS else AS_JSON


AS_JSON = Drawing(_json_board, _json_words)


def _game_text(name: str, actions: dict[str, type[Action]], view: type[View], event: Any) -> GameText:
    """Build a game's text from its modules in three folders."""
    entry, drawn = getattr(typed, name), getattr(drawing, name)
    return GameText(
        read=entry.read,
        ask=entry.ask,
        say=entry.say,
        words=entry.words,
        forms=entry.forms,
        examples=entry.examples,
        if_nothing=entry.if_nothing,
        actions=actions,
        view=view,
        event=event,
        drawing=Drawing(drawn.board, drawn.words),
        rules=getattr(rules, name).page,
        fields=getattr(rules, name).fields,
    )


GAME_TEXTS = {
    "mist": _game_text(
        "mist",
        {"first": mist_words.ChooseFirst, "turn": mist_words.Turn},
        mist_words.MistView,
        mist_words.MistEvent,
    ),
    "fight-for-a-name": _game_text(
        "fight_for_a_name",
        {
            "challenge": fight.Pick,
            "move": fight.Move,
            "pillar": fight.Ask,
            **dict.fromkeys(("token_vote", "elimination_vote", "justice"), fight.Vote),
        },
        fight.FightView,
        fight.FightEvent,
    ),
    "hive-mind": _game_text(
        "hive_mind",
        {
            "round": hive.Round,
            "scores": hive.Scores,
            "give_token": hive.GiveToken,
            "break_tie": hive.BreakTie,
        },
        hive.HiveMindView,
        hive.HiveMindEvent,
    ),
    "pointing": _game_text(
        "pointing",
        {"point": pointing_words.Point, "vote": pointing_words.Vote},
        pointing_words.PointingView,
        pointing_words.PointingEvent,
    ),
    "runes-to-ruins": _game_text(
        "runes_to_ruins",
        {"symbol": runes.ChooseSymbol, "round": runes.PlayRound},
        runes.RunesView,
        runes.RunesEvent,
    ),
}
