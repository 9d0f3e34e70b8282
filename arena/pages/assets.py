"""Style and scripts that pages share: files whose names hold the hash of what is in them, for ever the same."""

from functools import cache
from hashlib import sha256
from importlib.resources import files

from arena.viewer import drawing_script, drawing_style

DRAWING = "drawing.css"
LARGE = ":host(.large) #board > svg { max-height: 88vh; }\n"
"""A board for a whole hall."""
NAMES = ("site.css", "site.js", "live.css", "live.js", DRAWING)
FOLDER = "assets"
DIGITS = 16


def asset_path(name: str) -> str:
    """Where an asset is, from the top of the site: `assets/site.0123456789abcdef.css`."""
    return _paths()[name]


def asset_at(path: str) -> bytes | None:
    """The asset that a path names."""
    for name, its in _paths().items():
        if its == path:
            return content(name)
    return None


def asset_paths() -> tuple[str, ...]:
    """All of them."""
    return tuple(_paths().values())


@cache
def _paths() -> dict[str, str]:
    found = {}
    for name in NAMES:
        stem, dot, kind = name.rpartition(".")
        found[name] = f"{FOLDER}/{stem}.{sha256(content(name)).hexdigest()[:DIGITS]}{dot}{kind}"
    return found


@cache
def content(name: str) -> bytes:
    """An asset by its own name."""
    if name == DRAWING:
        return f"{drawing_style()}{LARGE}".encode()
    own = files("arena.pages").joinpath("assets", name).read_bytes()
    # Names of its own: those of the drawings may change.
    return b"%b\n{\n%b}\n" % (drawing_script().encode(), own) if name == "live.js" else own
