"""A person's actions in a game's own words: typed, shown, and asked for. Any game takes JSON as well."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from arena.live.text_input import fight_for_a_name, hive_mind, mist, pointing, runes_to_ruins
from arena.live.text_input.parse_error import ParseError
from protocol.codec import decode_json, encode
from protocol.words import View


class Spoken(Struct, frozen=True):
    """How one game is spoken."""

    read: Callable[[str, str], dict[str, Any]]
    """(window's name, what was typed) to an action; raises Unclear. Whether it is legal is for the referee."""
    ask: Callable[[str, View], str]
    """(window's name, view) to what may be typed."""
    say: Callable[[dict[str, Any]], str]
    """An action, in canonical spelling, to how it could have been typed."""


def read(game: str, window: str, text: str) -> Any:
    """The action that was typed: in the game's words, or as a JSON object.

    Raises:
        Unclear: it is neither.
    """
    if text.startswith("{") or game not in SPOKEN:
        try:
            return decode_json(text.encode(errors="replace"))
        except msgspec.MsgspecError as error:
            raise ParseError(f"that is no JSON: {error}") from None
    return SPOKEN[game].read(window, text)


def ask(game: str, window: str, view: View) -> str:
    """What may be typed in this window."""
    return SPOKEN[game].ask(window, view) if game in SPOKEN else "type the action as JSON"


def say(game: str, action: Any) -> str:
    """An action as it could have been typed."""
    return SPOKEN[game].say(action) if game in SPOKEN else encode(action).decode()


SPOKEN = {
    "mist": Spoken(mist.read, mist.ask, mist.say),
    "fight-for-a-name": Spoken(fight_for_a_name.read, fight_for_a_name.ask, fight_for_a_name.say),
    "hive-mind": Spoken(hive_mind.read, hive_mind.ask, hive_mind.say),
    "pointing": Spoken(pointing.read, pointing.ask, pointing.say),
    "runes-to-ruins": Spoken(runes_to_ruins.read, runes_to_ruins.ask, runes_to_ruins.say),
}
