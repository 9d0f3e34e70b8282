"""Builds a match's page from template, style, script and data: one self-contained file, or one with two links."""

from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arena.live import Eyes
from arena.replay import Recording
from arena.viewer.data import page_data
from protocol.games import GameLoadError, entries, entry_of


def page_of(recording: Recording, only: Eyes | None = None, *, back: tuple[str, str] | None = None) -> str:
    """Return the self-contained page of a finished match, as HTML.

    Args:
        recording: the match.
        only: the only viewpoint; see `page_data`.
        back: target and text of a link above the board, or None for no link.
    """
    script, style = _script(recording.game), _asset("viewer.css")
    return _page(
        page_data(recording, only),
        linked=False,
        back=back,
        script=_own(script),
        style=_own(style),
        script_hash=_digest(script),
        style_hash=_digest(style),
    )


def linked_page_of(recording: Recording, href: Callable[[str], str]) -> str:
    """Return the page for all viewpoints, with links to style and script, one folder below the site's top.

    It links back to the top, or to the match that `#match=SLUG/18a` in its own address names.

    Args:
        recording: the match.
        href: returns the address of one of `shared_assets`.
    """
    script = f"viewer-{recording.game}.js" if _place(recording.game) else "viewer.js"
    back = ("../index.html", "All competitions")
    return _page(page_data(recording), linked=True, back=back, script=href(script), style=href("viewer.css"))


def shared_assets() -> dict[str, bytes]:
    """Return the style, one script per game and one for all others, by file name."""
    scripts = {f"viewer-{game}.js": _script(game) for game in _drawings()}
    texts = {"viewer.css": _asset("viewer.css"), "viewer.js": _script(""), **scripts}
    return {name: text.encode() for name, text in texts.items()}


def _page(data: dict[str, Any], **values: Any) -> str:
    return _environment().get_template("page.html.jinja").render(data=data, json=_inert(data), **values)


def _inert(data: dict[str, Any]) -> Markup:
    """Encode JSON without any `<`, so that it cannot end the element around it."""
    return _own(msgspec.json.encode(data).decode().replace("<", "\\u003c"))


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("arena.viewer", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def drawing_script() -> str:
    """Return the drawings of all games, as the start of a module: `drawings[GAME].board(view, context)`."""
    return "\n".join([_asset("svg.js"), *_drawings().values()])


def drawing_style() -> str:
    """Return the style of drawings, for a shadow tree."""
    return _asset("viewer.css").replace(":root", ":host")


@cache
def _asset(name: str) -> str:
    return files("arena.viewer").joinpath("assets", name).read_text()


def _place(game: str) -> str | None:
    """Return the place of a game's drawing; None: it is shown as a list of its view's values."""
    entry = entry_of(game)
    return None if entry is None else entry.drawing


@cache
def _drawing(game: str) -> str:
    """Return a game's drawing, "" if it has none.

    Raises:
        GameLoadError: the game is of another package, and its drawing cannot be read.
    """
    place = _place(game)
    if place is None:
        return ""
    package, _, name = place.partition(":")
    try:
        return files(package).joinpath(name).read_text(encoding="utf-8")
    except (ImportError, OSError, ValueError) as error:
        raise GameLoadError(f"game {game}: drawing {place!r} cannot be read: {error}") from error


def _drawings() -> dict[str, str]:
    """Return the drawings of all games that have one, without those that cannot be read."""
    found = {}
    for game in entries():
        with suppress(GameLoadError):
            found[game] = _drawing(game)
    return {game: text for game, text in found.items() if text}


def _script(game: str) -> str:
    drawn = [text] if (text := _drawing(game)) else []
    return "\n".join([_asset("svg.js"), *drawn, _asset("viewer.js")])


def _own(text: str) -> Markup:
    """Mark the arena's own text as safe markup, or JSON that `_inert` has encoded."""
    return Markup(text)  # noqa: S704 - no words of others but in `_inert`


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
