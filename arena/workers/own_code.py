"""What this installation's code is: a hash of all that results depend on."""

from hashlib import sha256
from pathlib import Path

import protocol
import referee
from referee.bot_folder import BUILT_IN, FILE_HASH_DIGITS, content_hash, file_hashes

ROOMS = ("schedule", "statistics", "regression")
"""The arena's rooms on which results depend, or what they count for."""


def own_content() -> str:
    """Hash of what decides and of what built-in bots share: the version does not tell two commits apart."""
    total = sha256()
    for folder in _folders().values():
        total.update(content_hash(folder).encode())
    for module in _shared_by_bots():
        total.update(module.name.encode() + b"\n" + module.read_bytes())
    return f"sha256:{total.hexdigest()}"


def own_files() -> dict[str, str]:
    """The same file by file: path to the first digits of its hash."""
    own = {
        f"{place}/{name}": digest
        for place, folder in _folders().items()
        for name, digest in file_hashes(folder).items()
    }
    shared = {
        f"{module.parent.name}/{module.name}": sha256(module.read_bytes()).hexdigest()[:FILE_HASH_DIGITS]
        for module in _shared_by_bots()
    }
    return own | shared


def _folders() -> dict[str, Path]:
    """Folders of code that decides, by where they lie in the project."""
    home = Path(__file__).resolve().parents[1]
    packages = {package.__name__: Path(package.__path__[0]) for package in (protocol, referee)}
    return packages | {f"{home.name}/{room}": home / room for room in ROOMS}


def _shared_by_bots() -> list[Path]:
    """What built-in bots share beside their folders."""
    return sorted(BUILT_IN.glob("*.py"))
