"""Pages of matches that are being played: live boards, the kiosk, and delayed pages with all secrets.

A delayed page shows all secrets, if the host wants it: the full view shows the deal, and all matches of a block
are played from the same deal. So a match is shown only when it is the last unfinished match of its block.
"""

from collections.abc import Iterator
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.errors import WrongUse
from arena.pages.competition import Competition, Overview
from arena.pages.contents import NoReplayError, check_size
from arena.pages.face import podium, team_names, teams_for_script
from arena.pages.matches import coming_text, match_file
from arena.pages.season import SeasonPages
from arena.pages.standings import bracket_rounds, leaders_table
from arena.pages.template import JSON, Page, PageMaker
from arena.pages.words import State, state_of
from arena.schedule import match_name, match_of, remote_bots
from arena.tournament import TRANSCRIPTS, Ledger, NotBegun
from protocol.codec import encode
from referee.match import AnyRecord
from referee.transcript import Broken, TranscriptError, TranscriptReading

if TYPE_CHECKING:
    from arena.replay import Recording

ROUNDS_ON_KIOSK = 3
"""Number of rounds of a bracket that a projector shows: the last ones."""
ON_KIOSK = 16
"""Number of bots that a projector shows while no match is played: the best ones."""
NOTHING: dict[str, Any] = {
    "coming": [], "standings": None, "state": None, "bracket": [], "events": "", "part": "", "firsts": [],
    "podium": [], "late": "", "teams_marked": "",
}  # fmt: skip
"""Values for a kiosk page while no results are known."""
MICROSECONDS = 1_000_000
MOST_LATE = 4
"""Maximum number of unfinished matches whose positions are sent to live pages with all secrets."""
MOST_REMARKS = 6
"""Number of remarks that are sent with a position, and of steps that they are taken from."""
BACK = ("../late.html", "All delayed matches")
"""Target and text of the link back from a match's page."""


def live_page(maker: PageMaker, competition: Competition) -> Page:
    """Return the page of all current matches with their boards."""
    overview = competition.overview()
    return maker.of_competition(
        competition,
        overview,
        "live",
        "live.html",
        layout="competition.html.jinja",
        title="Live",
        late=maker.late_state,
        teams_marked=teams_for_script(competition.face, overview.found.digest.labels),
    )


def kiosk_page(maker: PageMaker, competition: Competition) -> Page:
    """Return the page for a projector: current matches one after the other."""
    path = f"{competition.slug}/kiosk.html"
    values = _while_idle(competition) | {"late": maker.late_state}
    return maker.page("kiosk", path, title=competition.title, **values)


def feed_page(maker: PageMaker, slug: str, page: str) -> Page:
    """Return the page `live` or `kiosk` for a feed that belongs to no competition of this site."""
    path = f"{slug}/{page}.html"
    return maker.page(page, path, layout="base.html.jinja", title="Live", **NOTHING)


def season_kiosk_page(maker: PageMaker, season: SeasonPages) -> Page:
    """Return the kiosk page of a season: its running tournament, the decided final, or the latest stage's."""
    context = season.context(lambda _, __: "")
    competition = context["final"] or season.current()
    values = NOTHING
    if competition is not None:
        events = f"../{competition.slug}/live/events"
        late = maker.late_state and f"../{competition.slug}/{maker.late_state}"
        values = _while_idle(competition) | {"events": events, "late": late, "part": competition.name}
    values = values | {"firsts": context["firsts"]}
    return maker.page("kiosk", f"{season.slug}/kiosk.html", title=season.title, **values)


def _while_idle(competition: Competition) -> dict[str, Any]:
    """Return the values that a kiosk page shows while no match is played."""
    try:
        overview = competition.overview()
    except NotBegun as waiting:
        return NOTHING | {"state": State("stopped", waiting.text)}
    return NOTHING | {
        "coming": coming_text(overview),
        "standings": leaders_table(overview.found.digest, ON_KIOSK, team_names(competition.face)),
        "state": state_of(overview),
        "bracket": bracket_rounds(overview, lambda _: "")[-ROUNDS_ON_KIOSK:],
        "podium": podium(competition.face, overview) if overview.finished else [],
        "teams_marked": teams_for_script(competition.face, overview.found.digest.labels),
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


def late_state(maker: PageMaker, competition: Competition) -> Page | None:
    """Return the delayed positions of unfinished matches with all secrets, as JSON for live pages.

    The list `matches` has for each the name of its page in `match`, the feed's `id`, the number of its last
    `step`, the host's `views` of the last two steps, the latest `remarks` with weights, and the `scores` by seat.
    """
    if maker.delay is None:
        return None
    found = []
    for key in shown_late(competition)[-MOST_LATE:]:
        recording = _late_recording(competition, *key, maker.delay)
        if recording is not None and recording.steps:
            found.append(_latest(recording, match_name(*key)))
    return Page(encode({"seconds": maker.delay, "matches": found}), JSON)


def _latest(recording: "Recording", match: str) -> dict[str, Any]:
    """Return the last position of a recording, with the remarks of the last steps."""
    steps = recording.steps
    remarks = [remark for step in steps[-MOST_REMARKS:] for remark in (*step.faults, *step.remarks)]
    return {
        "match": match,
        "id": recording.terms.match,
        "step": len(steps),
        "views": [step.view("host") for step in steps[-2:]],
        "remarks": [[remark.text, remark.weight] for remark in remarks[-MOST_REMARKS:]],
        "scores": steps[-1].scores,
    }


def shown_late(competition: Competition) -> list[tuple[int, int]]:
    """Return block and seating of the unfinished matches that may be shown."""
    overview = competition.overview()
    if not overview.running or not _may_be_late(competition, overview):
        return []
    seatings = {block.number: len(block.shifts) for block in overview.coming}
    with closing(Ledger(competition.ledger)) as ledger:
        playing = dict.fromkeys((block, seating) for block, seating, _ in ledger.times().under_way)
        finished = ledger.finished(min((block for block, _ in playing), default=0))
    found = []
    for block, seating in playing:
        others = {(block, each) for each in range(seatings.get(block, 0))} - {(block, seating)}
        if block in seatings and (block, seating) not in finished and others <= finished:
            found.append((block, seating))
    return found


def _may_be_late(competition: Competition, overview: Overview) -> bool:
    """Return whether matches may be shown late with all secrets; see `arena.config.Face.show`."""
    if competition.withheld:
        return False
    show, found = competition.face.show, overview.found
    if show is not None:
        return show == "late"
    return found.spec is not None and not remote_bots(found.spec) and found.terms.get("isolation") != "none"


def late_page(competition: Competition, block: int, seating: int, seconds: float) -> bytes | None:
    """Return the page of an unfinished match as it was `seconds` before the last record of its transcript.

    None if the match may not be shown, or not yet. Uses seconds of processor time.
    """
    from arena.viewer import page_of  # noqa: PLC0415 - a tournament's report has no boards

    if (block, seating) not in shown_late(competition):
        return None
    recording = _late_recording(competition, block, seating, seconds)
    return None if recording is None else page_of(recording, back=BACK).encode()


def _late_recording(competition: Competition, block: int, seating: int, seconds: float) -> "Recording | None":
    """Return a match of `shown_late` as it was `seconds` before the last record of its transcript.

    None if it may not be shown yet. Uses seconds of processor time.
    """
    from arena.replay import recorded  # noqa: PLC0415 - a tournament's report has no boards

    with closing(Ledger(competition.ledger)) as ledger:
        name = ledger.under_way(block, seating)
    if name is None or "/" in name:
        return None
    part = competition.folder / TRANSCRIPTS / f"{name}.part"
    if not _is_inside(part, competition.folder):
        return None
    try:
        check_size(part)
        records = list(_so_far(TranscriptReading(part)))
        until = max((_at(record) for record in records), default=0) - seconds * MICROSECONDS
        if until <= 0:
            return None
        known = takewhile(lambda record: _at(record) <= until, records)
        return recorded(known, part, unfinished=True)
    except (NoReplayError, TranscriptError, WrongUse):
        return None  # For example, the match has just ended.


def _is_inside(part: Path, folder: Path) -> bool:
    """Return whether an unfinished transcript is in its results folder.

    A link could lead to a match of another competition, which may not be shown yet. Nothing vouches for the
    content of an unfinished transcript, unlike the hash of a finished one.
    """
    try:
        return part.resolve() == folder.resolve() / TRANSCRIPTS / part.name
    except (OSError, ValueError, RuntimeError):
        return False


def _so_far(reading: TranscriptReading) -> Iterator[AnyRecord]:
    try:
        yield from reading
    except Broken:  # The file of an unfinished match has no end yet.
        return


def _at(record: AnyRecord) -> int:
    """Return the time of a record in microseconds since the match's zero; 0 for earlier records."""
    at = getattr(record, "at", 0)
    return at if isinstance(at, int) else 0
