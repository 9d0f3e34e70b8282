"""The page of one match: result, scores, curve and key moments; times and resources in a fold.

It never shows the seed of the deals.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from arena.config import Team
from arena.pages.charts import LineChart, line_chart
from arena.pages.competition import Competition, Overview
from arena.pages.contents import NoReplayError, replay_path, transcript_path
from arena.pages.matches import (
    LENGTH,
    SEATS_MEANING,
    headline,
    match_column,
    match_file,
    name_of,
    picture_of_match,
    place_text,
    result_column,
    result_sentence,
    score_unit,
    seats_cell,
)
from arena.pages.pictures import card_path
from arena.pages.tables import GLOSSARY, Cell, PageTable, table
from arena.pages.template import Page, PageMaker
from arena.quantities import MISSING, Column, duration, pluralise
from arena.reports import USAGE, SeatListed, match_listed, unusual_end
from arena.schedule import TWO, match_name, match_of
from arena.statistics import CountedMatch, Reported
from referee.match import SeatReport

if TYPE_CHECKING:
    from arena.replay import Story

MOST_VOIDS = 10
"""Maximum number of void attempts at a block whose reasons a page shows."""
MOST_LINES = 8
"""Maximum number of seats whose scores share one chart; more have a small chart each."""
START_UP: Column[SeatReport] = Column("start-up", lambda report: report.hello_us, duration)


class Honour(Struct, frozen=True):
    """A distinction that the game gives a seat in addition to its score."""

    word: str
    """The glossary's word for it."""
    text: str


class SeatOnPage(Struct, frozen=True):
    """Result and statistics of one seat in a match."""

    result: SeatListed
    place: str
    score: str
    """Score of the game; empty if it has none."""
    used: list[tuple[str, str]]
    """Heading and value of each measured resource."""
    honours: list[Honour]
    number: str
    """The bot's name with its number in the match's story, if several seats have the same bot; otherwise empty."""
    team: Team | None
    """The bot's team, if the host names one."""


class StoryOnPage(Struct, frozen=True, kw_only=True):
    """The story of a match as its page shows it."""

    story: "Story"
    curve: LineChart | None
    """Scores by step; None if the game has no commentary."""
    small: bool
    """True if each seat has a chart of its own."""


def old_match_page(maker: PageMaker, competition: Competition, block: int, seating: int) -> Page | None:
    """Return the page of a match at its old address of block and seating, to which older pages linked."""
    return match_page(maker, competition, match_name(block, seating))


def match_page(maker: PageMaker, competition: Competition, match: str) -> Page | None:
    """Return the page of a match; None until its block counts."""
    key = match_of(match)
    if key is None:
        return None
    block, seating = key
    overview = competition.overview()
    row = overview.index.row_of(block, seating)
    if row is None:
        return None
    together = competition.some(overview.index.of_block(block))
    for each in together:
        if each.played.seating == seating:
            return page_of_match(maker, competition, overview, each, row=row, block=together)
    return None


def page_of_match(
    maker: PageMaker,
    competition: Competition,
    overview: Overview,
    match: Reported,
    *,
    row: int,
    block: Sequence[Reported],
) -> Page:
    """Return the page of a match. `row` is its index row; `block` holds all matches of its block."""
    head, name = match.played.head, name_of(match)
    is_here = competition.transcript(match) is not None
    replay = replay_path(head) if is_here and maker.replays else None
    result = result_sentence(match.played, overview.found.digest)
    told, refused = None, ""
    if maker.story is not None:
        try:
            story = maker.story(competition, match)
            if story is not None:
                told = _story_on_page(story, match.played)
        except NoReplayError as error:
            refused = str(error)
    context = match_context(overview, match, block, told, competition)
    if competition.withholds:
        context["no_transcript"] = "The host shows replays once the competition is over."
    return maker.of_competition(
        competition,
        overview,
        "match",
        f"match/{name}.html",
        title=f"Match {name}",
        shared_title=result,
        description=f"Match {name} of {competition.title}",
        image=card_path(head) if replay and maker.pictures and not refused else None,
        replay=replay,
        embed=maker.embed_line(None if refused else replay, f"{competition.slug}/{name}", result),
        transcript=transcript_path(head) if is_here and maker.transcripts else None,
        its_name=f"{competition.slug}/{name}",
        is_elsewhere=not is_here,
        picture=picture_of_match(maker, match) if is_here and not refused else None,
        told=told,
        refused=refused,
        finished=overview.finished,
        pages=neighbours(overview, row),
        **context,
    )


def neighbours(overview: Overview, row: int) -> list[tuple[str, str]]:
    """Return links to the previous and the next match of the schedule."""
    found = []
    for word, other in (("Previous match", row - 1), ("Next match", row + 1)):
        found += [(word, match_file(*key)) for key in overview.index.keys([other])]
    return found


def match_context(
    overview: Overview,
    match: Reported,
    block: Sequence[Reported],
    told: StoryOnPage | None,
    competition: Competition,
) -> dict[str, Any]:
    """Return the values for the template of one match. `block` holds all matches of its block."""
    digest, played = overview.found.digest, match.played
    no_transcript = "The transcript is not in the results folder."
    if "://" in match.transcript:
        no_transcript = f"The transcript is at {match.transcript}."
    seats = seats_of(match, digest.labels, () if told is None else told.story.names, competition)
    return {
        "headline": headline(played, digest),
        "reason": unusual_end(played.outcome.reason),
        "unit": score_unit(overview),
        "seats": seats,
        "explained": _explained(seats),
        "ranked": sorted(seats, key=lambda seat: seat.result.place),
        "length": LENGTH.cell(match),
        "thinking": duration(sum(played.charged_us)),
        "others": _seatings(overview, block),
        # These texts may reveal the deal, which is no longer secret now that the block is over.
        "voids": [why for block, _, why in overview.found.voids if block == played.block][:MOST_VOIDS],
        "head": played.head,
        "no_transcript": no_transcript,
    }


def _story_on_page(story: "Story", played: CountedMatch) -> StoryOnPage:
    """Return a story with its chart. Lines are in the order of seats, and have the colours of the board."""
    lines = []
    for seat, scores in enumerate(story.scores[: len(played.entrants)]):
        lines.append((story.names[seat], scores, f"../bot/{played.entrants[seat]}.html"))
    curve = None
    if len(story.times) > 1 and lines:
        curve = line_chart(lines, story.times, "step", words="{:.0f}".format)
    return StoryOnPage(story=story, curve=curve, small=len(lines) > MOST_LINES)


def _seatings(overview: Overview, matches: Iterable[Reported]) -> PageTable:
    """Return the table of a block's matches with the bots in their seats."""
    digest = overview.found.digest

    def seats(match: Reported) -> Cell:
        return seats_cell(match.played.entrants, digest)

    def href(match: Reported) -> str:
        return f"{name_of(match)}.html"

    seats_column = Column("seats", seats, meaning=SEATS_MEANING, is_text=True)
    columns = (match_column(name_of), seats_column, result_column(overview), LENGTH)
    return table("Matches from this deal", columns, list(matches), head="match", href=href)


def seats_of(
    match: Reported, labels: Sequence[str], names: Sequence[str], competition: Competition
) -> list[SeatOnPage]:
    """Return the seats of a match, from seat 0, with teams, and with the causes of losses if all may know them.

    `names`: the names in its story, by seat, no two alike.
    """
    played = match.played
    found = []
    for each in match_listed(match, labels, () if competition.of_teams else None).seats:
        score = (played.outcome.scores or {}).get(str(each.seat))
        number = ""
        if played.entrants.count(each.entrant) > 1:
            number = names[each.seat] if each.seat < len(names) else f"{each.bot}, seat {each.seat}"
        found.append(
            SeatOnPage(
                result=each,
                place=place_text(played, each.seat),
                score="" if score is None else str(score),
                used=_used(match, each.seat),
                honours=_honours(played, each.seat),
                number=number,
                team=competition.face.team_of(each.bot),
            )
        )
    return found


def _used(match: Reported, seat: int) -> list[tuple[str, str]]:
    """Return heading and value of each measured resource."""
    if not match.reports:
        return []
    used = {column.heading: column.cell(match.reports[seat]) for column in (*USAGE, START_UP)}
    return [(heading, value) for heading, value in used.items() if value != MISSING]


def _honours(played: CountedMatch, seat: int) -> list[Honour]:
    """Return tokens and garnets of a seat, and whether it is a named winner or a candidate for elimination."""
    outcome, key = played.outcome, str(seat)
    found = []
    for word, by_seat in (("token", outcome.tokens), ("garnet", outcome.garnets)):
        if number := by_seat.get(key, 0):
            found.append(Honour(word, f"{'loses ' * (number < 0)}{pluralise(abs(number), word)}"))
    if len(played.entrants) == TWO:  # With two seats, the places already name the winner.
        return found
    if seat in outcome.winners:
        found.append(Honour("named winner", "named winner"))
    if seat == outcome.eliminated:
        found.append(Honour("elimination candidate", "elimination candidate"))
    return found


def _explained(seats: Iterable[SeatOnPage]) -> list[tuple[str, str]]:
    """Return each word of the seats' honours with its meaning."""
    words = dict.fromkeys(honour.word for seat in seats for honour in seat.honours)
    return [(word, GLOSSARY[word]) for word in words]
