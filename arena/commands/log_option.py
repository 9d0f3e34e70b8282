"""The option that keeps the operator's log, and what it says of the command itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from arena.errors import Stopped, cannot_write, reason_of
from arena.quantities import counted
from arena.terminal import say
from referee.log import NO_LOG, OperatorLog, Writer, opened

log_option = click.option(
    "--log",
    metavar="FILE|-",
    help="Add what happens, one JSON object a line, to a file, or to standard error (-).",
)


@contextmanager
def open_log(target: str | None) -> Iterator[OperatorLog]:
    """The log at a path, or (`-`) on standard error; None: there is none.

    Raises:
        WrongUse: the path cannot be written.
        MachineCannot: the machine cannot write it.
    """
    if target is None:
        yield NO_LOG
        return
    try:
        writer = Writer(opened(target))
    except OSError as error:
        raise cannot_write(Path(f"--log {target}"), error) from None
    try:
        yield writer.log
    except (Exception, BaseExceptionGroup) as error:
        _tell(writer.log, reason_of(error))
        raise
    finally:
        lost = writer.close()
        if lost:
            why = "nobody takes them" if writer.failure is None else writer.failure.strerror
            say(f"--log {target}: {counted(lost, 'line')} lost: {why}")


def _tell(log: OperatorLog, error: BaseException) -> None:
    """Why the command ends."""
    if isinstance(error, Stopped):
        log.logger.warning("stopped", signal=error.signal)
    else:
        text = error.format_message() if isinstance(error, click.ClickException) else repr(error)
        log.logger.error("command_failed", reason=text)
