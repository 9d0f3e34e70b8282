"""The order of a practice match: its game, its seats and its times, as a visitor of the site chooses them.

Orders come from strangers: everything is bounded, and checked against what there is.
"""

import secrets
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Literal

from msgspec import Meta, Struct

from arena.live import numbered_names
from protocol.games import GameLoadError
from referee.bot_folder import BUILT_IN, FILE, NEEDING_NETWORK, built_in
from referee.display_text import cut, printable
from referee.games import GAMES
from referee.rules import AnyGame

Pace = Literal["rules", "slow"]
PACES: dict[Pace, str] = {
    "rules": "the times of the game's rules",
    "slow": "no hurry: ten minutes for each decision",
}
"""The times that a visitor may choose, and their titles."""
SLOW_MS = 600_000
"""Milliseconds of each window at the slow pace."""
ME, FRIEND, ANY = "me", "friend", "any"
"""Names of seats in an order: the visitor's own, one that is given away by a link, and any seat."""
MOST_SEATS = 16
MOST_NAME = 40
"""Longest name of a person, in characters."""
ONLY_WITH_OTHERS = frozenset({"any_random"})
"""The random bot for any game, which is offered only where no other sample bot plays."""
Short = Annotated[str, Meta(max_length=60)]


class OrderError(ValueError):
    """An order is wrong. The text says why, for the visitor."""


class Order(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A practice match as a visitor orders it."""

    game: Short
    variant: Short = ""
    """"" is the game's default."""
    pace: Pace = "rules"
    seats: Annotated[tuple[Short, ...], Meta(max_length=MOST_SEATS)] = ()
    """`me`, `friend` or a sample bot, indexed by seat; empty: any seat against the default opponents."""
    name: Annotated[str, Meta(max_length=MOST_NAME)] = ""
    """The visitor's name for the others; "" if none was given."""


class Terms(Struct, frozen=True, kw_only=True):
    """A practice match that can be played."""

    game: str
    variant: str
    pace: Pace
    bots: tuple[str, ...]
    """Sample bot of each seat; "" for a person's."""
    names: tuple[str, ...]
    """Names of all seats for people."""
    seat: int
    """Seat of the visitor who ordered it."""
    alone: bool
    """True if no other person plays."""


def game_of(name: str) -> AnyGame:
    """Return a game by its name.

    Raises:
        OrderError: there is no such game.
    """
    try:
        game = GAMES.get(name)
    except GameLoadError:
        game = None
    if game is None:
        raise OrderError("There is no such game here.")
    return game


def seats_of(game: AnyGame, variant: str) -> int:
    """Return the number of seats of a variant with the default options."""
    return game.seats(game.read_options(variant, None))


@cache
def bots_by_game() -> Mapping[str, tuple[str, ...]]:
    """Return the sample bots for each game: the random one last."""
    found: dict[str, list[str]] = {}
    for bot in built_in():
        games = tomllib.loads((BUILT_IN / bot / FILE).read_text(encoding="utf-8")).get("games", "*")
        if bot in NEEDING_NETWORK | ONLY_WITH_OTHERS or games == "*":
            continue
        for game in games:
            found.setdefault(game, []).append(bot)
    return {
        game: tuple(sorted(bots, key=lambda bot: (bot.endswith("_random"), bot))) for game, bots in found.items()
    }


def bots_of(game: str) -> tuple[str, ...]:
    """Return the sample bots that play a game, the default opponent first."""
    return bots_by_game().get(game, tuple(sorted(ONLY_WITH_OTHERS)))


def order_of_form(fields: Mapping[str, str]) -> Order:
    """Return the order of a filled-in form: see `pages.play`.

    Raises:
        OrderError: a field is wrong.
    """
    game = game_of(fields.get("game", ""))
    variant = _variant(game, fields.get("variant", ""))
    count = seats_of(game, variant)
    pace = fields.get("pace", "rules")
    if pace not in PACES:
        raise OrderError("There is no such pace.")
    opponent = fields.get("opponent", "") or bots_of(game.name)[0]
    seats = [fields.get(f"seat-{seat}", "") or opponent for seat in range(count)]
    if ME not in seats:
        seats[_own(fields.get("seat", ""), seats, opponent)] = ME
    return Order(
        game=game.name, variant=variant, pace=pace, seats=tuple(seats), name=fields.get("name", "")[:MOST_NAME]
    )


def _own(chosen: str, seats: Sequence[str], opponent: str) -> int:
    """Return the visitor's seat: the chosen one, or a random one of those that nobody else was chosen for."""
    if chosen in ("", ANY):
        free = [seat for seat, each in enumerate(seats) if each == opponent] or list(range(len(seats)))
        return secrets.choice(free)
    if not chosen.isascii() or not chosen.isdecimal() or len(chosen) > 2 or int(chosen) >= len(seats):  # noqa: PLR2004 - digits
        raise OrderError(f"The seats are 0 to {len(seats) - 1}.")
    return int(chosen)


def terms_of(order: Order) -> Terms:
    """Return the terms of an order.

    Raises:
        OrderError: it cannot be played.
    """
    game = game_of(order.game)
    variant = _variant(game, order.variant)
    count = seats_of(game, variant)
    seats = order.seats
    if not seats:
        own = secrets.randbelow(count)
        seats = tuple(ME if seat == own else bots_of(game.name)[0] for seat in range(count))
    if len(seats) != count:
        raise OrderError(f"{game.name} has {count} seats, and {len(seats)} are named.")
    if seats.count(ME) != 1:
        raise OrderError("One seat is yours, and only one.")
    bots = ["" if seat in (ME, FRIEND) else seat for seat in seats]
    for bot in filter(None, bots):
        if bot not in bots_of(game.name):
            raise OrderError(f"No sample bot of {game.name} has that name.")
    own = seats.index(ME)
    return Terms(
        game=game.name,
        variant=variant,
        pace=order.pace,
        bots=tuple(bots),
        names=_names(bots, own, order.name),
        seat=own,
        alone=FRIEND not in seats,
    )


def _variant(game: AnyGame, name: str) -> str:
    known = [variant.name for variant in game.variants]
    if name and name not in known:
        raise OrderError(f"{game.name} has no such variant.")
    return name or known[0]


def _names(bots: Sequence[str], own: int, name: str) -> tuple[str, ...]:
    """Return a name for each seat, no two alike."""
    names = [bot or f"guest {seat}" for seat, bot in enumerate(bots)]
    names[own] = cut(printable(name).strip(), MOST_NAME) or "visitor"
    return tuple(numbered_names(names))
