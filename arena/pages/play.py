"""Pages on which people play: the choice of a game, and the page of a seat. The server alone has them."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from arena.pages.face import markdown
from arena.pages.template import Page, PageMaker, game_link

if TYPE_CHECKING:
    from arena.viewer import Minute


class GameChoice(Struct, frozen=True, kw_only=True):
    """A game that may be chosen."""

    name: str
    title: str
    tagline: str
    players: str
    seats: int
    variants: tuple[dict[str, Any], ...]
    """Name, title and `default` of each variant."""
    bots: tuple[str, ...]
    """Sample bots that play it, the default opponent first."""
    href: str
    """The game's page, relative to the site's top; "" if there is none."""


@cache
def games_to_play() -> tuple[GameChoice, ...]:
    """Return the games that people may play."""
    # Imported late: other pages need no rules.
    from arena.practice import bots_of, seats_of  # noqa: PLC0415
    from arena.viewer import minute_of  # noqa: PLC0415
    from referee.games import GAMES  # noqa: PLC0415

    found = []
    for name in GAMES:
        game, minute = GAMES[name], minute_of(name)
        default = game.variants[0].name
        variants = [
            {"name": each.name, "title": each.name, "default": each.name == default} for each in game.variants
        ]
        link = game_link(name)
        found.append(
            GameChoice(
                name=name,
                title=name if minute is None else minute.title,
                tagline="" if minute is None else minute.tagline,
                players="" if minute is None else minute.players,
                seats=seats_of(game, default),
                variants=tuple(variants),
                bots=bots_of(name),
                href="" if link is None else link[1],
            )
        )
    return tuple(found)


def start_page(maker: PageMaker, *, cannot: str, sits: Sequence[dict[str, Any]]) -> Page:
    """Return the page on which a visitor chooses a game.

    Args:
        maker: the site's settings.
        cannot: why no match against bots can begin; "" if one can.
        sits: address and title of each of the visitor's matches, and whether it is over.
    """
    from arena.practice import PACES  # noqa: PLC0415 - see above

    paces = [{"name": name, "title": title} for name, title in PACES.items()]
    return maker.page(
        "play-start", "play/index.html", title="Play", games=games_to_play(), cannot=cannot, paces=paces, sits=sits
    )


def seat_page(maker: PageMaker, id_: str, game: str, title: str, *, join: bool = False) -> Page:
    """Return the page of a person's seat; with `join`, the one on which a link is exchanged for a seat."""
    from arena.viewer import minute_of  # noqa: PLC0415 - see above

    minute: Minute | None = minute_of(game)
    link = game_link(game)
    return maker.page(
        "play",
        f"play/{id_}/index.html",
        title=title,
        id=id_,
        game=game,
        join=join,
        minute=minute,
        rules_text="" if minute is None else markdown(minute.text),
        href="" if link is None else link[1],
    )
