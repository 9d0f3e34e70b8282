"""A team's part of a match: the transcript of its own seat, the replay as that seat saw it, and its bot's logs.

All of it is made of the seat's own transcript, so that nothing of another seat can be in it.
"""

import io
import tempfile
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from starlette.responses import Response

from arena.errors import WrongUse
from arena.pages import Page
from arena.portal.visit import Visit
from arena.replay import recording_of_seat
from arena.reports import MOST_LOG, places_of, seat_logs, transcript_in, without_places, write_seat
from arena.viewer import page_of
from arena.web import ALWAYS, Rate, Refusal, private_page
from referee.display_text import printable
from referee.linux.files import read_regular
from referee.transcript import Differs, TranscriptError

FILES = Rate(burst=30, seconds=2.0)
"""Files of matches per account: to make one takes up to some seconds."""
MOST_SHOWN = 200
"""Maximum characters of the reason why a file cannot be made."""
MOST_TEXT = 1_000_000
"""Maximum bytes of a log that are shown: the last ones."""
LINES = "application/jsonl"
TEXT = "text/plain; charset=utf-8"
MadeT = TypeVar("MadeT")


class OwnSeat(Struct, frozen=True, kw_only=True):
    """A seat of a team's bot in a match that is over."""

    results: Path
    """Folder whose path logs must not show."""
    folder: Path
    """Folder of the match's transcript."""
    transcript: str
    """Name of the transcript, which has the secrets of all seats; a ledger's may be anything."""
    seat: int
    head: str = ""
    """Hash of the transcript's last line in the ledger; empty: the match is in none."""
    name: str
    """Name of the seat's file, without its ending."""


async def seat_response(visit: Visit, own: OwnSeat) -> Response:
    """Return a response with the transcript of a seat, for `arena replay` and `arena ask`."""
    content = await _made(visit, lambda: _seat_file(own))
    headers = {"content-disposition": f'attachment; filename="{own.name}.jsonl"'}
    return Response(content, headers=ALWAYS | {"cache-control": "no-store", "content-type": LINES} | headers)


async def replay_response(visit: Visit, own: OwnSeat, back: str) -> Response:
    """Return a response with a match's replay as the seat saw it. `back`: path of the page that leads to it."""
    link = (f"{visit.portal.guard.path}{back}", "Back to the match")
    return private_page(await _made(visit, lambda: _replay(own, link)))


async def log_response(visit: Visit, own: OwnSeat) -> Response:
    """Return a response with the output of a seat's bot, as text.

    Raises:
        Refusal: the host shows no logs, or there is none (404).
    """
    text = ""
    if visit.portal.competition.terms.logs == "own":
        text = await _made(visit, lambda: _log(own))
    if not text:
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such log.")
    headers = {"cache-control": "no-store", "content-type": TEXT}
    return Response(text.encode("utf-8", "replace"), headers=ALWAYS | headers)


def has_log(own: OwnSeat) -> bool:
    """Return whether there is output of a seat's bot."""
    try:
        return next(seat_logs(transcript_in(own.folder, own.transcript), own.seat), None) is not None
    except TranscriptError:
        return False


async def _made(visit: Visit, make: Callable[[], MadeT]) -> MadeT:
    """Return the result of a call in a thread that reads a transcript.

    Raises:
        Refusal: it cannot be made (410), or the account asks for too many.
    """
    visit.portal.rates.spend("files", str(visit.account.id), FILES)
    try:
        # So the files of one team delay those of another by one, and not by all.
        async with visit.portal.file_turns[visit.team]:
            return await visit.portal.in_files(make)
    except TranscriptError as error:
        why = error.what
    except Differs as error:
        why = str(error)
    except OSError as error:
        why = error.strerror or "cannot be read"
    raise Refusal(HTTPStatus.GONE, f"The match's transcript {printable(why)[:MOST_SHOWN]}.")


def _seat_file(own: OwnSeat) -> bytes:
    with io.BytesIO() as content:
        write_seat(content, transcript_in(own.folder, own.transcript), own.seat, own.head)
        return content.getvalue()


def _replay(own: OwnSeat, back: tuple[str, str]) -> Page:
    with tempfile.TemporaryDirectory(prefix="arena-") as folder:
        path = Path(folder) / "seat.jsonl"
        path.write_bytes(_seat_file(own))
        try:
            return Page(page_of(recording_of_seat(path), own.seat, back=back).encode())
        except WrongUse as error:
            raise TranscriptError(error.format_message().removeprefix(f"{path}: ")) from None


def _log(own: OwnSeat) -> str:
    """Return the output of all starts of the bot, made printable."""
    parts: list[str] = []
    places = places_of(own.results)
    for ending, log in seat_logs(transcript_in(own.folder, own.transcript), own.seat):
        content = without_places(read_regular(log, MOST_LOG, follow=False), places)[-MOST_TEXT:]
        lines = content.decode("utf-8", "replace").split("\n")
        parts += [f"== {own.name}{ending}", *map(printable, lines)]
    return "\n".join(parts)
