"""Pages of games: each game in one minute, for people who have never seen it.

A game brings its text and positions of real matches; the browser draws these as it draws boards.
"""

import re
from typing import TYPE_CHECKING, Any

import msgspec

from arena.pages.face import markdown
from arena.pages.template import Page, PageMaker, game_link
from protocol.games import entries

if TYPE_CHECKING:
    from arena.viewer import Position

GAME = re.compile(r"game/(?P<game>[a-z0-9-]{1,40})\.html")


def game_paths() -> list[str]:
    """Return the paths of all pages of games."""
    return [path for _, path in filter(None, map(game_link, entries()))]


def game_page(maker: PageMaker, path: str) -> Page | None:
    """Return the page of the game at a path; None if there is none."""
    from arena.viewer import minute_of  # noqa: PLC0415 - a tournament's report has no boards, which are slow to import

    found = GAME.fullmatch(path)
    minute = None if found is None else minute_of(found["game"])
    if found is None or minute is None:
        return None
    game = found["game"]
    pictures = [_drawn(game, position) for position in minute.pictures]
    return maker.page(
        "game", path, title=minute.title, minute=minute, text=markdown(minute.text), pictures=pictures
    )


def _drawn(game: str, position: "Position") -> dict[str, Any]:
    """Return a picture's caption, and the data with which a browser draws it."""
    from arena.viewer import inert, runes_of  # noqa: PLC0415 - see above

    views = [msgspec.Raw(view.encode()) for view in (position.before, position.view) if view is not None]
    data = {"game": game, "names": position.names, "eyes": position.eyes, "views": views, "runes": runes_of(game)}
    return {"caption": position.caption, "data": inert(data)}
