"""Style and scripts that pages share: files whose names hold the hash of what is in them, for ever the same."""

from functools import cache
from hashlib import sha256
from importlib.resources import files

NAMES = ("site.css", "site.js")
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
    return files("arena.pages").joinpath("assets", name).read_bytes()
