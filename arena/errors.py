"""How a command ends other than well: the exit codes, and the one line that says why."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

DONE = 0
NO = 1
WRONG_USE = 2
CANNOT = 3
UNDECIDED = 3
"""A regression test found neither yes nor no. Its line, and `verdict` in its JSON, tell it from `CANNOT`."""
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
"""Why a path cannot be written that another path would mend; all else is the machine's."""
SIGNALLED = 128
"""A signal stopped the program: this and the signal's number, 130 for Ctrl-C."""


class AnswerIsNo(click.ClickException):
    """The command did what it was asked to, and the answer is no: a verification failed."""

    exit_code = NO


class Undecided(click.ClickException):
    """The command did what it was asked to, and that was not enough for an answer."""

    exit_code = UNDECIDED


class WrongUse(click.ClickException):
    """Wrong use or bad input. The text names the file, line and field, as far as there are any."""

    exit_code = WRONG_USE


class MachineCannot(click.ClickException):
    """The machine cannot do it: no sandbox, no space, too many failed attempts."""

    exit_code = CANNOT


class CannotGoOn(MachineCannot):
    """The machine cannot go on with what has begun. The text says why, what is kept, and which command goes on."""

    def __init__(self, why: str, kept: str, again: str = "the same command") -> None:
        super().__init__(f"{why}; {kept}; to go on once this is solved: {again}")
        self.why = why
        self.kept = kept


class Stopped(click.ClickException):
    """A signal asked the command to stop, and it did, in order. The text may say what is left of it."""

    def __init__(self, signal: int, text: str = "stopped") -> None:
        super().__init__(text)
        self.signal = signal


def reason_of(error: BaseException) -> BaseException:
    """What to tell of an error: of a group, what we foresaw, before what we did not."""
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
    """A full disk is the machine's; a folder one may not write was wrongly chosen."""
    text = f"{path}: cannot be written: {error.strerror or error}"
    return WrongUse(text) if error.errno in CHOSEN_WRONGLY else MachineCannot(text)


def shortage(error: OSError) -> str:
    """What is said of a match that the operating system stopped."""
    # Here, because `arena --help` waits for this module.
    from referee.linux.shortage import shortage_text  # noqa: PLC0415

    return shortage_text(error)


@contextmanager
def errors_as_exits() -> Iterator[None]:
    """Raises what playing a match raises as the exit that it means."""
    # Here, because `arena --help` waits for this module.
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
