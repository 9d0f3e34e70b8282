"""A tournament's results as people read them, and as programs do."""

import sys
from collections.abc import Sequence
from typing import Any

import msgspec
from rich.text import Text

from arena.config import Tournament
from arena.quantities import counted, rounded
from arena.regression import Finding
from arena.reports.aside import asides_json, asides_text
from arena.reports.bots import reports_json
from arena.reports.bracket import ASCII, BOXES, draw
from arena.reports.tables import labels_of
from arena.schedule import TWO, Cells, Contest, format_of, format_table, mean_text
from arena.statistics import Digest, Score, StandingsRow
from arena.tables import Grid, fits, grid_of, show
from arena.terminal import Screen
from arena.tournament import PAGE, TRANSCRIPTS, FinalResults, Results, change_text, left_out_now
from referee.host import RemoteBot

REGRESSION_LABELS = ("base", "head")
"""Of a regression test's first entrants."""


def crosstable(rows: Sequence[StandingsRow], labels: Sequence[str], seats: int, *, matrix: bool = True) -> Grid:
    """The standings, with each bot's points against each other, or of more seats how often it was before.

    Without the `matrix` nothing is said of each against each.
    """
    others = rows if matrix else ()
    numbers = [str(place) for place in range(1, len(others) + 1)]
    if seats == TWO:

        def of_two(row: StandingsRow) -> Cells:
            scores = [row.against.get(other.entrant) for other in others]
            points = ["-" if each is None else f"{each.points:g}" for each in scores]
            return mean_text(row), row.record, *points

        every = [str(place) for place in range(1, len(rows) + 1)]
        return grid_of(*format_table(labels, rows, ("mean points", "W-T-L", *numbers), of_two, every))

    def of_many(row: StandingsRow) -> Cells:
        means = [row.against[other.entrant].mean if other.entrant in row.against else None for other in others]
        shares = ["-" if mean is None else f"{100 * mean:.0f}%" for mean in means]
        return mean_text(row), str(row.played), str(row.wins), *shares

    places = labels_of(rows)
    heads = ("mean points", "played", "wins", *places[: len(others)])
    return grid_of(*format_table(labels, rows, heads, of_many, places))


def show_crosstable(screen: Screen, rows: Sequence[StandingsRow], labels: Sequence[str], seats: int) -> None:
    """Prints the standings; at a terminal that is too narrow without the part that says each against each."""
    grid = crosstable(rows, labels, seats)
    if fits(screen, grid) or not screen.is_terminal:
        show(screen, grid)
        return
    show(screen, crosstable(rows, labels, seats, matrix=False))
    screen.say(f"each against each: this terminal is too narrow; the page has it ({PAGE}, or arena report --html)")


def print_result(screen: Screen, contest: Contest, rows: Sequence[StandingsRow], seats: int) -> None:
    """What came out, as the format counts: a bracket, where there is one, and the table."""
    format_ = format_of(contest.spec)
    if bracket := draw(format_.bracket(contest), contest.labels, BOXES if sys.stdout.isatty() else ASCII):
        # Not folded: a bracket that is cut to the screen is none.
        screen.print(Text("\n".join(bracket)), crop=False, soft_wrap=True, end="\n\n")
    own = format_.table(contest, rows)
    if own is None:
        show_crosstable(screen, rows, contest.labels, seats)
    else:
        show(screen, grid_of(*own))


def attempts_text(results: Results | Finding) -> list[str]:
    """What is said of bots that were left out and of attempts that did not count, a line each."""
    others = len(results.set_aside) if isinstance(results, Results) else 0
    lines = left_out_text(results) if isinstance(results, Results) else []
    lines += [void_text(len(results.voids), others)] if results.voids else []
    if lost := len(results.lost):
        was, its = ("was", "its") if lost == 1 else ("were", "their")
        lines.append(f"{counted(lost, 'attempt')} {was} lost with {its} referee process and played again")
    labels = results.digest.labels if isinstance(results, Results) else REGRESSION_LABELS
    lines += asides_text(results.asides, labels)
    return lines


def left_out_text(results: Results) -> list[str]:
    """Return a line for each bot that a tournament is played without."""
    return [f"left out: {label}: {why}" for label, why in left_out_now(results.terms, results.events).items()]


def left_out_json(results: Results) -> list[dict[str, str]]:
    """Return the same as plain values."""
    left_out = left_out_now(results.terms, results.events)
    return [{"bot": label, "why": why} for label, why in left_out.items()]


def void_text(voids: int, set_aside: int) -> str:
    """What is said of those that were void."""
    were, of_them = ("was", "its block") if voids == 1 else ("were", "their blocks")
    again = f"; {counted(set_aside, 'other match')} of {of_them} too" if set_aside else ""
    return f"{counted(voids, 'attempt')} {were} void and played again{again}"


def results_json(tournament: Tournament, results: FinalResults) -> dict[str, Any]:
    """Everything that the table says, and what it was played with."""
    return {
        "game": tournament.form.game,
        "variant": tournament.variant,
        "format": tournament.form.format,
        "blocks": tournament.form.blocks,
        "rotations": tournament.rotations,
        "design": results.design,
        "seed": results.contest.seed,
        "isolation": tournament.form.isolation,
        "processes": tournament.form.policy.processes,
        "bots": [
            {
                "bot": label,
                "version": bot.version,
                "content": bot.content,
                "house": entrant == tournament.house,
                **({"remote": True} if isinstance(bot, RemoteBot) else {}),
            }
            for entrant, (label, bot) in enumerate(zip(tournament.shown, tournament.bots, strict=True))
        ],
        "left_out": left_out_json(results),
        **changes_json(tournament),
        **format_of(results.contest.spec).as_json(results.contest),
        "standings": _standings_json(results.standings, tournament.shown),
        "ratings": ratings_json(results.digest),
        "reports": reports_json(tournament.shown, results.reports, tournament.results / TRANSCRIPTS),
        "void": attempts_json(results.voids),
        "set_aside": attempts_json(results.set_aside),
        "lost": attempts_json(results.lost),
        **asides_json(results.asides, tournament.labels),
        "results": str(tournament.results),
    }


def changes_json(tournament: Tournament) -> dict[str, Any]:
    """What changed while it was played, if anything did; blocks are counted from 0."""
    changes = [
        {"at": event.at, "block": event.block, "change": event.kind, "text": change_text(event, tournament.labels)}
        for event in tournament.changes
    ]
    return {"changes": changes} if changes else {}


def ratings_json(digest: Digest) -> list[dict[str, Any]]:
    """Ratings as plain values, in the order of the standings; what else there is, `arena report --json` says."""
    found = [digest.ratings.ratings[row.entrant] for row in digest.standings]
    ends = ("elo", "low", "high")
    return [
        {"bot": digest.labels[one.entrant], **{end: rounded(getattr(one, end)) for end in ends}} for one in found
    ]


def attempts_json(attempts: Sequence[tuple[int, int, str]]) -> list[dict[str, Any]]:
    """Attempts that did not count, as plain values."""
    return [{"block": block, "seating": seating, "reason": reason} for block, seating, reason in attempts]


def _standings_json(rows: Sequence[StandingsRow], labels: Sequence[str]) -> list[dict[str, Any]]:
    """The standings as plain values, best first."""
    return [
        {
            "bot": labels[row.entrant],
            "house": row.house,
            **_score(row),
            "mean_points": row.mean,
            "faults": row.faults,
            "defaults": row.defaults,
            "refused": row.refused,
            "windows": row.windows,
            "us_per_window": None if row.mean_us is None else round(row.mean_us),
            "against": {labels[other]: _score(score) for other, score in sorted(row.against.items())},
        }
        for row in rows
    ]


def _score(score: Score) -> dict[str, Any]:
    fields = msgspec.structs.asdict(score)
    return {key: fields[key] for key in ("played", "wins", "ties", "losses", "points")}
