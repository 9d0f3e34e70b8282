"""Whether this machine has Landlock, the second wall around a bot's files; `launcher` puts it up."""

import ctypes
from functools import cache

CREATE_RULESET = 444
"""The same number on every kind of machine."""
ASK_FOR_VERSION = 1


@cache
def version() -> int:
    """Of Landlock's interface, from 1; 0 where the kernel has none, or has it switched off."""
    answer: int = ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, ASK_FOR_VERSION)
    return max(answer, 0)
