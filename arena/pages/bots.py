"""The pages of bots: their list, the index for searching them, and one bot."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from arena.pages.charts import line_chart
from arena.pages.competition import Competition, Overview
from arena.pages.matches import (
    SEAT_MEANING,
    TranscriptLinks,
    ended_text,
    filters_of,
    match_href,
    matches_of_bot,
    name_of,
    opponents_of,
    place_text,
    result_cell,
)
from arena.pages.standings import ratings_over_time
from arena.pages.tables import Cell, PageTable, in_line, plain_text, table
from arena.pages.template import (
    JSON,
    MATCHES_A_PAGE,
    ROWS,
    Page,
    PageMaker,
    name,
    newest_first,
    numbered,
    numbered_links,
    page_count,
)
from arena.pages.words import CompetitionFact, competitors
from arena.quantities import Column, duration, pluralise, three_digits
from arena.reports import USAGE, interval, naming_columns, note, rating_columns
from arena.schedule import TWO, WITHDRAWN_MARK, Entered, places_of
from arena.statistics import (
    DEFAULTS,
    MEAN_POINTS,
    PLAYED,
    REFUSED,
    TIME_PER_MOVE,
    BotColumn,
    Reported,
    Score,
    StandingsRow,
    points,
)
from referee.match import SeatReport

Row = TypeVar("Row")
CHUNK = 200_000
"""Maximum bytes of one part of the index."""
MOST_OPPONENTS = 200
FORM = 10
"""Number of the latest matches that are shown as marks."""
HASH_LETTERS = 23
"""Characters of a content hash that a page shows."""


def bots_page(maker: PageMaker, competition: Competition, number: int = 1) -> Page | None:
    """Return a page of the list of bots."""
    overview = competition.overview()
    pages = page_count(len(overview.found.digest.labels), ROWS)
    if not 0 < number <= pages:
        return None
    return maker.of_competition(
        competition,
        overview,
        "bots",
        numbered("bots", number),
        title="Bots",
        table=_bots_table(overview, (number - 1) * ROWS),
        pages=numbered_links(number, pages, "bots"),
    )


def bots_index(_: PageMaker, competition: Competition, number: int = 1) -> Page | None:
    """Return a part of the index for searching bots, as JSON with the path of the next part."""
    chunks = index_chunks(competition.overview())
    if not 0 < number <= len(chunks):
        return None
    more = None
    if number < len(chunks):
        more = numbered("bots", number + 1, "json")
    return Page(msgspec.json.encode({"format": 1, "bots": chunks[number - 1], "more": more}), JSON)


def bot_page(maker: PageMaker, competition: Competition, entrant: int, number: int | None = None) -> Page | None:
    """Return a bot's page, or page `number` of its matches; the newest matches are on the bot's page."""
    overview = competition.overview()
    digest = overview.found.digest
    rows = overview.index.of_bot(entrant)
    pages = page_count(len(rows))
    page = pages if number is None else number
    if entrant >= len(digest.labels) or not 0 < page <= pages:
        return None
    first = (page - 1) * MATCHES_A_PAGE
    found = competition.some(overview.index.keys(rows[first : first + MATCHES_A_PAGE]))
    latest: list[Reported] = []
    if page == pages:
        latest = competition.some(overview.index.keys(rows[-MATCHES_A_PAGE:]))
    return maker.of_competition(
        competition,
        overview,
        "bot",
        f"bot/{bot_file(entrant, page, pages)}",
        title=digest.labels[entrant],
        table=matches_of_bot(
            overview, found[::-1], match_href("../"), entrant, TranscriptLinks(maker, competition, "../../")
        ),
        first_page=page == pages,
        filters=filters_of(overview, found, entrant),
        filtered_bot=entrant,
        team=competition.face.team_of(digest.labels[entrant].removesuffix(WITHDRAWN_MARK)),
        published=competition.published.get(digest.labels[entrant].removesuffix(WITHDRAWN_MARK)),
        versions=_versions(overview, entrant),
        form=_form(overview, latest[-FORM:], entrant),
        extremes=_extremes(overview, latest, entrant),
        latest=len(latest),
        pages=newest_first(page, pages, lambda page: bot_file(entrant, page, pages)),
        **_bot_context(overview, entrant, causes=not competition.of_teams),
    )


class FormMark(Struct, frozen=True):
    """A bot's result in one match, as a mark."""

    mark: str
    """A letter or a place."""
    words: str
    """The result for those who do not see the mark."""
    kind: str
    href: str


class Extreme(Struct, frozen=True):
    """A bot's best or worst match."""

    title: str
    words: Cell
    href: str


def _form(overview: Overview, matches: Sequence[Reported], bot: int) -> list[FormMark]:
    """Return the results of a bot's matches as marks, in the order of the schedule."""
    digest = overview.found.digest
    marks = []
    for match in matches:
        seat = match.played.entrants.index(bot)
        ended = ended_text(match.played, seat)
        mark = ended.text[:1].upper() if digest.seats == TWO else place_text(match.played, seat)
        others = plain_text(opponents_of(match.played.entrants, digest.labels, digest.house, bot))
        words = f"{name_of(match)}: {ended.text} against {others}"
        marks.append(FormMark(mark, words, ended.kind, match_href("../")(match)))
    return marks


def _extremes(overview: Overview, matches: Sequence[Reported], bot: int) -> list[Extreme]:
    """Return the best result against strong bots and the worst against weak ones; none if all are alike."""
    digest = overview.found.digest
    ratings = digest.ratings.ratings

    def worth(match: Reported) -> tuple[float, float]:
        entrants = match.played.entrants
        others = [ratings[other].elo for other in entrants if other != bot] or [0.0]
        return points(match.played.outcome, entrants.index(bot)), sum(others) / len(others)

    if len({points for points, _ in map(worth, matches)}) < 2:  # noqa: PLR2004 - one best and one worst
        return []
    found = []
    for title, match in (("best match", max(matches, key=worth)), ("worst match", min(matches, key=worth))):
        _, strength = worth(match)
        words = in_line(result_cell(match.played, digest), f" (opponents rated {strength:+z.0f})")
        found.append(Extreme(title, words, match_href("../")(match)))
    return found


def _versions(overview: Overview, bot: int) -> list[tuple[str, str]]:
    """Return label and link of each version of a bot, the oldest first; without a link for this one.

    The list is empty if there is one version only.
    """
    labels = [label.removesuffix(WITHDRAWN_MARK) for label in overview.found.digest.labels]
    before: dict[int, int] = {}
    for event in overview.found.events:
        entered = event.what
        if event.block is None or event.refused is not None or not isinstance(entered, Entered):
            continue
        if entered.predecessor is not None and entered.label in labels:
            before[labels.index(entered.label)] = entered.predecessor
    after = {old: new for new, old in before.items()}
    chain = [bot]
    while chain[0] in before and len(chain) <= len(labels):
        chain.insert(0, before[chain[0]])
    while chain[-1] in after and len(chain) <= len(labels):
        chain.append(after[chain[-1]])
    known = [version for version in chain if version < len(labels)]
    if len(known) == 1:
        return []
    return [(labels[version], "" if version == bot else f"{version}.html") for version in known]


def bot_file(entrant: int, page: int, pages: int) -> str:
    """Return the file name of a bot's page, or of one with older matches; the last page is the newest."""
    return f"{entrant}.html" if page == pages else f"{entrant}-matches-{page}.html"


def _bots_table(overview: Overview, first: int) -> PageTable:
    """Return a table of `ROWS` bots in the order of the standings, from index `first`."""
    digest, reports = overview.found.digest, overview.found.reports
    rating, _ = rating_columns(digest)

    def lost(row: StandingsRow) -> str | None:
        report = reports[row.entrant]
        if not report.lost:
            return None
        return f"{report.lost} of {report.matches}"

    by_fault: BotColumn = Column(
        "matches lost by a fault",
        lost,
        meaning="Matches in which the bot lost by a fault, of all that it played. A dash: none.",
    )
    columns = (*naming_columns(digest), rating, PLAYED, by_fault, DEFAULTS, REFUSED)
    rows = digest.standings[first : first + ROWS]
    return table("Bots", columns, rows, href=lambda row: f"bot/{row.entrant}.html")


def index_chunks(overview: Overview) -> list[list[tuple[int, str, str]]]:
    """Return entrant, place and name of all bots in the order of the standings, split into parts."""
    digest = overview.found.digest
    chunks: list[list[tuple[int, str, str]]] = [[]]
    size = 0
    for place, row in zip(places_of(digest.standings), digest.standings, strict=True):
        entry = (row.entrant, place, name(digest.labels[row.entrant]))
        size += len(msgspec.json.encode(entry)) + 1
        if size > CHUNK - 100:
            chunks.append([])
            size = 0
        chunks[-1].append(entry)
    return chunks


def _bot_context(overview: Overview, bot: int, *, causes: bool) -> dict[str, Any]:
    """Return the values for the template of one bot, except its matches."""
    digest, report = overview.found.digest, overview.found.reports[bot]
    number = list(map(attrgetter("entrant"), digest.standings)).index(bot)
    place, row = places_of(digest.standings)[number], digest.standings[number]
    rating = digest.ratings.ratings[bot]
    over_time = None
    if len(digest.moments) > 1 and overview.history is None:
        values = ratings_over_time(digest, bot)
        times = list(map(attrgetter("matches"), digest.moments))
        band = [
            snapshot.ends[bot] if snapshot.ends and value is not None else None
            for snapshot, value in zip(digest.moments, values, strict=True)
        ]
        over_time = line_chart([(digest.labels[bot], values, "")], times, "match", band=band)
    place_text = f"{place} of {competitors(digest)}"
    if row.house:
        place_text = "none: the house bot fills empty seats"
    facts = [
        CompetitionFact("place", place_text),
        CompetitionFact("rating", f"{rating.elo:+z.0f}"),
        CompetitionFact("95 % interval", interval(rating)),
        CompetitionFact("mean points", MEAN_POINTS.cell(row)),
        CompetitionFact("played", pluralise(row.played, "match")),
    ]
    content = overview.found.content(bot)
    if content is not None:
        facts.append(CompetitionFact("content", content[:HASH_LETTERS]))
    met = [other.entrant for other in digest.standings if other.entrant in row.against]
    return {
        "facts_of_bot": facts,
        "notes": note(report) if report.log and causes else [],
        "over_time": over_time,
        "opponents": _opponents(overview, row, met[:MOST_OPPONENTS]),
        "more_opponents": len(met) if len(met) > MOST_OPPONENTS else 0,
        "seats": table("By seat", SEATS, list(enumerate(digest.by_bot_and_seat[bot])), head="seat"),
        "usage": _usage(overview, bot),
    }


def _score_columns(score_of: Callable[[Row], Score]) -> tuple[Column[Row], Column[Row]]:
    """Return the columns of matches played and of mean points."""
    return (
        Column("played", lambda row: score_of(row).played, meaning=PLAYED.meaning),
        Column("mean points", lambda row: score_of(row).mean, three_digits, meaning=MEAN_POINTS.meaning),
    )


SeatScore = tuple[int, Score]


def _score_in_seat(row: SeatScore) -> Score:
    return row[1]


SEATS: tuple[Column[SeatScore], ...] = (
    Column("seat", lambda row: row[0], meaning=SEAT_MEANING),
    *_score_columns(_score_in_seat),
)
RESULTS_OF_TWO = (
    ("won", "Matches that the bot alone won."),
    ("tied", "Matches in which the bot shared the first place."),
    ("lost", "All other matches."),
)
"""Headings and meanings of wins, ties and losses against one opponent."""
RESULTS_OF_MANY = (
    ("ranked before", "How often the bot was ranked before the other in a match of both."),
    ("level", "How often both had the same place."),
    ("ranked behind", "How often the bot was ranked behind the other."),
)
"""The same for games of more than two seats."""


def _opponents(overview: Overview, row: StandingsRow, met: Sequence[int]) -> PageTable:
    """Return the table of a bot's scores against the others that it met."""
    digest = overview.found.digest
    results = RESULTS_OF_TWO if digest.seats <= TWO else RESULTS_OF_MANY
    (won, won_meaning), (tied, tied_meaning), (lost, lost_meaning) = results

    def score(other: int) -> Score:
        return row.against[other]

    played, mean = _score_columns(score)
    columns: tuple[Column[int], ...] = (
        Column("opponent", lambda other: digest.labels[other], meaning="A bot that it met.", is_text=True),
        played,
        Column(won, lambda other: score(other).wins, meaning=won_meaning),
        Column(tied, lambda other: score(other).ties, meaning=tied_meaning),
        Column(lost, lambda other: score(other).losses, meaning=lost_meaning),
        mean,
    )
    return table("By opponent", columns, met, head="opponent", href=lambda other: f"{other}.html")


def _usage(overview: Overview, bot: int) -> PageTable:
    digest, reports = overview.found.digest, overview.found.reports
    median = getattr(digest.time[bot], "median", None)
    time: Column[SeatReport] = Column("time per move", lambda _: median, duration, meaning=TIME_PER_MOVE.meaning)
    return table("Time and memory", (time, *USAGE), [reports[bot].total], head="")
