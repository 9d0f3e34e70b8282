"""Games in one minute: what each game tells people who have never seen it, in its file `minute.toml`."""

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from protocol.games import GameLoadError, entry_of

MOST_PICTURES = 6
MOST_KEPT = 64
"""Size of the cache, because a client may name any game."""


class Position(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A position of a real match, as a picture."""

    caption: str
    names: tuple[str, ...]
    """Names of the players, indexed by seat."""
    eyes: str
    """Viewpoint: `host`, `spectator`, or the number of a seat."""
    view: str
    """The view as JSON."""
    before: str | None = None
    """The view one step before, as JSON, if the picture shows what has changed."""


class Minute(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file `minute.toml` of a game."""

    title: str
    """Name of the game, for people."""
    tagline: str
    """Description of the game, in one sentence."""
    players: str
    """Number of players, and duration of a match."""
    wins: str
    """Goal of the game, in one or two sentences."""
    hidden: str
    """Hidden information, in one or two sentences."""
    text: str
    """Rules in short, in Markdown: about two hundred words."""
    tasks: dict[str, str] = {}
    """What a person is to do in each window, in one sentence, by the window's name."""
    pictures: Annotated[tuple[Position, ...], Meta(max_length=MOST_PICTURES)] = ()


def game_title(game: str) -> str:
    """Return the name of a game for people; that of a game without a minute is its own."""
    minute = minute_of(game)
    return game if minute is None else minute.title


@lru_cache(MOST_KEPT)
def minute_of(game: str) -> Minute | None:
    """Return a game's minute; None if there is none, or if that of another package cannot be read."""
    try:
        place = getattr(entry_of(game), "minute", None)
        if place is None:
            return None
        package, _, name = place.partition(":")
        text = files(package).joinpath(name).read_text(encoding="utf-8")
        return msgspec.convert(tomllib.loads(text), Minute)
    except (GameLoadError, LookupError, ImportError, OSError, ValueError):
        return None
