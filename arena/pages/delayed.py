"""Matches that are being played, with all eyes, some seconds late: what a host may have shown.

A match with all eyes shows its deal, from which all matches of its block are played. So it is shown only while it
is the last of its block that is not over.
"""

from collections.abc import Iterator
from contextlib import closing
from itertools import takewhile

from arena.errors import WrongUse
from arena.pages.competition import Competition
from arena.pages.contents import NoReplayError, check_size
from arena.tournament import TRANSCRIPTS, Ledger
from referee.match import AnyRecord
from referee.transcript import Broken, Reading, TranscriptError

MICROSECONDS = 1_000_000
BACK = ("../late.html", "All delayed matches")
"""Where the page of a match leads."""


def shown_late(competition: Competition) -> list[tuple[int, int]]:
    """Block and seating of the matches that may be shown while they are played."""
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
    """A match that is being played, as it was so many seconds before the last that was written of it.

    None: it may not be shown, or not yet. Takes seconds of a processor.
    """
    # Here, as for replays: see `arena.pages.contents`.
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
        records = list(_so_far(Reading(part)))
        until = max((_at(record) for record in records), default=0) - seconds * MICROSECONDS
        if until <= 0:
            return None
        known = takewhile(lambda record: _at(record) <= until, records)
        return page_of(recorded(known, part, unfinished=True), back=BACK).encode()
    except (NoReplayError, TranscriptError, WrongUse):
        return None  # It has just ended, for one.


def _so_far(reading: Reading) -> Iterator[AnyRecord]:
    try:
        yield from reading
    except Broken:  # The file has no end yet.
        return


def _at(record: AnyRecord) -> int:
    """When it was written, in microseconds since the match's zero; 0 of what was written before."""
    at = getattr(record, "at", 0)
    return at if isinstance(at, int) else 0
