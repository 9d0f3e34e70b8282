"""What an attempt is: a function that tries to get past one layer, and says how it went."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

from .scene import Scene

Result = Literal["held", "escaped", "sent", "not tried", "too busy", "failed"]
"""`sent`: whether it got out is seen by the host, where it would have arrived. `too busy`: the machine was,
to tell. `failed`: by its own fault."""


class Verdict(NamedTuple):
    """How an attempt went, with one line of evidence."""

    result: Result
    evidence: str


class Attempt(NamedTuple):
    """One way out."""

    name: str
    layer: str
    """What should stand in its way; `standing` knows it by this name."""
    what: str
    """The first line of its docstring."""
    run: Callable[[Scene], Verdict]
    seconds: float


ATTEMPTS: dict[str, Attempt] = {}
"""By name, in the order in which they are made."""

Try = Callable[[Scene], Verdict]
Way = tuple[str, Callable[[], str]]
"""A name, and a function that says what it got: nothing, or an OSError, if the wall held."""


def attacks(layer: str, seconds: float = 3.0) -> Callable[[Try], Try]:
    """Makes a function an attempt: its name is the function's, with hyphens."""

    def register(run: Try) -> Try:
        name = run.__name__.replace("_", "-")
        what = (run.__doc__ or "").strip().splitlines()[0]
        ATTEMPTS[name] = Attempt(name, layer, what, run, seconds)
        return run

    return register


def done(word: str, do: Callable[..., object], *arguments: object) -> Callable[[], str]:
    """A function for a `Way` that gets so far as to say this word, if `do` raises no OSError."""

    def way() -> str:
        do(*arguments)
        return word

    return way


@contextmanager
def opened(path: str, flags: int = os.O_RDONLY) -> Iterator[int]:
    """A descriptor of the file."""
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_once(path: str, flags: int = os.O_RDONLY) -> None:
    """Opens the file and closes it."""
    os.close(os.open(path, flags))


def any_of(ways: Iterable[Way], otherwise: str = "this machine has nothing of this kind") -> Verdict:
    """Escaped by the first way that leads anywhere; held if none does; not tried if there is none."""
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
    """An error in the kernel's word for it."""
    return errno.errorcode.get(error.errno or 0, str(error))


def bounded(got: float, allowed: float, unit: str) -> Verdict:
    """Whether it got no more than it may have."""
    return Verdict("held" if got <= allowed else "escaped", f"got {got:.4g} {unit}, {allowed:.4g} are allowed")
