"""A tournament's report as one page of HTML: plots and tables, no script, nothing fetched from anywhere."""

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files

from msgspec import Struct

from arena.quantities import counted, duration
from arena.reports.html import html_lines, html_text
from arena.reports.svg import Bar, bars, heat, lines, spans
from arena.schedule import TWO
from arena.statistics import Digest, Rating, StandingsRow

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What the page asks of its browser: to fetch nothing, whatever stands in it."""
WORDS = ("bot",)
"""Headings of columns that hold no numbers."""
MOST_COLUMNS = 26
"""Bots that a heat map has columns for: the best ones."""


class About(Struct, frozen=True):
    """What was played."""

    title: str
    facts: tuple[tuple[str, str], ...]
    """What and how: game, variant, isolation, …"""
    own: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None
    """Headings and rows of the format's own table, if it has one."""
    bracket: str = ""
    """A knock-out's, drawn with letters."""
    order: str = "By mean points."
    """How the bots are placed."""
    notes: Sequence[str] = ()
    """What went wrong, a line for each bot."""
    usage: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None
    """Headings and rows of what the bots used."""


def page(about: About, digest: Digest) -> str:
    """The whole page."""
    style = files("arena").joinpath("report.css").read_text()
    facts = "".join(f"<div><dt>{html_text(what)}</dt><dd>{html_text(how)}</dd></div>" for what, how in about.facts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html_text(about.title)}</title><style>{style}</style></head><body>"
        f"<h1>{html_text(about.title)}</h1><dl>{facts}</dl>{''.join(_sections(about, digest))}</body></html>\n"
    )


def _sections(about: About, digest: Digest) -> Iterable[str]:
    """Headed parts of the page, those that have something to show."""
    if about.bracket:
        yield _section("Bracket", f"<pre>{html_lines(about.bracket)}</pre>", "Points, of tie-breaks behind a +.")
    if about.own is not None:
        yield _section("Result", _table(*about.own), "As the format counts.")
    rows, labels = digest.standings, [digest.labels[row.entrant] for row in digest.standings]
    yield _section("Standings", _standings(digest), about.order)
    if about.notes:
        items = "".join(f"<li>{html_text(note)}</li>" for note in about.notes)
        yield _section(
            "What went wrong",
            f"<ul>{items}</ul>",
            "The worst first. Logs are beside the transcripts, if a bot wrote anything.",
        )
    if not digest.matches:
        return
    yield _section(
        "Ratings",
        bars("Ratings with 95 % intervals", [_rated(digest, row) for row in rows], "Elo"),
        "With 95 % intervals, clustered by block. 400 points are odds of 10 to 1; the mean is 0. An arrow: results"
        " set no limit on that side.",
    )
    yield _section(
        "Against each other",
        heat("Mean points against each other", labels, labels_of(rows)[:MOST_COLUMNS], _against(rows)),
        "Mean points of a hundred, of the row against the column; the columns are in the same order.",
    )
    yield _section(
        "Which is stronger",
        heat("Likelihood of superiority", labels, labels_of(rows)[:MOST_COLUMNS], _superiority(digest)),
        "The probability, in percent, that the row's bot is stronger than the column's.",
    )
    moments = [(one.blocks, [one.elo[row.entrant] for row in rows]) for one in digest.moments]
    yield _section(
        "Ratings over time",
        lines("Ratings over time", labels, moments, "blocks", "Elo"),
        "As they would have been after so many blocks.",
    )
    yield _section("Seats", _seats(digest, labels), "Mean points of a hundred, by seat; 50 is the middle.")
    yield _section(
        "Time",
        spans("Charged time a window", list(_timed(digest)), duration),
        "Charged for a window, on average of a match: the median match, and from the tenth to the nine tenths."
        " A bot that never started is not there.",
    )
    if about.usage is not None:
        yield _section(
            "What the bots used",
            _table(*about.usage),
            "Charged time: half of all windows took at most so long, 99 % of them, all of them. Processor time of"
            " all matches together; the most memory at once. A dash: nobody counted.",
        )
    yield _section("Conduct", _conduct(digest), "Matches by how the bot behaved.")


def labels_of(rows: Sequence[StandingsRow]) -> list[str]:
    """Places in a table: 1, 2, …, and h for the house."""
    return ["h" if row.house else str(place) for place, row in enumerate(rows, start=1)]


def interval(rating: Rating) -> str:
    """A rating's interval in words."""
    if rating.low is None and rating.high is None:
        return "no limits"
    if rating.low is None:
        return f"below {rating.high:+z.0f}"
    return f"above {rating.low:+z.0f}" if rating.high is None else f"{rating.low:+z.0f} to {rating.high:+z.0f}"


def seat_rows(digest: Digest, order: Sequence[StandingsRow]) -> list[list[float | None]]:
    """Mean points by seat: everyone's first, then each bot's."""
    everyone = [mean.mean for mean in digest.by_seat]
    return [everyone, *([mean.mean for mean in digest.by_bot_and_seat[row.entrant]] for row in order)]


def _standings(digest: Digest) -> str:
    """The table: one row a bot."""
    # With more seats nobody has lost who is second: only who was first is counted.
    ended = ("won", "tied", "lost") if digest.seats <= TWO else ("wins", "shared wins")
    numbers = ("played", *ended, "faults", "defaults", "refused")
    return _table(
        ("#", "bot", "rating", "95 % interval", "mean points", *numbers),
        (
            (
                place,
                digest.labels[row.entrant],
                f"{digest.ratings.ratings[row.entrant].elo:+z.0f}",
                interval(digest.ratings.ratings[row.entrant]),
                "-" if row.mean is None else f"{row.mean:.3f}",
                *map(str, (row.played, *(row.wins, row.ties, row.losses)[: len(ended)])),
                *map(str, (row.faults, row.defaults, row.refused)),
            )
            for place, row in zip(labels_of(digest.standings), digest.standings, strict=True)
        ),
    )


def _conduct(digest: Digest) -> str:
    kinds = list(dict.fromkeys(kind for counts in digest.conduct for kind in counts))
    return _table(
        ("bot", *kinds),
        (
            (digest.labels[row.entrant], *(str(digest.conduct[row.entrant].get(kind, 0)) for kind in kinds))
            for row in digest.standings
        ),
    )


def _rated(digest: Digest, row: StandingsRow) -> Bar:
    rating = digest.ratings.ratings[row.entrant]
    tip = f"{rating.elo:+z.0f}, {interval(rating)}, {counted(rating.blocks, 'block')}"
    return Bar(digest.labels[row.entrant], rating.elo, rating.low, rating.high, tip)


def _timed(digest: Digest) -> Iterator[Bar]:
    """A bar for each bot that had a window."""
    for row in digest.standings:
        use = digest.time[row.entrant]
        if use is not None:
            tip = (
                f"median {duration(use.median)}, {duration(use.tenth)} to {duration(use.nine_tenths)},"
                f" most {duration(use.most)}"
            )
            yield Bar(digest.labels[row.entrant], use.median, use.tenth, use.nine_tenths, tip)


def _seats(digest: Digest, labels: Sequence[str]) -> str:
    heads = [str(seat) for seat in range(digest.seats)]
    return heat("Mean points by seat", ["all", *labels], heads, seat_rows(digest, digest.standings))


def _against(rows: Sequence[StandingsRow]) -> list[list[float | None]]:
    columns = rows[:MOST_COLUMNS]
    return [
        [row.against[other.entrant].mean if other.entrant in row.against else None for other in columns]
        for row in rows
    ]


def _superiority(digest: Digest) -> list[list[float | None]]:
    columns = digest.standings[:MOST_COLUMNS]
    return [
        [None if row is other else digest.ratings.superiority[row.entrant][other.entrant] for other in columns]
        for row in digest.standings
    ]


def _section(title: str, body: str, note: str) -> str:
    return f'<section><h2>{html_text(title)}</h2><p>{html_text(note)}</p><div class="wide">{body}</div></section>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    kinds = [' class="words"' if head in WORDS else "" for head in heads]
    head = "".join(f"<th{kind}>{html_text(each)}</th>" for kind, each in zip(kinds, heads, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{kind}>{html_text(cell)}</td>' for kind, cell in zip(kinds, row, strict=True))}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
