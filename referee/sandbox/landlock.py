"""Finds out whether this machine has Landlock, the second wall around a bot's files. `launcher` applies it."""

import ctypes
from functools import cache

CREATE_RULESET = 444
"""Number of the system call, which is the same on all architectures."""
ASK_FOR_VERSION = 1


@cache
def version() -> int:
    """Return the version of Landlock's interface, from 1; 0 if the kernel has none, or has it disabled."""
    answer: int = ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, ASK_FOR_VERSION)
    return max(answer, 0)
