"""An archive for a bot's author: results, faults, and the transcripts and logs of the bot's own seats.

The archive of a season has a folder for each stage or group in which the bot played.

A match is included once its block counts, because all matches of a block are played from the same deal. About
other seats, the archive only has the bot, place, points, conduct and counts. The same ledger and files always make
the same bytes.
"""

import os
import re
import tempfile
import zipfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from arena.errors import cannot_write
from arena.quantities import pluralise
from arena.reports.matches import MatchFilter, MatchListed, SeatListed, match_listed, matches_csv, matches_listed
from arena.terminal import json_line
from arena.tournament import TRANSCRIPTS, Ledger
from protocol.refusals import Conduct
from referee.display_text import printable
from referee.linux.files import MODE, read_regular, whole_file
from referee.transcript import Broken, TranscriptError, TranscriptReading, seat_lines

MOST_MATCHES = 1_000
"""Default maximum number of matches in an archive: the last ones."""
MOST_BYTES = 1 << 30
"""Maximum bytes of all transcripts and logs before compression; those of the latest matches are added first."""
MOST_TRANSCRIPT = 256 << 20
"""Maximum bytes of a match's transcript."""
MOST_LOG = 64 << 20
"""Maximum bytes of a log."""
MOST_STARTS = 100
"""Maximum number of logs of one seat in one match; a bot has one for each start."""
IN_MEMORY = 1 << 20
"""Maximum bytes of a seat's transcript held in memory until it is verified; more are in a temporary file."""
LONGEST_NAME = 60
"""Maximum number of characters of an archive's name, without its suffix."""
HASH_CHARACTERS = 12
"""Number of characters of the label's hash after a shortened name."""
BEGINNING = (1980, 1, 1, 0, 0, 0)
"""Time of each file in the archive: the earliest that the format allows."""
RIGHTS = 0o644 << 16
CUT = "…"
"""Text in place of the path of a folder of this machine."""
_TAKEN = re.compile(r"con|prn|aux|nul|(com|lpt)\d", re.IGNORECASE)
"""Names of devices on Windows."""
README = """\
{bot}: {count} that count{left}.

results.csv    a row for each seat of each match; causes are told of your own seats
results.json   the same, a match a line
faults.txt     what went wrong for your bot, match by match
seats/         what your bot was sent and what it sent, as it can be verified: arena replay FILE
logs/          what your bot wrote to standard output and standard error

Blocks, seatings and seats count from 0, in names of matches blocks count from 1. `head` is the hash of a match's
whole transcript, which the host has.
{missing}"""


class Share(Struct, frozen=True, kw_only=True):
    """A bot's part of one tournament."""

    ledger: Ledger
    """Ledger in the tournament's results folder."""
    labels: tuple[str, ...]
    """Labels of all entrants, by number."""
    entrant: int
    """Number of the bot."""
    folder: str = ""
    """Folder in the archive for a stage of a season; empty for a single tournament."""
    keys: Sequence[tuple[int, int]] | None = None
    """Block and seating of the bot's matches that count, in schedule order; None: they are found in the ledger."""


class Packed(Struct, frozen=True, kw_only=True):
    """Contents of an archive."""

    path: Path
    matches: int
    in_all: int
    """Number of all matches of the bot that count."""
    seat_files: int
    logs: int
    missing: tuple[str, ...]
    """Files that could not be included, each with the reason."""


def archive_name(label: str) -> str:
    """Return a file name for a bot's label that every file system accepts and that differs from all other labels'.

    Letters, digits, `_`, `-`, dots and spaces are kept; other characters are percent-encoded, so that
    `urllib.parse.unquote` returns the label. A name that would be too long is shortened and ends in a hash.
    """
    name = quote(label, safe=" ").replace("~", "%7E")
    if name[:1] in {"", ".", "-", " "} or _TAKEN.fullmatch(name.partition(".")[0]):
        name = f"%{ord(name[0]):02X}{name[1:]}" if name else "%"
    if name.endswith((".", " ")):
        name = f"{name[:-1]}%{ord(name[-1]):02X}"
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}~{sha256(label.encode()).hexdigest()[:HASH_CHARACTERS]}"


def write_package(out: Path, shares: Sequence[Share], top: str, most: int, *, logs: bool = True) -> Packed:
    """Write the archive of a bot's last matches.

    Args:
        out: path of the archive. An existing file is replaced once the new one is complete.
        shares: the tournaments to include: one, or those of a season.
        top: name of the top folder in the archive.
        most: maximum number of matches per tournament.
        logs: whether to include what the bot printed.

    Raises:
        WrongUse: the file cannot be written there, or a ledger holds a result that is not valid.
        MachineCannot: there is no space, or a ledger cannot be read.
    """
    left = MOST_BYTES
    packed = Packed(path=out, matches=0, in_all=0, seat_files=0, logs=0, missing=())
    try:
        with whole_file(out, MODE) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as whole:
            for share in shares:
                latest, in_all = _latest(share, most)
                archive = _Archive(whole, share, f"{top}/{share.folder}".rstrip("/"), left, logs=logs)
                packed = archive.fill(latest, in_all, packed)
                left = archive.left
    except OSError as error:
        raise cannot_write(out, error) from None
    return packed


def _latest(share: Share, most: int) -> tuple[tuple[MatchListed, ...], int]:
    """Return the last matches of a bot that count, and the number of all of them."""
    if share.keys is not None:
        found = share.ledger.some(share.keys[-most:])
        return tuple(match_listed(row, share.labels) for row in found), len(share.keys)
    asked = MatchFilter(bot=share.entrant)
    latest: deque[MatchListed] = deque(maxlen=most)
    in_all = 0
    for match in filter(asked.fits, matches_listed(share.ledger, share.labels)):
        latest.append(match)
        in_all += 1
    return tuple(latest), in_all


class _Archive:
    """Writer of one tournament's files into an archive."""

    def __init__(self, whole: zipfile.ZipFile, share: Share, top: str, left: int, *, logs: bool) -> None:
        """Write into the folder `top`; `left` is the number of bytes that may still be added."""
        results = share.ledger.path.parent
        self._zip = whole
        self._transcripts = results / TRANSCRIPTS
        self._label = share.labels[share.entrant]
        self._entrant = share.entrant
        self._top = top
        self._stage = share.folder
        self.left = left
        self._has_logs = logs
        self._seat_files = self._logs = 0
        self._missing: list[str] = []
        self._places = places_of(results)

    def fill(self, matches: tuple[MatchListed, ...], in_all: int, before: Packed) -> Packed:
        """Write all files, the latest transcripts first; return the contents, including those of `before`."""
        shown = list(map(self._for_author, matches))
        self._add("results.csv", matches_csv(shown))
        self._add("results.json", map("{}\n".format, map(json_line, shown)))
        self._add("faults.txt", map("{}\n".format, self._faults(shown)))
        for match in reversed(matches):
            for seat in self._own(match):
                self._add_seat(match, seat)
        self._add("README.txt", [self._readme(len(matches), in_all)])
        missing = self._missing
        if self._stage:
            missing = [f"{self._stage}: {line}" for line in missing]
        return Packed(
            path=before.path,
            matches=before.matches + len(matches),
            in_all=before.in_all + in_all,
            seat_files=before.seat_files + self._seat_files,
            logs=before.logs + self._logs,
            missing=(*before.missing, *missing),
        )

    def _own(self, match: MatchListed) -> list[SeatListed]:
        """Return the bot's seats; a house bot may have several."""
        return [each for each in match.seats if each.entrant == self._entrant]

    def _add(self, name: str, parts: Iterable[bytes | str]) -> None:
        entry = zipfile.ZipInfo(f"{self._top}/{name}", BEGINNING)
        entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, RIGHTS, 3
        with self._zip.open(entry, "w", force_zip64=True) as inside:
            for part in parts:
                inside.write(part.encode() if isinstance(part, str) else part)

    def _add_seat(self, match: MatchListed, own: SeatListed) -> None:
        """Add a seat's transcript and logs. Names in the ledger may contain anything, so they are not used."""
        name = _seat_name(match, own)
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as whole:
            try:
                path = transcript_in(self._transcripts, match.transcript)
                size = write_seat(whole, path, own.seat, match.head)
            except TranscriptError as error:
                self._miss(name, f"the match's transcript {error.what}")
                return
            if not self._fits(name, size):
                return
            whole.seek(0)
            self._add(f"seats/{name}.jsonl", iter(lambda: whole.read(IN_MEMORY), b""))
            self._seat_files += 1
        for ending, log in seat_logs(path, own.seat) if self._has_logs else ():
            try:
                content = self._without_places(read_regular(log, MOST_LOG))
            except OSError as error:
                self._miss(f"{name}{ending}", f"the log cannot be read: {error.strerror}")
                continue
            if self._fits(f"{name}{ending}", len(content)):
                self._add(f"logs/{name}{ending}", [content])
                self._logs += 1

    def _fits(self, name: str, size: int) -> bool:
        if size > self.left:
            self._miss(name, f"the archive has {MOST_BYTES >> 20} MB already")
            return False
        self.left -= size
        return True

    def _miss(self, name: str, why: str) -> None:
        self._missing.append(f"{name}: {self._text(why)}")

    def _for_author(self, match: MatchListed) -> MatchListed:
        """Return a match as the author sees it. The transcript is that of the bot's first seat."""
        transcript = f"seats/{_seat_name(match, self._own(match)[0])}.jsonl"
        return replace(match, seats=tuple(map(self._seat_for_author, match.seats)), transcript=transcript)

    def _seat_for_author(self, seat: SeatListed) -> SeatListed:
        # Causes may quote output of the bot, which only its own author may see.
        causes: tuple[str, ...] = ()
        if seat.entrant == self._entrant:
            causes = tuple(map(self._text, seat.causes))
        return replace(seat, causes=causes)

    def _faults(self, matches: Iterable[MatchListed]) -> Iterator[str]:
        any_fault = False
        for match in matches:
            for seat in self._own(match):
                if seat.conduct is not Conduct.OK or seat.causes:
                    any_fault = True
                    yield f"{match.match} seat {seat.seat}: {seat.conduct.value}: {'; '.join(seat.causes) or '-'}"
        if not any_fault:
            yield "nothing went wrong"

    def _readme(self, count: int, in_all: int) -> str:
        left = ""
        if count < in_all:
            left = f", the last {count} of them"
        missing = "".join(map("\nNot in here: {}".format, self._missing))
        matches = pluralise(in_all, "match")
        return README.format(bot=printable(self._label), count=matches, left=left, missing=missing + "\n")

    def _text(self, text: str) -> str:
        return printable(self._without_places(text.encode()).decode())

    def _without_places(self, content: bytes) -> bytes:
        """Replace the paths of folders of this machine, which a bot without a sandbox sees."""
        return without_places(content, self._places)


def without_places(content: bytes, places: Sequence[bytes]) -> bytes:
    """Replace the paths of folders of this machine, as of `places_of`, in a log."""
    for place in places:
        content = content.replace(place, CUT.encode())
    return content


def places_of(results: Path) -> list[bytes]:
    """Return the paths of folders of this machine that a log may contain, the longest first."""
    found = {results.absolute(), results.resolve(), Path(tempfile.gettempdir()), Path.cwd()}
    with suppress(RuntimeError):  # The user may have no home.
        found.add(Path.home())
    found.add(Path(__file__).resolve().parents[2])
    texts = {os.fsencode(place) for place in found if len(place.parts) > 1}
    return sorted(texts, key=lambda text: (-len(text), text))


def _seat_name(match: MatchListed, own: SeatListed) -> str:
    return f"{match.match}-seat-{own.seat}"


def transcript_in(folder: Path, name: str) -> Path:
    """Return the path of a transcript by its name in a ledger, which may be anything.

    Raises:
        TranscriptError: it is not in this folder.
    """
    if os.sep in name or "\0" in name:
        raise TranscriptError("is not in the results folder")
    return folder / name


def write_seat(to: IO[bytes], transcript: Path, seat: int, head: str) -> int:
    """Write a seat's own transcript; return its number of bytes.

    Args:
        to: the file.
        transcript: the match's transcript.
        seat: the seat.
        head: the hash of its last line in the ledger; "": any.

    Raises:
        TranscriptError: the match's transcript does not exist, is not valid, or is not the one that counts.
    """
    with suppress(OSError):  # Reading the file raises the error.
        if transcript.stat().st_size > MOST_TRANSCRIPT:
            raise TranscriptError(f"is longer than {MOST_TRANSCRIPT >> 20} MB")
    reading = TranscriptReading(transcript)
    try:
        for line in seat_lines(iter(reading), seat):
            to.write(line)
    except Broken as broken:
        raise TranscriptError(f"does not hold: {broken.what}") from None
    if head and reading.verified().head != head:
        raise TranscriptError("is not the one that counts")
    return to.tell()


def seat_logs(transcript: Path, seat: int) -> Iterator[tuple[str, Path]]:
    """Yield the existing logs of a seat, named as in `referee.host.players`, each with the end of its name."""
    for start in range(1, MOST_STARTS + 1):
        ending = ".log"
        if start > 1:
            ending = f".start-{start}.log"
        log = transcript.with_name(f"{transcript.name.removesuffix('.jsonl')}.seat-{seat}{ending}")
        try:
            if log.is_file():
                yield ending, log
        except OSError:  # For example, the name is too long.
            return
