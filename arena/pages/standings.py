"""The page of a competition: its standings, or the evidence of a regression test. The report has the same data."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import log10
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from arena.pages.charts import HeatCell, Interval, IntervalChart, LineChart, heat_cell, interval_chart, line_chart
from arena.pages.competition import Competition, Overview
from arena.pages.face import face_context, team_names, teams_for_script
from arena.pages.highlights import first_highlights
from arena.pages.pictures import card_path
from arena.pages.tables import Cell, PageTable, table
from arena.pages.template import ROWS, Page, PageMaker, numbered, numbered_links, page_count
from arena.pages.words import ends_text, facts, last_result, moment, rating_text, terms, terms_line
from arena.quantities import Column, duration, pluralise
from arena.regression import RegressionHistory, answers, evidence
from arena.reports import (
    DECISIONS,
    NOT_COMPARABLE,
    conduct_kinds,
    decision_rows,
    difference_text,
    events_of,
    explained_lines,
    headline_of,
    hypotheses_text,
    naming_columns,
    notes,
    points_text,
    prior_text,
    rating_columns,
    seat_rows,
    usage_columns,
    usage_text,
)
from arena.schedule import TWO, Tie, bot_column, match_name, places_of, round_title
from arena.statistics import (
    CONDUCT,
    COUNTS_OF_MANY,
    COUNTS_OF_TWO,
    MEAN_POINTS,
    PLAYED,
    BotColumn,
    Digest,
    Score,
    Sprt,
    SprtState,
    StandingsRow,
)
from arena.terminal import LONGEST_CELL, distinct_names

CHART_NAME, SMALL_NAME, BRACKET_NAME, PROJECTOR_NAME = 24, 20, 20, 42
"""Maximum width of a name in columns: next to a bar, above a small chart, in a bracket, on a projector."""
MOST_CHANGES = 100
"""Maximum number of changes of the field that a page lists: the latest ones."""
MOST_COLUMNS = 26
"""Maximum number of bots in a table of pairs: the best ones."""
MOST_PLOTTED = 50
"""Maximum number of rows in a chart."""
ONE_CHART = 8
"""Maximum number of bots that share one chart of ratings over time; otherwise each has its own chart."""
MOST_OVER_TIME = 24
MOST_MEETINGS = 32
"""Maximum number of meetings in a bracket's round; earlier rounds with more are omitted."""

NO_FIRST_PAGE: dict[str, Any] = {
    "prior": "",
    "bracket": [],
    "notes": [],
    **dict.fromkeys(("changes", "ratings", "against", "superiority", "over_time", "by_seat", "time")),
    **dict.fromkeys(("contenders", "plotted", "compared", "followed"), 0),
}
"""Values for the template that only the first page has, or only some competitions."""

Href = Callable[[int], str]
"""Returns the link to an entrant's page; "" if there is none."""


class Heat(Struct, frozen=True):
    """A table of coloured cells."""

    title: str
    heads: list[str]
    rows: list[tuple[Cell, list[HeatCell]]]


def standings_page(maker: PageMaker, competition: Competition, number: int = 1) -> Page | None:
    """Return a page of a competition's standings, or of a regression test; None if there is none."""
    overview = competition.overview()
    pages = page_count(len(overview.found.digest.labels), ROWS)
    if not 0 < number <= pages:
        return None
    face = {}
    if number == 1:
        face = face_context(competition, overview)
        face["highlights"] = first_highlights(maker, competition, overview)
    shown = standings_context(
        overview, "bot/{}.html".format, teams=team_names(competition.face), first=(number - 1) * ROWS
    )
    if competition.of_teams:
        shown["notes"] = []
    return maker.of_competition(
        competition,
        overview,
        "standings" if overview.history is None else "test",
        numbered("index", number),
        title=competition.title,
        shared_title=competition.title,
        description=terms_line(overview),
        image=_preview_image(maker, competition, overview),
        about=terms_line(overview),
        last=last_result(overview),
        facts=facts(overview),
        terms=terms(overview),
        pages=numbered_links(number, pages, "index"),
        first_page=number == 1,
        finished=overview.finished,
        late=maker.late_state,
        ends=ends_text(overview),
        **face,
        **shown,
        teams_marked=teams_for_script(competition.face, overview.found.digest.labels),
        **test_context(overview),
    )


def _preview_image(maker: PageMaker, competition: Competition, overview: Overview) -> str | None:
    """Return the path of the host's image, or else of the latest match's card; None if there is neither."""
    if image := competition.face.image:
        return f"{competition.slug}/{image}"
    for match in competition.some(overview.index.keys([len(overview.index) - 1])):
        if maker.pictures and competition.transcript(match) is not None:
            return card_path(match.played.head)
    return None


def standings_context(
    overview: Overview, href: Href, *, teams: Mapping[str, str], first: int = 0, count: int = ROWS
) -> dict[str, Any]:
    """Return the values for the template. The tables have `count` rows, from index `first` of the standings.

    `teams` has the names of teams by the labels of their bots.
    """
    digest = overview.found.digest
    page = slice(first, first + count)
    values: dict[str, Any] = NO_FIRST_PAGE | {
        "order": overview.order,
        "table": standings_table(digest, page, href, teams),
        "begun": digest.matches > 0,
        "own": _own(overview, page, href),
        "usage": _usage(overview, page, href),
        "conduct": _conduct(digest, page, href),
    }
    if digest.matches:
        values["prior"] = prior_text(digest)
    if first == 0:
        values |= {
            "bracket": bracket_rounds(overview, href),
            "notes": notes(digest.labels, overview.found.reports),
            "changes": _changes(overview),
        }
        if digest.matches:
            values |= _charts(digest, href)
    if overview.bracket and len(overview.bracket[0]) > MOST_MEETINGS:
        values["contenders"] = 2 * MOST_MEETINGS
    bots = len(digest.standings)
    limits = {"plotted": MOST_PLOTTED, "compared": MOST_COLUMNS, "followed": MOST_OVER_TIME}
    values |= {name: most for name, most in limits.items() if bots > most}
    return values | {"one_chart": bots <= ONE_CHART}


def _charts(digest: Digest, href: Href) -> dict[str, Any]:
    rows = digest.standings[:MOST_PLOTTED]
    charts = {
        "ratings": _ratings(digest, rows, href),
        "against": _against(digest, href),
        "superiority": _superiority(digest, href),
        "by_seat": _seats(digest, href),
        "time": _time(digest, rows, href),
    }
    if len(digest.moments) > 1:
        charts["over_time"] = _over_time(digest, href)
    return charts


class Side(Struct, frozen=True):
    """A bot of a meeting in a bracket."""

    name: str
    href: str
    points: str
    """Points of the meeting, then those of tie-breaks after a `+`; empty without an opponent."""
    won: bool


class BracketRound(Struct, frozen=True):
    """A column of a bracket: its meetings from top to bottom, with two bots, one bot, or none yet."""

    title: str
    meetings: list[list[Side]]


def bracket_rounds(overview: Overview, href: Href) -> list[BracketRound]:
    """Return all rounds, including future ones, without a large field's first ones; empty without a bracket."""
    labels = distinct_names(overview.found.digest.labels, BRACKET_NAME)
    sides = partial(_sides, labels=labels, href=href)
    drawn = [list(map(sides, ties)) for ties in overview.bracket]
    while drawn and len(drawn[-1]) > 1:
        drawn.append([[] for _ in drawn[-1][::2]])
    rounds = []
    for turn, meetings in enumerate(drawn):
        if len(meetings) <= MOST_MEETINGS:
            rounds.append(BracketRound(round_title(turn, len(drawn)), meetings))
    return rounds


def _sides(tie: Tie, labels: Sequence[str], href: Href) -> list[Side]:
    if tie.other is None:
        return [Side(labels[tie.one], href(tie.one), "", tie.winner == tie.one)]
    return [
        Side(labels[bot], href(bot), points_text(tie, side), tie.winner == bot)
        for side, bot in enumerate((tie.one, tie.other))
    ]


def standings_table(digest: Digest, page: slice, href: Href, teams: Mapping[str, str]) -> PageTable:
    """Return the standings table of one page, best bot first, with the bots' teams if there are any."""
    counts = COUNTS_OF_TWO if digest.seats <= TWO else COUNTS_OF_MANY
    ratings = map(_if_played, rating_columns(digest))
    named = (*naming_columns(digest), *_team_columns(digest, teams))
    columns = (*named, MEAN_POINTS, *ratings, *counts, *CONDUCT)
    return _bots_table("Standings", columns, digest.standings[page], href, faint_zeros=True)


def _team_columns(digest: Digest, teams: Mapping[str, str]) -> list[BotColumn]:
    """Return the column of teams; none if no bot has one."""
    if teams.keys().isdisjoint(digest.labels):
        return []
    return [Column("team", lambda row: teams.get(digest.labels[row.entrant], ""), is_text=True)]


def _if_played(column: BotColumn) -> BotColumn:
    """Return a column of ratings that is empty for a bot without a match."""
    return replace(column, value=lambda row: column.value(row) if row.played else None)


def leaders_table(digest: Digest, count: int, teams: Mapping[str, str]) -> PageTable:
    """Return the `count` best bots in a table that is narrow enough for a projector and a telephone."""
    best = digest.standings[:count]
    entrants = map(attrgetter("entrant"), best)
    names = dict(zip(entrants, _short_names(digest, best, PROJECTOR_NAME), strict=True))
    place, bot = naming_columns(digest)
    rating, _ = rating_columns(digest)
    short = replace(bot, value=lambda row: names[row.entrant])
    columns = (place, short, *_team_columns(digest, teams), MEAN_POINTS, _if_played(rating), PLAYED)
    return table("Standings", columns, best)


def _bots_table(
    title: str,
    columns: Sequence[BotColumn],
    rows: Sequence[StandingsRow],
    href: Href,
    *,
    faint_zeros: bool = False,
) -> PageTable:
    """Return a table whose names link to the pages of the bots."""
    return table(title, columns, rows, href=lambda row: href(row.entrant), faint_zeros=faint_zeros)


def _bot(digest: Digest, row: StandingsRow, href: Href) -> Cell:
    return Cell(digest.labels[row.entrant], href(row.entrant))


def _own(overview: Overview, page: slice, href: Href) -> PageTable | None:
    """Return the format's additional table; None if there is none."""
    own = overview.own
    if own is None:
        return None
    return _bots_table("Result", own.columns, own.rows[page], href)


def _usage(overview: Overview, page: slice, href: Href) -> PageTable:
    digest, reports = overview.found.digest, overview.found.reports
    columns = [bot_column(digest.labels), *usage_columns(reports)]
    return _bots_table("What the bots used", columns, digest.standings[page], href)


def _change_text(change: dict[str, Any]) -> str:
    # A total is one of deals; the terminal calls the matches of a deal a block.
    text: str = change["text"]
    if change["change"] == "extended":
        return text.replace("block", "deal")
    return text


def _from(change: dict[str, Any]) -> str:
    """Return the first match that a change concerns."""
    if change["refused"]:
        return "refused"
    if change["block"] is None:
        return "waits"
    return match_name(change["block"], 0)


def _day(at: str) -> str:
    when = moment(at)
    return at if when is None else f"{when:%Y-%m-%d %H:%M} UTC"


CHANGES: tuple[Column[dict[str, Any]], ...] = (
    Column("change", _change_text, is_text=True),
    Column("asked for", lambda change: _day(change["at"]), meaning="When the host requested it.", is_text=True),
    Column("from match", _from, meaning="The first match that it affects; waits: not in effect yet."),
)


def _changes(overview: Overview) -> PageTable | None:
    """Return the table of changes since the start, latest first; None if there were none."""
    changes = events_of(overview.found)[: -MOST_CHANGES - 1 : -1]
    if not changes:
        return None
    return table("Changes", CHANGES, changes, head="change")


def _conduct(digest: Digest, page: slice, href: Href) -> PageTable:
    columns = [bot_column(digest.labels), *conduct_kinds(digest)]
    return _bots_table("Conduct", columns, digest.standings[page], href, faint_zeros=True)


def _short_names(digest: Digest, rows: Sequence[StandingsRow], most: int) -> list[str]:
    return distinct_names([digest.labels[row.entrant] for row in rows], most)


def _tip(digest: Digest, row: StandingsRow, name: str, words: str) -> str:
    """Return the pointer text, with the full name if the shown name is shortened."""
    whole = digest.labels[row.entrant]
    if name != whole:
        words = f"{whole}: {words}"
    return words


def _ratings(digest: Digest, rows: Sequence[StandingsRow], href: Href) -> IntervalChart:
    found = []
    for row, name in zip(rows, _short_names(digest, rows, CHART_NAME), strict=True):
        rating = digest.ratings.ratings[row.entrant]
        words = f"{rating_text(rating)}, {pluralise(row.played, 'match')}"
        found.append(
            Interval(
                name=name,
                value=rating.elo,
                low=rating.prior_low,
                high=rating.prior_high,
                words=f"{rating.elo:+z.0f}",
                tip=_tip(digest, row, name, words),
                href=href(row.entrant),
                open_low=rating.low is None,
                open_high=rating.high is None,
            )
        )
    return interval_chart(found)


def _time(digest: Digest, rows: Sequence[StandingsRow], href: Href) -> IntervalChart:
    """Return a chart of the time per move of each bot that had a window."""
    found = []
    for row, name in zip(rows, _short_names(digest, rows, CHART_NAME), strict=True):
        use = digest.time[row.entrant]
        if use is not None:
            words = (
                f"median {duration(use.median)}, {duration(use.tenth)} to {duration(use.nine_tenths)},"
                f" longest {duration(use.most)}"
            )
            found.append(
                Interval(
                    name=name,
                    value=use.median,
                    low=use.tenth,
                    high=use.nine_tenths,
                    words=duration(use.median),
                    tip=_tip(digest, row, name, words),
                    href=href(row.entrant),
                )
            )
    return interval_chart(found, logarithmic=duration)


def _over_time(digest: Digest, href: Href) -> LineChart:
    rows = digest.standings[:MOST_OVER_TIME]
    # A shared chart has few bots, so its key has room for full names.
    names = _short_names(digest, rows, LONGEST_CELL if len(digest.standings) <= ONE_CHART else SMALL_NAME)
    series = []
    for name, row in zip(names, rows, strict=True):
        series.append((name, ratings_over_time(digest, row.entrant), href(row.entrant)))
    return line_chart(series, list(map(attrgetter("matches"), digest.moments)), "match")


def ratings_over_time(digest: Digest, entrant: int) -> list[float | None]:
    """Return a bot's rating at each moment; None before its first result."""
    first = digest.first[entrant]
    values: list[float | None] = [None] * len(digest.moments)
    for number, each in enumerate(digest.moments):
        if first is not None and first < each.matches:
            values[number] = each.elo[entrant]
    return values


def _compared(
    title: str,
    digest: Digest,
    href: Href,
    share: Callable[[StandingsRow, StandingsRow], float | None],
    missing: str = "",
) -> Heat:
    """Return a table of the best bots against each other. `missing` is the text of a pair without a share."""
    rows = digest.standings[:MOST_COLUMNS]
    places = places_of(digest.standings)[:MOST_COLUMNS]
    heat = Heat(title, places, [])
    for row in rows:
        cells = []
        for place, other in zip(places, rows, strict=True):
            text = "" if row is other else missing
            cells.append(heat_cell(share(row, other), f"against {place}", text))
        heat.rows.append((_bot(digest, row, href), cells))
    return heat


def _against(digest: Digest, href: Href) -> Heat:
    def share(row: StandingsRow, other: StandingsRow) -> float | None:
        return row.against.get(other.entrant, Score()).mean

    return _compared("Mean points against each other", digest, href, share)


def _superiority(digest: Digest, href: Href) -> Heat:
    def share(row: StandingsRow, other: StandingsRow) -> float | None:
        return None if row is other else digest.ratings.superiority[row.entrant][other.entrant]

    return _compared("Likelihood of superiority", digest, href, share, NOT_COMPARABLE)


def _seats(digest: Digest, href: Href) -> Heat:
    rows = digest.standings[:MOST_PLOTTED]
    heat = Heat("Mean points by seat", list(map(str, range(digest.seats))), [])
    names = [Cell("all"), *(_bot(digest, row, href) for row in rows)]
    for name, shares in zip(names, seat_rows(digest, rows), strict=True):
        heat.rows.append((name, [heat_cell(share, f"seat {seat}") for seat, share in enumerate(shares)]))
    return heat


MOST_DECISIONS = 200
BINS = 9
"""Number of bars for games with more than two seats: equal parts from -1 to 1."""
LLR_ABOUT = "The log-likelihood ratio (LLR). The test ends where it leaves the bounds."
MONEY_ABOUT = "Powers of ten of the e-values for and against. The test ends where one of them reaches its bound."
POINTS = ("0", "0.5", "1", "1.5", "2")


class Bar(Struct, frozen=True):
    """A bar of the chart of block results."""

    label: str
    count: int
    percent: float
    """Length in percent of the longest bar."""
    kind: str
    """`bad`, `good`, or empty for the middle."""


def test_context(overview: Overview) -> dict[str, Any]:
    """Return the values for the template."""
    history = overview.history
    if history is None:
        return {"test": None}
    test, headline, estimate, explained = history.test, "", "", []
    if history.interval is not None:
        headline = headline_of(test, history.scores, history.interval)
        estimate = difference_text(test, history.mean, history.interval)
    if overview.explained:
        explained = explained_lines(overview.explained)
    walk_about, bars_about = MONEY_ABOUT, "Head's mean points minus base's in a block."
    if isinstance(test, Sprt):
        walk_about, bars_about = LLR_ABOUT, "Points of head in a block of two matches, of 2."
    return {
        "test": history,
        "headline": headline,
        "resources": list(map(usage_text, history.usage)),
        "hypotheses": hypotheses_text(test),
        "evidence": evidence(test, history.state),
        "estimate": estimate,
        "explained": explained,
        "decisions": _decisions(overview),
        "walk": walk_chart(history),
        "walk_about": walk_about,
        "bars": bars(history),
        "bars_about": bars_about,
    }


def _decisions(overview: Overview) -> PageTable:
    """Return the table of decisions in which head differs from base."""
    rows = decision_rows(overview.explained, overview.found.digest.seats)[:MOST_DECISIONS]
    return replace(table("Where base and head differ", DECISIONS, rows, head="match"), sortable=False)


def walk_chart(history: RegressionHistory) -> LineChart:
    """Return a chart of the evidence after each block, with the bounds at which the test ends."""
    yes, no = answers(history.test)
    ratios, better, worse = [], [], []
    for state in history.states:
        if isinstance(state, SprtState):
            ratios.append(state.llr)
        else:
            better.append(log10(max(state.against_low, 1e-12)))
            worse.append(log10(max(state.against_high, 1e-12)))
    if isinstance(history.test, Sprt):
        series = [("LLR", ratios, "")]
        bounds = [(history.test.upper, f"accepted: {yes}"), (history.test.lower, f"rejected: {no}")]
    else:
        series = [(f"for: {yes}", better, ""), (f"for: {no}", worse, "")]
        bounds = [(-log10(history.test.alpha), "enough")]
    blocks = list(map(attrgetter("blocks"), history.states))
    return line_chart(series, blocks, "block", bounds=bounds, words="{:+z.2f}".format)


def bars(history: RegressionHistory) -> list[Bar]:
    """Return the number of blocks for each result."""
    if isinstance(history.state, SprtState):
        labels, counts = list(POINTS), list(history.state.counts)
    else:
        width = 2 / BINS
        labels, counts = [f"{-1 + width * (place + 0.5):+z.2f}" for place in range(BINS)], [0] * BINS
        for each in history.differences:
            counts[min(int((each + 1) / 2 * BINS), BINS - 1)] += 1
    middle = len(counts) // 2
    kinds = ["bad"] * middle + [""] + ["good"] * middle
    percents = [round(100 * count / (max(counts) or 1), 1) for count in counts]
    return list(map(Bar, labels, counts, percents, kinds))
