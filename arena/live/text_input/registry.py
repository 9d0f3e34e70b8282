"""A person's actions in a game's own words: typed, shown, and asked for. Any game takes JSON as well."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from arena.live.text_input import (
    ParseError,
    fight_for_a_name,
    hive_mind,
    mist,
    pointing,
    runes_to_ruins,
)
from protocol.codec import Refused, decode_action, decode_json, encode
from protocol.words import View
from referee.games import GAMES

Example = tuple[str, str]
"""What may be typed, and what it means."""
NOTHING = ("none", "stay", "nobody")
"""How a default is typed that is to do nothing."""
MEANING_AT = 38
"""Column of an example's meaning, where the example is not longer than that."""
TYPES = {
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
"""JSON's types as a decoder names them, and in words."""


class TextInput(Struct, frozen=True):
    """How a person types and reads one game's actions."""

    read: Callable[[str, str], dict[str, Any]]
    """(window's name, what was typed) to an action of the window's form, or `ParseError`. The rules judge it."""
    ask: Callable[[str, View], str]
    """(window's name, view) to what may be typed, in one line."""
    say: Callable[[dict[str, Any]], str]
    """An action, in canonical spelling, to how it could have been typed."""
    words: Callable[[str, View], tuple[str, ...]]
    """(window's name, view) to words that what is typed may be made of."""
    examples: Mapping[str, tuple[Example, ...]]
    """By window, in the form that is asked for there."""
    defaults: Mapping[str, str]
    """By window: what happens to those who submit nothing, where that is no action, or one that does nothing."""


def read(game: str, window: str, text: str) -> Any:
    """The action that was typed: in the game's words, or as a JSON object. It has the window's form.

    Raises:
        ParseError: it is neither.
    """
    if game in TEXT_INPUTS and not text.startswith("{"):
        return TEXT_INPUTS[game].read(window, text)
    try:
        raw = text.encode(errors="replace")
        action = decode_json(raw)
        decode_action(raw, GAMES[game].actions[window])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ParseError(f"this is no JSON: {_plain(str(error))}") from None
    except Refused as refused:
        raise ParseError(f"this is no action of the window {window}: {_plain(refused.text)}") from None
    return action


def _plain(complaint: str) -> str:
    """A decoder's complaint, for people."""
    what, _, path = complaint.partition(" - at ")
    place = " ".join(re.findall(r"\w+", path.replace("`key` in", "a key of")))
    what = re.sub(r"Invalid enum value (.*)", r"\1 is not known there", what)
    for name, words in TYPES.items():
        what = what.replace(f"`{name}`", words)
    what = what[:1].lower() + what[1:].replace("`", "")
    return f"{place}: {what}" if place else what


def ask(game: str, window: str, view: View) -> str:
    """What may be typed in this window."""
    return TEXT_INPUTS[game].ask(window, view) if game in TEXT_INPUTS else "type the action as JSON"


def say(game: str, action: Any) -> str:
    """An action as it could have been typed."""
    return TEXT_INPUTS[game].say(action) if game in TEXT_INPUTS else encode(action).decode()


def say_default(game: str, window: str, action: Any) -> str:
    """What happens to a seat that submits nothing. `action`: the window's default, None where none is told."""
    said = "" if action is None else say(game, action)
    if said and said not in NOTHING:
        return said
    happens = TEXT_INPUTS[game].defaults.get(window, "") if game in TEXT_INPUTS else ""
    if said and happens:
        return f"{said} ({happens})"
    return said or happens or "nothing, or what is drawn when the window closes"


def words(game: str, window: str, view: View) -> tuple[str, ...]:
    """Words that what is typed in this window may be made of."""
    return TEXT_INPUTS[game].words(window, view) if game in TEXT_INPUTS else ()


def explain(game: str) -> str:
    """What may be typed in each of the game's windows, with examples."""
    if game not in TEXT_INPUTS:
        return "In this game an action is typed as JSON."
    lines = []
    for window, examples in TEXT_INPUTS[game].examples.items():
        lines.append(f"in the window {window}:")
        for typed, meaning in examples:
            gap = "  " if len(typed) <= MEANING_AT else f"\n  {'':{MEANING_AT}}  "
            lines.append(f"  {typed:{MEANING_AT}}{gap}{meaning}")
    return "\n".join([*lines, "capital and small letters are the same; JSON is read, too"])


TEXT_INPUTS = {
    name: TextInput(module.read, module.ask, module.say, module.words, module.EXAMPLES, module.DEFAULTS)
    for name, module in {
        "mist": mist,
        "fight-for-a-name": fight_for_a_name,
        "hive-mind": hive_mind,
        "pointing": pointing,
        "runes-to-ruins": runes_to_ruins,
    }.items()
}
