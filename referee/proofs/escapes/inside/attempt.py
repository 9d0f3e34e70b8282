"""The form of an attempt: a function that tries to get past one layer, and returns a verdict."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

from .scene import Scene

Result = Literal["held", "escaped", "sent", "not tried", "too busy", "failed"]
"""Result of an attempt. `sent`: the host decides by what arrived there. `too busy`: the machine was too busy to
decide. `failed`: the attempt itself has a fault."""


class Verdict(NamedTuple):
    """The result of an attempt, with one line of evidence."""

    result: Result
    evidence: str


class Attempt(NamedTuple):
    """A registered attempt, with the layer that it attacks."""

    name: str
    layer: str
    """Name of the layer that should stop the attempt, as in `standing`."""
    what: str
    """The first line of its docstring."""
    run: Callable[[Scene], Verdict]
    seconds: float


ATTEMPTS: dict[str, Attempt] = {}
"""All attempts, keyed by name, in order of registration."""

Try = Callable[[Scene], Verdict]
Way = tuple[str, Callable[[], str]]
"""A name, and a function that returns what it obtained. It returns "" or raises OSError if the layer held."""


def attacks(layer: str, seconds: float = 3.0) -> Callable[[Try], Try]:
    """Register a function as an attempt that is called like the function, but with hyphens."""

    def register(run: Try) -> Try:
        name = run.__name__.replace("_", "-")
        what = (run.__doc__ or "").strip().splitlines()[0]
        ATTEMPTS[name] = Attempt(name, layer, what, run, seconds)
        return run

    return register


def done(word: str, do: Callable[..., object], *arguments: object) -> Callable[[], str]:
    """Return a function for a `Way` that calls `do` and then returns `word`."""

    def way() -> str:
        do(*arguments)
        return word

    return way


@contextmanager
def opened(path: str, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Open a file, and close its descriptor at the end."""
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_once(path: str, flags: int = os.O_RDONLY) -> None:
    """Open a file and close it."""
    os.close(os.open(path, flags))


def any_of(ways: Iterable[Way], otherwise: str = "this machine has nothing of this kind") -> Verdict:
    """Try the ways in order: escaped if one succeeds, held if all fail, not tried if there are none."""
    obstacles: dict[str, list[str]] = {}
    for name, way in ways:
        try:
            got = way()
        except OSError as error:
            obstacles.setdefault(reason(error), []).append(name)
        else:
            if got:
                return Verdict("escaped", f"{name}: {got}")
            obstacles.setdefault("no result", []).append(name)
    if not obstacles:
        return Verdict("not tried", otherwise)
    return Verdict(
        "held", "; ".join(f"{why}: {', '.join(dict.fromkeys(names))}" for why, names in obstacles.items())
    )


def reason(error: OSError) -> str:
    """Return the kernel's name of an error."""
    return errno.errorcode.get(error.errno or 0, str(error))


def bounded(got: float, allowed: float, unit: str) -> Verdict:
    """Return a verdict that holds if no more than the allowed amount was obtained."""
    return Verdict("held" if got <= allowed else "escaped", f"got {got:.4g} {unit}, {allowed:.4g} are allowed")
