"""Files for their owner's eyes alone: a match's seeds, tokens and actions are secret while it is played."""

import os

MODE = 0o600
FOLDER_MODE = 0o700


def for_owner(path: str, flags: int) -> int:
    """An `opener` for `open`: what it makes has these rights from the first moment on, whatever the umask."""
    return os.open(path, flags, MODE)
