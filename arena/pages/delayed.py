"""Unfinished matches with all secrets visible, shown with a delay of some seconds if the host wants it.

The full view shows the deal, and all matches of a block are played from the same deal. So a match is shown only
when it is the last unfinished match of its block.
"""

from collections.abc import Iterator
from contextlib import closing
from itertools import takewhile

from arena.errors import WrongUse
from arena.pages.competition import Competition
from arena.pages.contents import NoReplayError, check_size
from arena.tournament import TRANSCRIPTS, Ledger
from referee.match import AnyRecord
from referee.transcript import Broken, TranscriptError, TranscriptReading

MICROSECONDS = 1_000_000
BACK = ("../late.html", "All delayed matches")
"""Target and text of the link back from a match's page."""


def shown_late(competition: Competition) -> list[tuple[int, int]]:
    """Return block and seating of the unfinished matches that may be shown."""
    overview = competition.overview()
    if not overview.running:
        return []
    seatings = {block.number: len(block.shifts) for block in overview.coming}
    with closing(Ledger(competition.ledger)) as ledger:
        times, finished = ledger.times(), ledger.finished()
    found = []
    for block, seating in dict.fromkeys((block, seating) for block, seating, _ in times.under_way):
        others = {(block, each) for each in range(seatings.get(block, 0))} - {(block, seating)}
        if block in seatings and (block, seating) not in finished and others <= finished:
            found.append((block, seating))
    return found


def late_page(competition: Competition, block: int, seating: int, seconds: float) -> bytes | None:
    """Return the page of an unfinished match as it was `seconds` before the last record of its transcript.

    None if the match may not be shown, or not yet. Uses seconds of processor time.
    """
    # Imported late, as for replays: see `arena.pages.contents`.
    from arena.replay import recorded  # noqa: PLC0415
    from arena.viewer import page_of  # noqa: PLC0415

    if (block, seating) not in shown_late(competition):
        return None
    with closing(Ledger(competition.ledger)) as ledger:
        name = ledger.under_way(block, seating)
    if name is None or "/" in name:
        return None
    part = competition.folder / TRANSCRIPTS / f"{name}.part"
    try:
        check_size(part)
        records = list(_so_far(TranscriptReading(part)))
        until = max((_at(record) for record in records), default=0) - seconds * MICROSECONDS
        if until <= 0:
            return None
        known = takewhile(lambda record: _at(record) <= until, records)
        return page_of(recorded(known, part, unfinished=True), back=BACK).encode()
    except (NoReplayError, TranscriptError, WrongUse):
        return None  # For example, the match has just ended.


def _so_far(reading: TranscriptReading) -> Iterator[AnyRecord]:
    try:
        yield from reading
    except Broken:  # The file of an unfinished match has no end yet.
        return


def _at(record: AnyRecord) -> int:
    """Return the time of a record in microseconds since the match's zero; 0 for earlier records."""
    at = getattr(record, "at", 0)
    return at if isinstance(at, int) else 0
