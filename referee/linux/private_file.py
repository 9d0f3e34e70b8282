"""Files that only their owner may read: a match's seeds, tokens and actions are secret while it is played."""

import os

MODE = 0o600
FOLDER_MODE = 0o700


def for_owner(path: str, flags: int) -> int:
    """Open a file; an `opener` for `open`.

    A new file has its owner-only mode from the start, whatever the umask.
    """
    return os.open(path, flags, MODE)
