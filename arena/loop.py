"""Starts trio's loop for matches to be played in."""

import gc
from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

AnswerT = TypeVar("AnswerT")


def run(play: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
    """Runs until it is done, with a collector of garbage that never walks through what start-up made.

    That lives as long as the process; a full collection that walked it would hold up every match's clock.
    """
    gc.collect()
    gc.freeze()
    return trio.run(play)
