"""Failures out of nurseries: as themselves, not as the groups that trio makes of them."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unwrapped() -> Iterator[None]:
    """Raise the first exception of a group by itself: callers distinguish a full disk from a missing sandbox."""
    try:
        yield
    except BaseExceptionGroup as group:
        failure: BaseException = group
        while isinstance(failure, BaseExceptionGroup):
            failure = failure.exceptions[0]
        raise failure from group
