"""What of a tournament belongs to one bot's author, in one archive: its seats' transcripts, logs, results, faults.

Of a season it has a folder for each stage or group in which the bot played.

The archive is built up from nothing. A match goes in once its block counts, for all matches of a block have one
deal. Of other seats it has who sat there, place, points, conduct and counts. The same ledger and files make the
same archive, to the byte.
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

from arena.errors import cannot_write
from arena.reports.match_list import MatchFilter, MatchListed, SeatListed, matches_csv, matches_listed
from arena.terminal import json_line
from arena.tournament import TRANSCRIPTS, Ledger
from protocol.refusals import Conduct
from referee.linux.files import MODE, read_regular, whole_file
from referee.printable import printable
from referee.transcript import Broken, Reading, TranscriptError, seat_lines

MOST_MATCHES = 1_000
"""Of one archive, unless another number is asked for: the last ones."""
MOST_BYTES = 1 << 30
"""Of all seats' transcripts and logs of one archive, before they are compressed; the latest matches come first."""
MOST_TRANSCRIPT = 256 << 20
"""Bytes of a match's transcript that is read."""
MOST_LOG = 64 << 20
"""The same of a bot's log."""
MOST_STARTS = 100
"""Logs of one seat of one match that are looked for: a bot that is started again has another."""
IN_MEMORY = 1 << 20
"""Bytes of a seat's transcript that are held until it is known to be right; more are in a temporary file."""
LONGEST_NAME = 60
"""Characters of an archive's name, without its ending."""
HASH_CHARACTERS = 12
"""Of a label's hash, behind a name that was cut."""
BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The time of each file in the archive: the earliest that the format has."""
RIGHTS = 0o644 << 16
CUT = "…"
"""Stands where a folder of this machine was named."""
_TAKEN = re.compile(r"con|prn|aux|nul|(com|lpt)\d", re.IGNORECASE)
"""Windows has devices of these names."""
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
    """A bot in one tournament."""

    ledger: Ledger
    """In its results folder."""
    labels: tuple[str, ...]
    """Of all entrants."""
    entrant: int
    """Whose matches go in."""
    folder: str = ""
    """Of a season's stage: its folder in the archive."""


class Packed(Struct, frozen=True, kw_only=True):
    """What went into an archive."""

    path: Path
    matches: int
    in_all: int
    """Matches of the bot that count."""
    seat_files: int
    logs: int
    missing: tuple[str, ...]
    """What could not go in, and why, a line each."""


def archive_name(label: str) -> str:
    """Return a bot's label as a name that every file system takes, and that is no other label's.

    Letters, digits, `_`, `-`, dots and spaces stay. What a file system may not take is spelled as in URLs, and
    `urllib.parse.unquote` gives the label back. A name that would be too long is cut, and ends in a hash.
    """
    name = quote(label, safe=" ").replace("~", "%7E")
    if name[:1] in {"", ".", "-", " "} or _TAKEN.fullmatch(name.partition(".")[0]):
        name = f"%{ord(name[0]):02X}{name[1:]}" if name else "%"
    if name.endswith((".", " ")):
        name = f"{name[:-1]}%{ord(name[-1]):02X}"
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}~{sha256(label.encode()).hexdigest()[:HASH_CHARACTERS]}"


def write_package(out: Path, shares: Sequence[Share], top: str, most: int) -> Packed:
    """Writes the archive of a bot's last matches.

    Args:
        out: its path. What is there is replaced once the new one is whole.
        shares: the tournaments that it is made of: one, or those of a season.
        top: the folder that all is in.
        most: matches of each that go in at most.

    Raises:
        WrongUse: it cannot be written there; or the ledger holds what is none of a match.
        MachineCannot: there is no space; or the ledger cannot be read.
    """
    left = MOST_BYTES
    packed = Packed(path=out, matches=0, in_all=0, seat_files=0, logs=0, missing=())
    try:
        with whole_file(out, MODE) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as whole:
            for share in shares:
                latest, in_all = _latest(share, most)
                archive = _Archive(whole, share, f"{top}/{share.folder}".rstrip("/"), left)
                packed = archive.fill(latest, in_all, packed)
                left = archive.left
    except OSError as error:
        raise cannot_write(out, error) from None
    return packed


def _latest(share: Share, most: int) -> tuple[tuple[MatchListed, ...], int]:
    """The last matches of a bot that count, and how many there are in all."""
    asked = MatchFilter(bot=share.entrant)
    latest: deque[MatchListed] = deque(maxlen=most)
    in_all = 0
    for match in filter(asked.fits, matches_listed(share.ledger, share.labels)):
        latest.append(match)
        in_all += 1
    return tuple(latest), in_all


class _Archive:
    """What one tournament gives to an archive, while it is written."""

    def __init__(self, whole: zipfile.ZipFile, share: Share, top: str, left: int) -> None:
        """`top`: the folder that all of it is in; `left`: bytes that still go in."""
        results = share.ledger.path.parent
        self._zip = whole
        self._transcripts = results / TRANSCRIPTS
        self._label = share.labels[share.entrant]
        self._entrant = share.entrant
        self._top = top
        self._stage = share.folder
        self.left = left
        self._seat_files = self._logs = 0
        self._missing: list[str] = []
        self._places = _places(results)

    def fill(self, matches: tuple[MatchListed, ...], in_all: int, before: Packed) -> Packed:
        """Writes all of it, the latest transcripts first; what went in then, with what did before."""
        told = [self._told(match) for match in matches]
        self._add("results.csv", (text.encode() for text in matches_csv(told)))
        self._add("results.json", (f"{json_line(one)}\n".encode() for one in told))
        self._add("faults.txt", (f"{line}\n".encode() for line in self._faults(told)))
        for match in reversed(matches):
            for seat in self._own(match):
                self._add_seat(match, seat)
        self._add("README.txt", [self._readme(len(matches), in_all).encode()])
        where = f"{self._stage}: " if self._stage else ""
        return Packed(
            path=before.path,
            matches=before.matches + len(matches),
            in_all=before.in_all + in_all,
            seat_files=before.seat_files + self._seat_files,
            logs=before.logs + self._logs,
            missing=(*before.missing, *(f"{where}{line}" for line in self._missing)),
        )

    def _own(self, match: MatchListed) -> list[SeatListed]:
        """The bot's own seats: a house has several."""
        return [each for each in match.seats if each.entrant == self._entrant]

    def _add(self, name: str, parts: Iterable[bytes]) -> None:
        entry = zipfile.ZipInfo(f"{self._top}/{name}", BEGINNING)
        entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, RIGHTS, 3
        with self._zip.open(entry, "w", force_zip64=True) as inside:
            for part in parts:
                inside.write(part)

    def _add_seat(self, match: MatchListed, own: SeatListed) -> None:
        """A seat's transcript and logs, under names made here: the ledger's may hold anything."""
        name = _seat_name(match, own)
        path = self._transcripts / match.transcript
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as whole:
            try:
                size = _write_seat(whole, path, own.seat, match)
            except TranscriptError as error:
                self._miss(name, f"the match's transcript {error.what}")
                return
            if not self._fits(name, size):
                return
            whole.seek(0)
            self._add(f"seats/{name}.jsonl", iter(lambda: whole.read(IN_MEMORY), b""))
            self._seat_files += 1
        for ending, log in _logs(path, own.seat):
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

    def _told(self, match: MatchListed) -> MatchListed:
        """What the author is told of a match. The transcript is that of the bot's first seat."""
        return MatchListed(
            match=match.match,
            block=match.block,
            seating=match.seating,
            seats=tuple(
                SeatListed(
                    seat=each.seat,
                    entrant=each.entrant,
                    bot=each.bot,
                    place=each.place,
                    points=each.points,
                    conduct=each.conduct,
                    windows=each.windows,
                    defaults=each.defaults,
                    refused=each.refused,
                    charged_us=each.charged_us,
                    # Others' may hold what they wrote: that is theirs.
                    causes=tuple(map(self._text, each.causes)) if each.entrant == self._entrant else (),
                )
                for each in match.seats
            ),
            transcript=f"seats/{_seat_name(match, self._own(match)[0])}.jsonl",
            head=match.head,
        )

    def _faults(self, matches: Iterable[MatchListed]) -> Iterator[str]:
        none = True
        for one in matches:
            for each in self._own(one):
                if each.conduct is not Conduct.OK or each.causes:
                    none = False
                    yield f"{one.match} seat {each.seat}: {each.conduct.value}: {'; '.join(each.causes) or '-'}"
        if none:
            yield "nothing went wrong"

    def _readme(self, count: int, in_all: int) -> str:
        left = f", the last {count} of them" if count < in_all else ""
        missing = "".join(f"\nNot in here: {line}" for line in self._missing)
        matches = f"{in_all} {'match' if in_all == 1 else 'matches'}"
        return README.format(bot=printable(self._label), count=matches, left=left, missing=missing + "\n")

    def _text(self, text: str) -> str:
        return printable(self._without_places(text.encode()).decode())

    def _without_places(self, content: bytes) -> bytes:
        """The content without paths of folders of this machine: a bot that runs without a sandbox sees them."""
        for place in self._places:
            content = content.replace(place, CUT.encode())
        return content


def _places(results: Path) -> list[bytes]:
    """The folders of this machine that may be named, the longest first."""
    found = {results.absolute(), results.resolve(), Path(tempfile.gettempdir()), Path.cwd()}
    with suppress(RuntimeError):  # There may be no home.
        found.add(Path.home())
    found.add(Path(__file__).resolve().parents[2])
    texts = {os.fsencode(place) for place in found if len(place.parts) > 1}
    return sorted(texts, key=lambda text: (-len(text), text))


def _seat_name(match: MatchListed, own: SeatListed) -> str:
    return f"{match.match}-seat-{own.seat}"


def _write_seat(to: IO[bytes], transcript: Path, seat: int, match: MatchListed) -> int:
    """Writes a seat's own transcript; how many bytes it has.

    Raises:
        TranscriptError: the match's is not there, does not hold, or is not the one that counts.
    """
    if os.sep in match.transcript or "\0" in match.transcript:
        raise TranscriptError("is not in the results folder")
    with suppress(OSError):  # Reading it says what is wrong.
        if transcript.stat().st_size > MOST_TRANSCRIPT:
            raise TranscriptError(f"is longer than {MOST_TRANSCRIPT >> 20} MB")
    reading = Reading(transcript)
    try:
        for line in seat_lines(iter(reading), seat):
            to.write(line)
    except Broken as broken:
        raise TranscriptError(f"does not hold: {broken.what}") from None
    if reading.verified().head != match.head:
        raise TranscriptError("is not the one that counts")
    return to.tell()


def _logs(transcript: Path, seat: int) -> Iterator[tuple[str, Path]]:
    """The logs of a seat that are there, as `referee.host.players` names them, each with the end of its name."""
    for start in range(1, MOST_STARTS + 1):
        ending = ".log" if start == 1 else f".start-{start}.log"
        log = transcript.with_name(f"{transcript.name.removesuffix('.jsonl')}.seat-{seat}{ending}")
        try:
            if log.is_file():
                yield ending, log
        except OSError:  # A name that is too long, for one.
            return
