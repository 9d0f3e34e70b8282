"""A person's actions in a game's own words: typed, shown, and asked for. Any game takes JSON as well."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from arena.live.text_input import ParseError, fight_for_a_name, hive_mind, mist, pointing, runes_to_ruins
from protocol.codec import decode_json, encode
from protocol.words import View


class TextInput(Struct, frozen=True):
    """How a person types and reads one game's actions."""

    read: Callable[[str, str], dict[str, Any]]
    """(window's name, what was typed) to an action; raises `ParseError`. The referee judges it."""
    ask: Callable[[str, View], str]
    """(window's name, view) to what may be typed."""
    say: Callable[[dict[str, Any]], str]
    """An action, in canonical spelling, to how it could have been typed."""


def read(game: str, window: str, text: str) -> Any:
    """The action that was typed: in the game's words, or as a JSON object.

    Raises:
        ParseError: it is neither.
    """
    if text.startswith("{") or game not in TEXT_INPUTS:
        try:
            return decode_json(text.encode(errors="replace"))
        except msgspec.MsgspecError as error:
            raise ParseError(f"that is no JSON: {error}") from None
    return TEXT_INPUTS[game].read(window, text)


def ask(game: str, window: str, view: View) -> str:
    """What may be typed in this window."""
    return TEXT_INPUTS[game].ask(window, view) if game in TEXT_INPUTS else "type the action as JSON"


def say(game: str, action: Any) -> str:
    """An action as it could have been typed."""
    return TEXT_INPUTS[game].say(action) if game in TEXT_INPUTS else encode(action).decode()


TEXT_INPUTS = {
    "mist": TextInput(mist.read, mist.ask, mist.say),
    "fight-for-a-name": TextInput(fight_for_a_name.read, fight_for_a_name.ask, fight_for_a_name.say),
    "hive-mind": TextInput(hive_mind.read, hive_mind.ask, hive_mind.say),
    "pointing": TextInput(pointing.read, pointing.ask, pointing.say),
    "runes-to-ruins": TextInput(runes_to_ruins.read, runes_to_ruins.ask, runes_to_ruins.say),
}
