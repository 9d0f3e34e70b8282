"""Failures out of nurseries: as themselves, not as the groups that trio makes of them."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unwrapped() -> Iterator[None]:
    """The first failure comes out as itself: callers tell a full disk from a missing sandbox by it."""
    try:
        yield
    except BaseExceptionGroup as group:
        failure: BaseException = group
        while isinstance(failure, BaseExceptionGroup):
            failure = failure.exceptions[0]
        raise failure from group
