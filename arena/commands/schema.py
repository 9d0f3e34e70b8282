"""`arena schema`: the reference for bots in other languages, made from the Structs themselves."""

import sys
from collections.abc import Iterator
from typing import Any, Union

import click
import msgspec

from protocol.feed import FeedMessage
from protocol.messages import PROTOCOL, ClientMessage, ServerMessage
from referee.games import GAMES
from referee.rules import Game


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the protocol and of all games' words.

    `says` has client messages, `hears` server messages, and `feed` the messages of the live feed. `games` has, for
    each game, the action of each window, the events, the view, the options and the host's setup.
    """
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(schema()), indent=2) + b"\n")


def schema() -> dict[str, Any]:
    """One JSON Schema document with every word under `$defs`."""
    forms = [
        ClientMessage,
        ServerMessage,
        FeedMessage,
        *(form for game in GAMES.values() for form in _forms(game)),
    ]
    schemas, words = msgspec.json.schema_components(forms, ref_template="#/$defs/{name}")
    given = iter(schemas)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Arena protocol {PROTOCOL}",
        "says": next(given),
        "hears": next(given),
        "feed": next(given),
        "games": {name: _words_of(game, given) for name, game in GAMES.items()},
        "$defs": words,
    }


def _forms(game: Game[Any]) -> list[Any]:
    """One game's words, in the order in which `_words_of` asks for them."""
    return [
        *game.actions.values(),
        Union[game.events],  # noqa: UP007 - a tuple known at run time only
        game.view_type,
        game.options,
        game.setup,
    ]


def _words_of(game: Game[Any], given: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Where one game's words are: taken from `given` in order, as names may be spelled out to tell games apart."""
    return {
        "variants": [variant.name for variant in game.variants],
        "actions": {window: next(given) for window in game.actions},
        "events": next(given),
        "view": next(given),
        "options": next(given),
        "setup": next(given),
    }
