"""The list of bots, the index for searching bots, and the page of one bot."""

from collections.abc import Sequence
from typing import Any

import msgspec

from arena.pages.charts import line_chart
from arena.pages.competition import Overview
from arena.pages.standings import ratings_over_time
from arena.pages.tables import Cell, Table, table
from arena.pages.template import name
from arena.pages.words import Fact, competitors
from arena.quantities import counted, duration
from arena.reports import USAGE, interval, labels_of, note, usage_rows
from arena.schedule import TWO
from arena.statistics import Score

CHUNK = 200_000
"""Maximum bytes of one part of the index."""
MOST_OPPONENTS = 200
HASH_LETTERS = 23
"""Characters of a content hash that a page shows."""


def bots_table(overview: Overview, first: int, count: int) -> Table:
    """Return a table of `count` bots in the order of the standings, from index `first`."""
    digest = overview.found.digest
    places = labels_of(digest.standings)[first : first + count]
    rows = []
    for place, row in zip(places, digest.standings[first : first + count], strict=True):
        report = overview.found.reports[row.entrant]
        rating = digest.ratings.ratings[row.entrant]
        lost = f"{report.lost} of {report.matches}" if report.lost else "-"
        cells = (f"{rating.elo:+z.0f}", str(row.played), lost, str(row.defaults), str(row.refused))
        rows.append([Cell(place), Cell(digest.labels[row.entrant], f"bot/{row.entrant}.html"), *map(Cell, cells)])
    return table("Bots", ("#", "bot", "rating", "played", "matches lost by a fault", "defaults", "refused"), rows)


def index_chunks(overview: Overview) -> list[list[tuple[int, str, str]]]:
    """Return entrant, place and name of all bots in the order of the standings, split into parts."""
    digest = overview.found.digest
    chunks: list[list[tuple[int, str, str]]] = [[]]
    size = 0
    for place, row in zip(labels_of(digest.standings), digest.standings, strict=True):
        entry = (row.entrant, place, name(digest.labels[row.entrant]))
        size += len(msgspec.json.encode(entry)) + 1
        if size > CHUNK - 100:
            chunks.append([])
            size = 0
        chunks[-1].append(entry)
    return chunks


def bot_index(chunk: Sequence[tuple[int, str, str]], more: str | None) -> bytes:
    """Return a part of the index as JSON. `more` is the path of the next part, if any."""
    return msgspec.json.encode({"format": 1, "bots": chunk, "more": more})


def bot_parts(overview: Overview, bot: int) -> dict[str, Any]:
    """Return the values for the template of one bot, except its matches."""
    digest, report = overview.found.digest, overview.found.reports[bot]
    place, row = next(
        each for each in zip(labels_of(digest.standings), digest.standings, strict=True) if each[1].entrant == bot
    )
    rating = digest.ratings.ratings[bot]
    over_time = None
    if len(digest.moments) > 1 and overview.history is None:
        values = ratings_over_time(digest, bot)
        times = [each.matches for each in digest.moments]
        over_time = line_chart([(digest.labels[bot], values, "")], times, "match")
    met = [other.entrant for other in digest.standings if other.entrant in row.against]
    content = overview.found.content(bot)
    return {
        "facts_of_bot": [
            Fact(
                "place",
                "none: the house bot fills empty seats" if row.house else f"{place} of {competitors(digest)}",
            ),
            Fact("rating", f"{rating.elo:+z.0f}"),
            Fact("95 % interval", interval(rating)),
            Fact("mean points", "-" if row.mean is None else f"{row.mean:.3f}"),
            Fact("played", counted(row.played, "match")),
            *([] if content is None else [Fact("content", content[:HASH_LETTERS])]),
        ],
        "notes": note(report) if report.log else [],
        "over_time": over_time,
        "opponents": _scores(
            "opponent",
            [(Cell(digest.labels[other], f"{other}.html"), row.against[other]) for other in met[:MOST_OPPONENTS]],
            digest.seats,
        ),
        "more_opponents": len(met) if len(met) > MOST_OPPONENTS else 0,
        "seats": table(
            "By seat",
            ("seat", "played", "mean points"),
            [
                [str(seat), str(score.played), "-" if score.mean is None else f"{score.mean:.3f}"]
                for seat, score in enumerate(digest.by_bot_and_seat[bot])
            ],
            head="seat",
        ),
        "usage": _usage(overview, bot),
    }


def _scores(head: str, scores: Sequence[tuple[Cell, Score]], seats: int) -> Table:
    ended = ("won", "tied", "lost") if seats <= TWO else ("ranked before", "level", "ranked behind")
    rows = [
        [
            cell,
            *map(Cell, (str(score.played), str(score.wins), str(score.ties), str(score.losses))),
            Cell("-" if score.mean is None else f"{score.mean:.3f}"),
        ]
        for cell, score in scores
    ]
    return table("By opponent", (head, "played", *ended, "mean points"), rows, head=head)


def _usage(overview: Overview, bot: int) -> Table:
    digest = overview.found.digest
    [(_, *cells)] = usage_rows([""], [overview.found.reports[bot].total])
    use = digest.time[bot]
    median = "-" if use is None else duration(use.median)
    return table("Time and memory", ("time per move", *USAGE[1:]), [[median, *cells]], head="")
