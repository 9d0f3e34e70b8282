"""Styles and scripts that pages share.

Each file name holds a hash of the content, so a path never changes content.
"""

from functools import cache
from hashlib import sha256
from importlib.resources import files

NAMES = ("site.css", "site.js", "live.css")
DRAWING = "drawing.css"
LARGE = """
:host(.large) { display: flex; flex-direction: column; gap: 1vmin; }
:host(.large) #board { flex: 1 1 0; min-height: 0; }
:host(.large) #board > svg { height: 100%; max-height: none; }
:host(.large) #more { flex: none; max-height: 40%; overflow: hidden; }
:host(.large) #more:empty { display: none; }
"""
"""Style of a board that is shown to a whole hall."""
FOLDER = "assets"
DIGITS = 16


def asset_path(name: str) -> str:
    """Return an asset's path relative to the site's root: `assets/site.0123456789abcdef.css`."""
    return _paths()[name]


def asset_at(path: str) -> bytes | None:
    """Return the content of the asset at a path; None if there is none."""
    return next((content(name) for name, its in _paths().items() if its == path), None)


def asset_paths() -> tuple[str, ...]:
    """Return the paths of all assets."""
    return tuple(_paths().values())


def content(name: str) -> bytes:
    """Return the content of an asset by its name without a hash."""
    return _own(name) if name in NAMES else _contents()[name]


@cache
def _paths() -> dict[str, str]:
    found = {}
    for name, its in _contents().items():
        stem, dot, kind = name.rpartition(".")
        found[name] = f"{FOLDER}/{stem}.{sha256(its).hexdigest()[:DIGITS]}{dot}{kind}"
    return found


@cache
def _contents() -> dict[str, bytes]:
    """Return the assets of pages, live boards and replays, by name."""
    # Imported late: a tournament's report has no boards, and boards import the words of all games.
    from arena.viewer import drawing_script, drawing_style, shared_assets  # noqa: PLC0415

    # Each script gets its own scope, because the drawings and the scripts may use the same names.
    live = b'(() => {\n"use strict";\n%b\n{\n%b}\n})();\n' % (drawing_script().encode(), _own("live.js"))
    drawn = {"live.js": live, DRAWING: f"{drawing_style()}{LARGE}".encode()}
    return {name: _own(name) for name in NAMES} | drawn | shared_assets()


def _own(name: str) -> bytes:
    return files("arena.pages").joinpath("assets", name).read_bytes()
