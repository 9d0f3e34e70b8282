"""Write files of tournaments for tests."""

import json
from collections.abc import Iterable
from pathlib import Path


def write_tournament(file: Path, bots: Iterable[str], *more: str, game: str = "mist") -> Path:
    """Write a tournament's file, with game and bots in its first two lines; return its path.

    `more`: further lines.
    """
    file.write_text("\n".join([f'game = "{game}"', f"bots = {json.dumps(list(bots))}", *more, ""]))
    return file
