"""Uploads: a bot's archive from a form or from a program's request, streamed to the disk within bounds."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from http import HTTPStatus
from typing import Any

import python_multipart
import trio
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from arena.portal.visit import Visit
from arena.quantities import pluralise
from arena.submissions import Receipt, Upload, UploadPart, UploadStore
from arena.web import Refusal, check_length

PIECE_BYTES = 256 * 1024
"""Bytes that are collected before they are written, so that small pieces cost no thread each."""
SLOWEST_BYTES = 20_000
"""Bytes per second that an upload must bring on average, after `PATIENCE_SECONDS`."""
PATIENCE_SECONDS = 60.0
MEGABYTE = 1024 * 1024
TURN_SECONDS = 5.0
"""Seconds after which a team whose uploads arrive may begin another one."""
LONGEST_FIELD = 10_000
MOST_PARTS = 30
HEADER_BYTES = 4_000
"""Maximum bytes of the headers of one part of a form."""
FORM_OVERHEAD = 64 * 1024
"""Bytes of a form beside its file."""
LONGEST_FILENAME = 200
NO_FILE = "Choose an archive of your bot's folder, or the folder."


class UploadForm:
    """What a form brought: fields, and one file in the store."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.filename = ""
        self.upload: Upload | None = None


@contextmanager
def upload_turn(visit: Visit) -> Iterator[None]:
    """Let an upload of a team arrive in the block.

    Raises:
        Refusal: as many as may wait for a verdict arrive already.
    """
    uploading, team, most = visit.portal.uploading, visit.team, visit.portal.competition.terms.in_flight
    if uploading[team] >= most:
        text = f"{pluralise(most, 'upload')} of your team's arrive already: wait until they are here."
        raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, text, retry_after=TURN_SECONDS)
    uploading[team] += 1
    try:
        yield
    finally:
        uploading[team] -= 1
        if not uploading[team]:
            del uploading[team]


async def receive(visit: Visit, upload: Upload, filename: str, note: str, request: str | None) -> Receipt:
    """Record a submission of an upload; one that is refused leaves nothing. Raises as `Submissions.receive`."""
    portal = visit.portal

    def record() -> Receipt:
        if visit.has_ended():  # An upload may take the better part of an hour.
            raise Refusal(HTTPStatus.UNAUTHORIZED, "Your session or token has ended while the upload arrived.")
        return portal.submissions.receive(visit.account, upload, filename, note=note, request=request)

    try:
        return await portal.in_thread(record)
    except BaseException:
        # Else files without a submission, which no quota bounds, would fill the disk until they are swept.
        with trio.CancelScope(shield=True):
            await portal.in_thread(lambda: portal.submissions.drop(upload))
        raise


async def read_upload(request: Request, store: UploadStore, most_mb: int) -> Upload:
    """Return the upload of a request whose body is the archive.

    Raises:
        Refusal: it is too long, too slow, or broken off.
        SubmissionRefused: there is no room for it.
    """
    check_length(request, most_mb * MEGABYTE)
    part = await trio.to_thread.run_sync(store.begin)
    try:
        writer = _Writer(part)
        async with aclosing(_pieces(request, most_mb * MEGABYTE)) as pieces:
            async for piece in pieces:
                await writer.add(piece)
        return await writer.finish()
    finally:
        part.close()


async def read_upload_form(
    request: Request, store: UploadStore, most_mb: int, check: Callable[[dict[str, str]], None]
) -> UploadForm:
    """Return the form of a request, whose only file is in the store then.

    Args:
        request: the request.
        store: the store of uploads.
        most_mb: the maximum size of the file, in megabytes.
        check: called with the fields before the file is read, which must come last; raises to refuse.

    Raises:
        Refusal: it is no such form, too long, too slow, or broken off.
        SubmissionRefused: there is no room for the file.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 0 < len(boundary) <= 200:  # noqa: PLR2004 - RFC 2046 allows 70
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "This is not a form of this site.")
    most = most_mb * MEGABYTE + FORM_OVERHEAD
    check_length(request, most)
    part = await trio.to_thread.run_sync(store.begin)
    try:
        reader = _FormReader(boundary, check)
        writer = _Writer(part)
        async with aclosing(_pieces(request, most)) as pieces:
            async for piece in pieces:
                await writer.add(reader.feed(piece))
        reader.end()
        if not reader.has_file:
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, NO_FILE)
        form = UploadForm()
        form.fields, form.filename = reader.fields, reader.filename
        form.upload = await writer.finish()
        return form
    finally:
        part.close()


async def _pieces(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    """Yield a request's body, within bounds of size and time."""
    size = 0
    began = trio.current_time()
    try:
        async with aclosing(request.stream()) as pieces:
            while True:
                with trio.fail_at(began + PATIENCE_SECONDS + size / SLOWEST_BYTES):
                    try:
                        piece = await anext(pieces)
                    except StopAsyncIteration:
                        return
                size += len(piece)
                if size > most:
                    text = f"This is more than {most // MEGABYTE} MB: the host allows no more."
                    raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
                yield piece
    except trio.TooSlowError:
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "The upload was too slow: try again.") from None
    except ClientDisconnect:
        raise Refusal(HTTPStatus.BAD_REQUEST, "The connection ended before the upload was complete.") from None


class _Writer:
    """Writes pieces of an upload in a thread."""

    def __init__(self, part: UploadPart) -> None:
        self._part = part
        self._waiting = bytearray()

    async def add(self, data: bytes) -> None:
        """Write data, or collect it."""
        self._waiting += data
        if len(self._waiting) >= PIECE_BYTES:
            await self._write()

    async def finish(self) -> Upload:
        """Write the rest, and move the file into the store."""
        await self._write()
        return await trio.to_thread.run_sync(self._part.finish)

    async def _write(self) -> None:
        data = bytes(self._waiting)
        self._waiting.clear()
        if data:
            await trio.to_thread.run_sync(self._part.write, data)


class _FormReader:
    """Reads a form: fields into memory, and the bytes of its file as they come."""

    def __init__(self, boundary: bytes, check: Callable[[dict[str, str]], None]) -> None:
        self.fields: dict[str, str] = {}
        self.filename = ""
        self.has_file = False
        self._check = check
        self._parts = 0
        self._header = b""
        self._value = b""
        self._headers: dict[bytes, bytes] = {}
        self._size = 0
        """Bytes of the part's headers so far."""
        self._field: str | None = None
        """Name of the field that is read; None within a file."""
        self._data = bytearray()
        self._file = bytearray()
        """Bytes of the file that were read by the present `feed`."""
        self._ended = False
        callbacks: Any = {
            "on_part_begin": self._part_begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._part_data,
            "on_part_end": self._part_end,
            "on_end": self._end,
        }
        self._parser = MultipartParser(boundary, callbacks)

    def feed(self, piece: bytes) -> bytes:
        """Read a piece of the body; return the bytes of the file in it."""
        self._file.clear()
        try:
            self._parser.write(piece)
        except python_multipart.exceptions.FormParserError:
            raise Refusal(HTTPStatus.BAD_REQUEST, "This is not a form of this site.") from None
        return bytes(self._file)

    def end(self) -> None:
        """Check that the form was complete."""
        if not self._ended:
            raise Refusal(HTTPStatus.BAD_REQUEST, "The form was not complete.")

    def _part_begin(self) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS or self.has_file:
            raise Refusal(HTTPStatus.BAD_REQUEST, "The form has too many parts, or its file is not the last one.")
        self._headers.clear()
        self._header = self._value = b""
        self._size = 0

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += self._bounded(data[start:end])

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += self._bounded(data[start:end])

    def _bounded(self, data: bytes) -> bytes:
        self._size += len(data)
        if self._size > HEADER_BYTES:
            raise Refusal(HTTPStatus.BAD_REQUEST, "This is not a form of this site.")
        return data

    def _header_end(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b"").decode("latin-1"))
        filename = options.get(b"filename")
        self._data.clear()
        if filename is None:
            self._field = options.get(b"name", b"").decode("utf-8", "replace")
            return
        self._field = None
        self.has_file = True
        # Some browsers send a path.
        name = filename.decode("utf-8", "replace").replace("\\", "/").rpartition("/")[2]
        self.filename = name[-LONGEST_FILENAME:]
        self._check(self.fields)

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._field is None:
            self._file += data[start:end]
            return
        self._data += data[start:end]
        if len(self._data) > LONGEST_FIELD:
            raise Refusal(HTTPStatus.BAD_REQUEST, f"A field has more than {LONGEST_FIELD} bytes.")

    def _part_end(self) -> None:
        if self._field is not None:
            self.fields[self._field] = self._data.decode("utf-8", "replace")

    def _end(self) -> None:
        self._ended = True
