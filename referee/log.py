"""The operator's log: one event a line, for those who keep an arena running. Matches never wait for it.

Lines go to a bounded queue, from which a thread writes them in batches. When nobody takes them, they are dropped
and counted. `referee.host.observers` says which events a match has; none holds a secret. structlog is imported
when there is a log: its import takes half as long as all else that a referee process imports.
"""

import logging
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Protocol, Self

import msgspec
from msgspec import Struct

from referee.display_text import printable
from referee.linux.files import MODE

if TYPE_CHECKING:
    from structlog.typing import EventDict

MAX_WAITING = 4_096
BATCH_SECONDS = 0.1
"""Seconds for which the first line of a batch waits for others."""
CLOSE_SECONDS = 2.0
"""Seconds for which the end of a command waits for lines that are not written yet."""
MAX_CHARACTERS = 300
"""The longest text; texts in a list get `MAX_IN_LIST`. So a line is shorter than `WRITE_BYTES`."""
MAX_IN_LIST = 40
WRITE_BYTES = select.PIPE_BUF
"""The most bytes written at once, in whole lines, so that lines of several processes in one pipe do not mix."""
STANDARD_ERROR = 2
CLEAR_LINE = "\r\N{ESCAPE}[K"
"""Clears the terminal's current line, which may hold a progress bar."""


class Logger(Protocol):
    """The part of structlog's loggers that the arena uses."""

    def bind(self, **values: Any) -> Self:
        """Return a logger that adds these values to each event."""

    def info(self, event: str, /, **values: Any) -> Any:
        """Log an event."""

    def warning(self, event: str, /, **values: Any) -> Any:
        """Log an event that the operator should see."""

    def error(self, event: str, /, **values: Any) -> Any:
        """Log an event that the operator should act on."""

    def is_enabled_for(self, level: int, /) -> bool:
        """Return whether events of a level are logged."""


class _Silent:
    """A logger that logs nothing, at the price of a call."""

    def bind(self, **_values: Any) -> Self:
        return self

    def info(self, _event: str, /, **_values: Any) -> None:
        pass

    warning = error = info

    def is_enabled_for(self, _level: int, /) -> bool:
        return False


SILENT: Logger = _Silent()


class OperatorLog(Struct, frozen=True):
    """The operator's log."""

    logger: Logger = SILENT
    descriptor: int | None = None
    """The descriptor of the log's file, for processes that inherit it; None: there is no log."""


NO_LOG = OperatorLog()


class Writer:
    """Writes lines to a file descriptor, from a thread of its own: the logger that structlog wraps."""

    def __init__(self, descriptor: int) -> None:
        self.failure: OSError | None = None
        """The latest error of writing a line; empty: there was none."""
        self._descriptor = descriptor
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._closing = Event()
        self._given = self._written = 0
        self._dropped = self._failed = 0
        """Number of lines that found the queue full, or could not be written."""
        self._is_cut = False
        """True if the file ends within a line."""
        self._render = _logger_of(None, descriptor)
        self.log = OperatorLog(_logger_of(self, descriptor), descriptor)
        self._thread = Thread(target=self._write_all, name="operator's log", daemon=True)
        self._thread.start()

    def info(self, line: bytes) -> None:
        """Queue a line. Never waits."""
        self._given += 1
        if self._queue.qsize() < MAX_WAITING:
            self._queue.put(line)
        else:
            self._dropped += 1

    warning = error = info

    def close(self) -> int:
        """Write the queued lines, for at most `CLOSE_SECONDS`, and return the number of all lines lost."""
        self._closing.set()
        self._queue.put(None)
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            return self._given - self._written
        os.close(self._descriptor)
        return self._dropped + self._failed

    def _write_all(self) -> None:
        # A terminal set to `tostop` would stop a whole worker that writes to it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        reported, lines = 0, [self._queue.get()]
        while True:
            self._closing.wait(BATCH_SECONDS)
            with suppress(Empty):
                while True:
                    lines.append(self._queue.get_nowait())
            batch = [line for line in lines if line is not None]
            lost = self._dropped + self._failed
            if lost > reported:
                batch.append(self._render.warning("log_dropped", lines=lost - reported))
            before = self._written
            if self._write(batch):
                reported = lost
            else:
                self._failed += before + len(batch) - self._written - (lost > reported)
            if None in lines:
                return
            lines = [self._queue.get()]

    def _write(self, lines: list[bytes]) -> bool:
        """Write lines, `WRITE_BYTES` at once, and return whether that succeeded."""
        try:
            for block in _blocks(lines):
                rest = b"\n" + block if self._is_cut else block
                while rest:
                    written = os.write(self._descriptor, rest)
                    rest = rest[written:]
                    self._is_cut = bool(rest)
                self._written += block.count(b"\n")
        except OSError as error:
            self.failure = error
            return False
        return True


def opened(target: str) -> int:
    """Open a file for appending, and return its descriptor; `-` is standard error.

    Raises:
        OSError: it cannot be written.
    """
    if target == "-":
        return os.dup(STANDARD_ERROR)
    is_pipe = Path(target).is_fifo()
    # A pipe that nobody reads is not waited for, and one whose reader leaves is kept for the next.
    way = os.O_RDWR if is_pipe else os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.open(target, way | os.O_NOCTTY | os.O_CLOEXEC, MODE)


@contextmanager
def inherited(descriptor: int | None) -> Iterator[OperatorLog]:
    """Use the log that this process inherited. Bots that are started here do not inherit it."""
    if descriptor is None:
        yield NO_LOG
        return
    os.set_inheritable(descriptor, False)
    writer = Writer(descriptor)
    try:
        yield writer.log
    finally:
        writer.close()


def _logger_of(wrapped: Any, descriptor: int) -> Any:
    """Return a structlog logger that gives its lines to `wrapped`, or returns them if that is None."""
    from structlog import ReturnLogger, make_filtering_bound_logger, wrap_logger  # noqa: PLC0415 - see above
    from structlog.dev import ConsoleRenderer  # noqa: PLC0415
    from structlog.processors import TimeStamper, add_log_level  # noqa: PLC0415

    is_terminal = os.isatty(descriptor)
    last = (
        (ConsoleRenderer(colors="NO_COLOR" not in os.environ), _as_shown) if is_terminal else (_in_order, _as_json)
    )
    return wrap_logger(
        ReturnLogger() if wrapped is None else wrapped,
        (add_log_level, TimeStamper(fmt="iso", utc=True), _bound_texts, *last),
        make_filtering_bound_logger(logging.INFO),
        dict,
    ).bind()


def _bound_texts(_wrapped: Any, _method: str, event: "EventDict") -> "EventDict":
    """Bound and escape texts, which are untrusted: they may neither control a terminal nor fill a disk."""
    return {key: _bounded(value, MAX_CHARACTERS) for key, value in event.items()}


def _bounded(value: Any, most: int) -> Any:
    match value:
        case str():
            text = printable(value[: most + 1])
            return text if len(text) <= most else text[: most - 1] + "…"
        case list() | tuple():
            return [_bounded(each, MAX_IN_LIST) for each in value]
        case dict():
            return {key: _bounded(each, MAX_IN_LIST) for key, each in value.items()}
        case _:
            return value


def _in_order(_wrapped: Any, _method: str, event: "EventDict") -> "EventDict":
    """Put the fields that every line has first."""
    first = {key: event.pop(key) for key in ("timestamp", "level", "event")}
    return first | dict(event)


def _as_json(_wrapped: Any, _method: str, event: "EventDict") -> bytes:
    return msgspec.json.encode(event) + b"\n"


def _as_shown(_wrapped: Any, _method: str, line: Any) -> bytes:
    return f"{CLEAR_LINE}{line}\n".encode()


def _blocks(lines: list[bytes]) -> Iterator[bytes]:
    block = b""
    for line in lines:
        if block and len(block) + len(line) > WRITE_BYTES:
            yield block
            block = b""
        block += line
    if block:
        yield block
