"""Style and scripts that pages share: files whose names hold the hash of what is in them, for ever the same."""

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
"""A board for a whole hall."""
FOLDER = "assets"
DIGITS = 16


def asset_path(name: str) -> str:
    """Where an asset is, from the top of the site: `assets/site.0123456789abcdef.css`."""
    return _paths()[name]


def asset_at(path: str) -> bytes | None:
    """The asset that a path names."""
    return next((content(name) for name, its in _paths().items() if its == path), None)


def asset_paths() -> tuple[str, ...]:
    """The paths of all assets."""
    return tuple(_paths().values())


def content(name: str) -> bytes:
    """An asset by its own name."""
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
    """The assets of pages, of live boards and of replays, by name."""
    # Here: the report of a tournament has no boards, and boards bring the words of all games with them.
    from arena.viewer import drawing_script, drawing_style, shared_assets  # noqa: PLC0415

    # Functions of their own: names of the drawings may be those of the script, and those of other scripts, too.
    live = b'(() => {\n"use strict";\n%b\n{\n%b}\n})();\n' % (drawing_script().encode(), _own("live.js"))
    drawn = {"live.js": live, DRAWING: f"{drawing_style()}{LARGE}".encode()}
    return {name: _own(name) for name in NAMES} | drawn | shared_assets()


def _own(name: str) -> bytes:
    return files("arena.pages").joinpath("assets", name).read_bytes()
