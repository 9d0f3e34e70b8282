"""The protocol between the arena and its referee processes: JSON in frames over a pair of sockets.

The arena sends orders, and a worker sends an answer to each. If the arena closes the stream, the worker stops its
matches and exits. If the worker closes it, the arena plays the unanswered matches again.
"""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal, assert_never

import msgspec
import trio
from msgspec import Raw, Struct
from msgspec.structs import replace

from arena.workers.api import WorkerGoneError
from referee.host import AttemptResult, Plan
from referee.linux.shortage import shortage_in
from referee.sandbox import SandboxError
from referee.transcript import TranscriptError

LENGTH_BYTES = 4
READ_BYTES = 65_536
NULL = Raw(b"null")


class MatchOrder(Struct, frozen=True, kw_only=True):
    """One match for a worker to play."""

    number: int
    plan: Plan
    """The plan without its options and setup, because msgspec can encode `Raw | None` but cannot decode it."""
    options: Raw
    setup: Raw
    players: Raw
    """A JSON array of players, in the worker's own player type."""
    transcript: Path

    def whole_plan(self) -> Plan:
        """Return the plan with its options and setup."""
        return replace(self.plan, options=_unless_null(self.options), setup=_unless_null(self.setup))


class Done(Struct, frozen=True, kw_only=True, tag="done"):
    """The answer for a match that was played."""

    number: int
    result: AttemptResult


class Failed(Struct, frozen=True, kw_only=True, tag="failed"):
    """The answer for a match that could not be played."""

    number: int
    kind: Literal["sandbox", "transcript", "shortage", "gone", "fault"]
    text: str
    errno: int | None = None
    """Error number of the operating system, if it caused the failure."""
    path: Path | None = None


Answer = Done | Failed


def order(number: int, plan: Plan, players: Sequence[Any], transcript: Path) -> MatchOrder:
    """Return an order for a match."""
    return MatchOrder(
        number=number,
        plan=replace(plan, options=None, setup=None),
        options=plan.options or NULL,
        setup=plan.setup or NULL,
        players=Raw(encoded(players)),
        transcript=transcript.resolve(),
    )


def failed(number: int, error: Exception) -> Failed:
    """Return the answer that reports an error to the arena."""
    match error:
        case SandboxError():
            return Failed(number=number, kind="sandbox", text=str(error))
        case TranscriptError(__cause__=OSError() as cause):
            return Failed(number=number, kind="transcript", text=error.what, errno=cause.errno, path=error.path)
        case TranscriptError():
            return Failed(number=number, kind="transcript", text=error.what, path=error.path)
        case WorkerGoneError():
            return Failed(number=number, kind="gone", text=str(error))
        case _:
            short = error if isinstance(error, OSError) else shortage_in(error)
            if short is None:
                return Failed(number=number, kind="fault", text=f"{type(error).__name__}: {error}")
            text, path = short.strerror or str(short), Path(short.filename) if short.filename else None
            return Failed(number=number, kind="shortage", text=text, errno=short.errno, path=path)


def error_of(failed: Failed) -> Exception:
    """Return the reported error as `referee.host.one_match.play` would have raised it."""
    match failed.kind:
        case "sandbox":
            return SandboxError(failed.text)
        case "transcript":
            error = TranscriptError(failed.text, failed.path)
            error.__cause__ = None if failed.errno is None else OSError(failed.errno, os.strerror(failed.errno))
            return error
        case "shortage":
            return OSError(failed.errno or 0, failed.text, None if failed.path is None else str(failed.path))
        case "gone":
            return WorkerGoneError(failed.text)
        case "fault":
            return RuntimeError(f"in a referee process: {failed.text}")
        case _ as unreachable:
            assert_never(unreachable)


def encoded(words: Any) -> bytes:
    """Return a message of this protocol, or players, as JSON."""
    return msgspec.json.encode(words, enc_hook=_path_to_text)


def decoded(text: bytes | Raw, kind: Any) -> Any:
    """Decode JSON from `encoded` into the type `kind`."""
    with _MAKING:
        decoder = _decoder(kind)
    return decoder.decode(text)


@lru_cache(maxsize=64)
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind, dec_hook=_text_to_path)


_MAKING = Lock()
"""Lock that lets one thread at a time create decoders.

While msgspec reads a type's hints, other threads can see its incomplete description of the type. A second thread
of a Dask worker that decodes the type at that time crashes the process.
"""


def framed(text: bytes) -> bytes:
    """Return a frame: the length of the text, and the text."""
    return len(text).to_bytes(LENGTH_BYTES, "big") + text


def take_frames(held: bytearray) -> Iterator[bytes]:
    """Remove the complete frames from a buffer of received bytes, and yield their contents."""
    while len(held) >= LENGTH_BYTES:
        end = LENGTH_BYTES + int.from_bytes(held[:LENGTH_BYTES], "big")
        if len(held) < end:
            return
        frame = bytes(held[LENGTH_BYTES:end])
        del held[:end]
        yield frame


async def frames(stream: trio.SocketStream) -> AsyncIterator[bytes]:
    """Yield the contents of received frames until the stream ends; ignore an incomplete last frame."""
    held = bytearray()
    while True:
        try:
            came = await stream.receive_some(READ_BYTES)
        except trio.BrokenResourceError:
            return
        if not came:
            return
        held += came
        for frame in take_frames(held):
            yield frame


def _unless_null(value: Raw) -> Raw | None:
    return None if bytes(value) == bytes(NULL) else value.copy()


def _path_to_text(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError


def _text_to_path(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError
