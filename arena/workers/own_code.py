"""Hashes of this installation's code, as far as results depend on it."""

from hashlib import sha256
from pathlib import Path

import protocol
import referee
from referee.bot_folder import BUILT_IN, FILE_HASH_DIGITS, content_hash, file_hashes

ROOMS = ("schedule", "statistics", "regression")
"""The arena's packages that affect results or their evaluation."""


def own_content() -> str:
    """Return a hash of the code that affects results and of the modules that built-in bots share.

    The version number would not distinguish two commits.
    """
    total = sha256()
    for folder in _folders().values():
        total.update(content_hash(folder).encode())
    for module in _shared_by_bots():
        total.update(bytes(module.relative_to(BUILT_IN)) + b"\n" + module.read_bytes())
    return f"sha256:{total.hexdigest()}"


def own_files() -> dict[str, str]:
    """Return the first digits of each file's hash by path, for the same code as `own_content`."""
    own = {
        f"{place}/{name}": digest
        for place, folder in _folders().items()
        for name, digest in file_hashes(folder).items()
    }
    for module in _shared_by_bots():
        digest = sha256(module.read_bytes()).hexdigest()
        own[f"{BUILT_IN.name}/{module.relative_to(BUILT_IN)}"] = digest[:FILE_HASH_DIGITS]
    return own


def _folders() -> dict[str, Path]:
    """Return the folders of code that affects results, by their place in the project."""
    home = Path(__file__).resolve().parents[1]
    packages = {package.__name__: Path(package.__path__[0]) for package in (protocol, referee)}
    return packages | {f"{home.name}/{room}": home / room for room in ROOMS}


def _shared_by_bots() -> list[Path]:
    """Return the modules that built-in bots share: those of `bots` and of its packages, not of a bot's folder."""
    packages = [file.parent for file in BUILT_IN.glob("*/__init__.py")]
    return sorted(module for folder in (BUILT_IN, *packages) for module in folder.glob("*.py"))
