"""Command lines that people are told to type: as they called the arena themselves, be it by a script or a path."""

import os
import shlex
from pathlib import Path


def command_line(*words: str | Path) -> str:
    """A command of the arena, quoted for a shell."""
    return f"{os.environ.get('ARENA_COMMAND', 'arena')} {shlex.join(map(str, words))}"
