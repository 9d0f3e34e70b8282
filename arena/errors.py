"""The errors with which a command ends: exit codes, and one line with the reason."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

DONE = 0
NO = 1
WRONG_USE = 2
CANNOT = 3
UNDECIDED = 3
"""A regression test is undecided. Its line, and `verdict` in its JSON, distinguish it from `CANNOT`."""
CHOSEN_WRONGLY = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EEXIST,
        errno.ENAMETOOLONG,
        errno.EISDIR,
        errno.ENXIO,
    }
)
"""Errors of writing a path that another path would avoid; all others are problems of the machine."""
SIGNALLED = 128
"""Base of the exit code after a signal; the signal's number is added, which gives 130 for Ctrl-C."""


class AnswerIsNo(click.ClickException):
    """The command succeeded and the answer is no, as when a verification failed."""

    exit_code = NO


class Undecided(click.ClickException):
    """The command succeeded, but its results allow no answer."""

    exit_code = UNDECIDED


class WrongUse(click.ClickException):
    """Wrong use or bad input. The text names file, line and field, where they exist."""

    exit_code = WRONG_USE


class MachineCannot(click.ClickException):
    """The machine cannot run the command: no sandbox, no space, or too many failed attempts."""

    exit_code = CANNOT


class CannotGoOn(MachineCannot):
    """The machine cannot continue. The text has the reason, what is kept, and the command that continues."""

    def __init__(self, why: str, kept: str, again: str = "the same command") -> None:
        super().__init__(f"{why}; {kept}; to go on once this is solved: {again}")
        self.why = why
        self.kept = kept


class Stopped(click.ClickException):
    """A signal stopped the command in an orderly way. The text may name what remains to be done."""

    def __init__(self, signal: int, text: str = "stopped") -> None:
        super().__init__(text)
        self.signal = signal


def reason_of(error: BaseException) -> BaseException:
    """Return the error to report: of a group, a `ClickException`, else Ctrl-C, else the first error."""
    reasons = list(_leaves(error))
    for kind in (click.ClickException, KeyboardInterrupt):
        for reason in reasons:
            if isinstance(reason, kind):
                return reason
    return reasons[0]


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def cannot_write(path: Path, error: OSError) -> WrongUse | MachineCannot:
    """Return the error for a path that cannot be written: `WrongUse` if another path would help."""
    text = f"{path}: cannot be written: {error.strerror or error}"
    if error.errno in CHOSEN_WRONGLY:
        return WrongUse(text)
    return MachineCannot(text)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert errors of writing a path to exits; see `cannot_write`."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from None


@contextmanager
def as_wrong_use(*kinds: type[BaseException], about: object = None) -> Iterator[None]:
    """Convert errors of these kinds to `WrongUse` with the same text, after `about` and a colon if it is given."""
    try:
        yield
    except kinds as error:
        text = str(error)
        if about is not None:
            text = f"{about}: {text}"
        raise WrongUse(text) from None


def shortage(error: OSError) -> str:
    """Return the text for a match that an error of the operating system ended."""
    # Imported late, because `arena --help` waits for this module.
    from referee.linux.shortage import shortage_text  # noqa: PLC0415

    return shortage_text(error)


@contextmanager
def tried_again() -> Iterator[None]:
    """Suppress what a file or the machine prevents, in work that a server does again soon."""
    # Imported late, because `arena --help` waits for this module.
    from referee.linux.shortage import shortages_as_os_errors  # noqa: PLC0415

    with suppress(WrongUse, MachineCannot, OSError), shortages_as_os_errors():
        yield


@contextmanager
def errors_as_exits() -> Iterator[None]:
    """Convert the errors of playing a match to the exits of a command."""
    # Imported late, because `arena --help` waits for this module.
    from referee.linux.shortage import shortages_as_os_errors  # noqa: PLC0415
    from referee.sandbox import SandboxError  # noqa: PLC0415
    from referee.transcript import TranscriptError  # noqa: PLC0415

    try:
        with shortages_as_os_errors():
            yield
    except SandboxError as error:
        raise MachineCannot(str(error)) from None
    except TranscriptError as error:
        if isinstance(error.__cause__, OSError):
            raise cannot_write(error.path or Path(), error.__cause__) from None
        raise MachineCannot(str(error)) from None
    except OSError as error:
        raise MachineCannot(shortage(error)) from None
