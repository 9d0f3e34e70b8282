"""Results of a tournament and the entries of its field: tables for people, JSON for programs."""

import sys
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from arena.config import Tournament
from arena.quantities import Column, Table, percent, plain, rounded, values
from arena.reports.attempts import asides_json, attempts_json, left_out_json
from arena.reports.bots import reports_json
from arena.reports.bracket import ASCII, BOXES, draw
from arena.reports.standings import HOUSE
from arena.schedule import (
    TWO,
    Contest,
    Entered,
    Event,
    Tie,
    Withdrawn,
    bot_column,
    competing,
    entered,
    format_of,
    format_table,
    places_of,
)
from arena.statistics import (
    FOR_PROGRAMS,
    MEAN_POINTS,
    PLAYED,
    RECORD,
    WHOLE_US_PER_WINDOW,
    WINS,
    BotColumn,
    Digest,
    Score,
    StandingsRow,
)
from arena.terminal import Grid, Screen, fits, grid, show
from arena.tournament import PAGE, TRANSCRIPTS, FieldState, FinalResults, Results, Terms, change_text
from referee.host import RemoteBot

SHOWN_TERMS = {
    "game": "game",
    "variant": "variant",
    "format": "format",
    "isolation": "isolation",
    "policy.processes": "processes",
}
"""Terms that reports show, each with its name there. The seed is not shown, because it determines future deals."""
HASH_SHOWN = 19
"""Number of characters of a content hash in a table: `sha256:` and twelve digits."""
NOT_YET = "waits"
"""Text in place of a block until an arena has accepted the change."""


def matches_text(results: Results) -> str:
    """Return the number of matches that count, and of how many: `32 of 180`."""
    played = results.digest.matches
    return str(played) if results.total in (None, played) else f"{played} of {results.total}"


def terms_told(terms: Terms) -> dict[str, str]:
    """Return the terms that reports show, by their names there."""
    return {name: str(terms[key]) for key, name in SHOWN_TERMS.items() if key in terms}


def crosstable(rows: Sequence[StandingsRow], labels: Sequence[str], seats: int, *, matrix: bool = True) -> Grid:
    """Return the standings, with the results of all pairs of bots unless `matrix` is False.

    A pair's cell has the points of the row's bot; with more than two seats, the share of matches in which it was
    ranked before the other.
    """
    places = [str(place) for place in range(1, len(rows) + 1)] if seats == TWO else places_of(rows)
    columns = [MEAN_POINTS, RECORD] if seats == TWO else [MEAN_POINTS, PLAYED, WINS]
    if matrix:
        for place, other in zip(places, rows, strict=True):
            columns.append(_against(place, other.entrant, seats))
    return grid(format_table(labels, rows, columns, places))


def _against(place: str, other: int, seats: int) -> BotColumn:
    """Return the column of a crosstable about one opponent."""
    if seats == TWO:
        return Column(place, lambda row: row.against[other].points if other in row.against else None, plain)
    return Column(place, lambda row: row.against[other].mean if other in row.against else None, percent)


def show_crosstable(screen: Screen, rows: Sequence[StandingsRow], labels: Sequence[str], seats: int) -> None:
    """Print the standings; at a terminal that is too narrow, without the results of pairs."""
    whole = crosstable(rows, labels, seats)
    if fits(screen, whole) or not screen.is_terminal:
        show(screen, whole)
        return
    show(screen, crosstable(rows, labels, seats, matrix=False))
    screen.say(f"each against each: this terminal is too narrow; the page has it ({PAGE}, or arena report --html)")


def print_bracket(screen: Screen, bracket: Sequence[Sequence[Tie]], labels: Sequence[str]) -> None:
    """Print a knock-out's bracket, if there is one."""
    if lines := draw(bracket, labels, BOXES if sys.stdout.isatty() else ASCII):
        # A bracket cannot be read if its lines are cut or folded to the width of the screen.
        screen.print(Text("\n".join(lines)), crop=False, soft_wrap=True, end="\n\n")


def print_result(screen: Screen, contest: Contest, rows: Sequence[StandingsRow], seats: int) -> None:
    """Print the bracket, if the format has one, and the table of a tournament."""
    format_ = format_of(contest.spec)
    print_bracket(screen, format_.bracket(contest), contest.labels)
    own = format_.table(contest, rows)
    if own is None:
        show_crosstable(screen, rows, contest.labels, seats)
    else:
        show(screen, grid(own))


def results_json(tournament: Tournament, results: FinalResults) -> dict[str, Any]:
    """Return the results of a finished run, and what it was played with, as plain values."""
    form = tournament.form
    bots = []
    for entrant, (label, bot) in enumerate(zip(tournament.shown, tournament.bots, strict=True)):
        house = entrant == tournament.house
        entry = {"bot": label, "version": bot.version, "content": bot.content, "house": house}
        bots.append(entry | {"remote": True} if isinstance(bot, RemoteBot) else entry)
    return {
        "game": form.game,
        "variant": tournament.variant,
        "format": form.format,
        "blocks": form.blocks,
        "rotations": tournament.rotations,
        "design": results.design,
        "seed": results.contest.seed,
        "isolation": form.isolation,
        "processes": form.policy.processes,
        "bots": bots,
        "left_out": left_out_json(results),
        **changes_json(tournament),
        **format_of(results.contest.spec).as_json(results.contest),
        "standings": standings_json(results.standings, tournament.shown),
        "ratings": ratings_json(results.digest),
        "reports": reports_json(tournament.shown, results.reports, tournament.results / TRANSCRIPTS),
        "void": attempts_json(results.voids),
        "set_aside": attempts_json(results.set_aside),
        "lost": attempts_json(results.lost),
        **asides_json(results.asides, tournament.labels),
        "results": str(tournament.results),
    }


def changes_json(tournament: Tournament) -> dict[str, Any]:
    """Return the changes of the field during the tournament; empty without any. Blocks are counted from 0."""
    changes = [
        {"at": event.at, "block": event.block, "change": event.kind, "text": change_text(event, tournament.labels)}
        for event in tournament.changes
    ]
    return {"changes": changes} if changes else {}


def ratings_json(digest: Digest) -> list[dict[str, Any]]:
    """Return ratings as plain values, in the order of the standings; `arena report --json` has more."""
    ratings = []
    for row in digest.standings:
        rating = digest.ratings.ratings[row.entrant]
        ends = {"elo": rounded(rating.elo), "low": rounded(rating.low), "high": rounded(rating.high)}
        ratings.append({"bot": digest.labels[row.entrant], **ends})
    return ratings


def standings_json(rows: Sequence[StandingsRow], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return the standings as plain values, best first."""
    columns = (bot_column(labels), HOUSE, *FOR_PROGRAMS, WHOLE_US_PER_WINDOW)
    standings = []
    for row in rows:
        against = {labels[other]: _score_json(score) for other, score in sorted(row.against.items())}
        standings.append(values(columns, row) | {"against": against})
    return standings


def _score_json(score: Score) -> dict[str, Any]:
    return {
        "played": score.played,
        "wins": score.wins,
        "ties": score.ties,
        "losses": score.losses,
        "points": score.points,
    }


def _block_text(block: int | str) -> str:
    """Return a block's number for people, from 1 as in the names of transcripts."""
    return block if isinstance(block, str) else str(block + 1)


ENTRANTS: tuple[Column[dict[str, Any]], ...] = (
    Column("#", lambda entrant: entrant["entrant"] + 1),
    Column("bot", lambda entrant: entrant["bot"], is_text=True),
    Column("version", lambda entrant: entrant["version"] or None),
    Column("content", lambda entrant: entrant["content"] or None, lambda content: content[:HASH_SHOWN]),
    Column("plays from", lambda entrant: entrant["from_block"], _block_text),
    Column("withdrawn at", lambda entrant: entrant["until_block"], _block_text),
)


def entries_table(standing: FieldState, events: Sequence[Event]) -> Grid:
    """Return a table with one row per entrant."""
    return grid(Table(ENTRANTS, entries_json(standing, events)["entrants"]))


def entries_json(standing: FieldState, events: Sequence[Event]) -> dict[str, Any]:
    """Return entrants and changes as plain values. Blocks are counted from 0.

    Args:
        standing: the field after all changes, including those that wait.
        events: all changes in the ledger.
    """
    spec, of_file = standing.spec, len(standing.begun.labels)
    first, end = _blocks_of(standing, events)
    later = dict(enumerate(entered(spec), start=of_file))
    active = competing(spec)
    entrants = [
        {
            "entrant": number,
            "bot": label,
            "house": number == spec.house,
            "competes": number in active,
            "version": later[number].version if number in later else None,
            "content": standing.content(number),
            "predecessor": later[number].predecessor if number in later else None,
            "from_block": first.get(number, 0),
            "until_block": end.get(number),
        }
        for number, label in enumerate(standing.labels)
    ]
    changes = events_json(events, standing.labels)
    return {"entrants": entrants, "entries_until": standing.entries_until, "changes": changes}


def _blocks_of(standing: FieldState, events: Sequence[Event]) -> tuple[dict[int, int | str], dict[int, int | str]]:
    """Return the first block of each later entrant, and the block from which each withdrawn one does not play."""
    blocks = {event.id: NOT_YET if event.block is None else event.block for event in events}
    first: dict[int, int | str] = {}
    end: dict[int, int | str] = {}
    for event in standing.events:
        if isinstance(event.what, Withdrawn):
            end[event.what.entrant] = blocks[event.id]
        elif isinstance(event.what, Entered):
            first[len(standing.begun.labels) + len(first)] = blocks[event.id]
            if event.what.predecessor is not None:
                end[event.what.predecessor] = blocks[event.id]
    return first, end


def events_json(events: Sequence[Event], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return changes as plain values. Blocks are counted from 0; `labels` are those of all entrants, by number."""
    return [
        {
            "at": event.at,
            "change": event.kind,
            "text": change_text(event, labels),
            "block": event.block,
            "refused": event.refused,
        }
        for event in events
    ]


def events_of(results: Results) -> list[dict[str, Any]]:
    """Return the changes of a tournament as plain values; a regression test has none."""
    if results.spec is None:
        return []
    later = [event.what.label for event in results.events if isinstance(event.what, Entered) and not event.refused]
    return events_json(results.events, [*results.terms["bots"], *later])
