"""Pages of matches that are being played: live boards, the kiosk, and delayed pages with all secrets.

A delayed page shows all secrets, if the host wants it: the full view shows the deal, and all matches of a block
are played from the same deal. So a match is shown only when it is the last unfinished match of its block.
"""

from collections.abc import Iterator
from contextlib import closing
from itertools import takewhile
from typing import Any

from arena.errors import WrongUse
from arena.pages.competition import Competition
from arena.pages.contents import NoReplayError, check_size
from arena.pages.matches import coming_text, match_file
from arena.pages.season import SeasonPages
from arena.pages.standings import bracket_rounds, leaders_table
from arena.pages.template import Page, PageMaker
from arena.pages.words import State, state_of
from arena.schedule import match_name, match_of
from arena.tournament import TRANSCRIPTS, Ledger, NotBegun
from referee.match import AnyRecord
from referee.transcript import Broken, TranscriptError, TranscriptReading

ROUNDS_ON_KIOSK = 3
"""Number of rounds of a bracket that a projector shows: the last ones."""
ON_KIOSK = 16
"""Number of bots that a projector shows while no match is played: the best ones."""
NOTHING: dict[str, Any] = {
    "coming": [], "standings": None, "state": None, "bracket": [], "events": "", "part": "", "firsts": []
}  # fmt: skip
"""Values for a kiosk page while no results are known."""
MICROSECONDS = 1_000_000
BACK = ("../late.html", "All delayed matches")
"""Target and text of the link back from a match's page."""


def live_page(maker: PageMaker, competition: Competition) -> Page:
    """Return the page of all current matches with their boards."""
    return maker.of_competition(
        competition,
        competition.overview(),
        "live",
        "live.html",
        layout="competition.html.jinja",
        title="Live",
        late=maker.delay is not None,
    )


def kiosk_page(maker: PageMaker, competition: Competition) -> Page:
    """Return the page for a projector: current matches one after the other."""
    path = f"{competition.slug}/kiosk.html"
    return maker.page("kiosk", path, title=competition.title, **_while_idle(competition))


def feed_page(maker: PageMaker, slug: str, page: str) -> Page:
    """Return the page `live` or `kiosk` for a feed that belongs to no competition of this site."""
    path = f"{slug}/{page}.html"
    return maker.page(page, path, layout="base.html.jinja", title="Live", late=False, **NOTHING)


def season_kiosk_page(maker: PageMaker, season: SeasonPages) -> Page:
    """Return the kiosk page of a season: its running tournament, or the one that began last."""
    competition = season.current()
    values = NOTHING
    if competition is not None:
        events = f"../{competition.slug}/live/events"
        values = _while_idle(competition) | {"events": events, "part": competition.name}
    values = values | {"firsts": season.context(lambda _, __: "")["firsts"]}
    return maker.page("kiosk", f"{season.slug}/kiosk.html", title=season.title, **values)


def _while_idle(competition: Competition) -> dict[str, Any]:
    """Return the values that a kiosk page shows while no match is played."""
    try:
        overview = competition.overview()
    except NotBegun as waiting:
        return NOTHING | {"state": State("stopped", waiting.text)}
    return NOTHING | {
        "coming": coming_text(overview),
        "standings": leaders_table(overview.found.digest, ON_KIOSK),
        "state": state_of(overview),
        "bracket": bracket_rounds(overview, lambda _: "")[-ROUNDS_ON_KIOSK:],
    }


def late_list(maker: PageMaker, competition: Competition) -> Page | None:
    """Return the list of unfinished matches that are shown late with all secrets."""
    if maker.delay is None:
        return None
    matches = [(f"late/{match_file(*key)}", match_name(*key)) for key in shown_late(competition)]
    return maker.of_competition(
        competition,
        competition.overview(),
        "late",
        "late.html",
        title="All views, with a delay",
        seconds=f"{maker.delay:g}",
        matches=matches,
    )


def late_match(maker: PageMaker, competition: Competition, match: str) -> Page | None:
    """Return the delayed page of an unfinished match with all secrets; None if it may not be shown."""
    key = match_of(match)
    if maker.delay is None or key is None:
        return None
    body = late_page(competition, *key, maker.delay)
    return None if body is None else Page(body)


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
    # Imported late: a tournament's report has no boards.
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
