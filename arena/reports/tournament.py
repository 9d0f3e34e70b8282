"""Results of a tournament, the entries of its field, and attempts that did not count: for people and programs."""

import sys
from collections.abc import Sequence
from typing import Any, assert_never

from msgspec.structs import asdict
from rich.text import Text

from arena.config import Tournament, entrant_label
from arena.quantities import Column, Table, percent, plain, pluralise, rounded, values
from arena.regression import Finding
from arena.reports.bracket import ASCII, BOXES, draw
from arena.reports.standings import HOUSE, reports_json
from arena.schedule import (
    TWO,
    Contest,
    Entered,
    FieldChange,
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
    StandingsRow,
)
from arena.terminal import Grid, Screen, fits, grid, show
from arena.tournament import (
    PAGE,
    TRANSCRIPTS,
    Again,
    Asides,
    BlockSetAside,
    FieldState,
    FinalResults,
    LeftOut,
    Terms,
    TournamentResults,
    change_text,
    left_out_now,
)
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


def matches_text(results: TournamentResults) -> str:
    """Return the number of matches that count, and of how many: `32 of 180`."""
    played = results.digest.matches
    if results.total in (None, played):
        return str(played)
    return f"{played} of {results.total}"


def terms_told(terms: Terms) -> dict[str, str]:
    """Return the terms that reports show, by their names there."""
    return {name: str(terms[key]) for key, name in SHOWN_TERMS.items() if key in terms}


def crosstable(rows: Sequence[StandingsRow], labels: Sequence[str], seats: int, *, matrix: bool = True) -> Grid:
    """Return the standings, with the results of all pairs of bots unless `matrix` is False.

    A pair's cell has the points of the row's bot; with more than two seats, the share of matches in which it was
    ranked before the other.
    """
    if seats == TWO:
        places, columns = list(map(str, range(1, len(rows) + 1))), [MEAN_POINTS, RECORD]
    else:
        places, columns = places_of(rows), [MEAN_POINTS, PLAYED, WINS]
    if matrix:
        for place, other in zip(places, rows, strict=True):
            columns.append(_against(place, other.entrant, seats))
    return grid(format_table(labels, rows, columns, places))


def _against(place: str, other: int, seats: int) -> BotColumn:
    """Return the column of a crosstable about one opponent."""
    if seats == TWO:
        return Column(place, lambda row: getattr(row.against.get(other), "points", None), plain)
    return Column(place, lambda row: getattr(row.against.get(other), "mean", None), percent)


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
    """Return the results of a finished run, its bots and its terms as plain values."""
    form = tournament.form
    bots = []
    for entrant, (label, bot) in enumerate(zip(tournament.shown, tournament.bots, strict=True)):
        house = entrant == tournament.house
        entry = {"bot": label, "version": bot.version, "content": bot.content, "house": house}
        if isinstance(bot, RemoteBot):
            entry["remote"] = True
        bots.append(entry)
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
    if not tournament.changes:
        return {}
    changes = []
    for event in tournament.changes:
        text = change_text(event, tournament.labels)
        changes.append({"at": event.at, "block": event.block, "change": event.kind, "text": text})
    return {"changes": changes}


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
        against = {labels[other]: asdict(score) for other, score in sorted(row.against.items())}
        standings.append(values(columns, row) | {"against": against})
    return standings


def _block_text(block: int | str) -> str:
    """Return a block's number for people, from 1 as in the names of transcripts."""
    if isinstance(block, int):
        block += 1
    return str(block)


ENTRANTS: tuple[Column[dict[str, Any]], ...] = (
    Column("#", lambda entrant: entrant["entrant"] + 1),
    Column("bot", lambda entrant: entrant["bot"], is_text=True),
    Column("version", lambda entrant: entrant["version"] or None),
    Column("content", lambda entrant: entrant["content"] or None, lambda content: content[:HASH_SHOWN]),
    Column("plays from", lambda entrant: entrant["from_block"], _block_text),
    Column("withdrawn at", lambda entrant: entrant["until_block"], _block_text),
)


def entries_table(standing: FieldState, events: Sequence[FieldChange]) -> Grid:
    """Return a table with one row per entrant."""
    return grid(Table(ENTRANTS, entries_json(standing, events)["entrants"]))


def entries_json(standing: FieldState, events: Sequence[FieldChange]) -> dict[str, Any]:
    """Return entrants and changes as plain values. Blocks are counted from 0.

    Args:
        standing: the field after all changes, including those that wait.
        events: all changes in the ledger.
    """
    spec, of_file = standing.spec, len(standing.begun.labels)
    first, end = _blocks_of(standing, events)
    later = dict(enumerate(entered(spec), start=of_file))
    active = competing(spec)
    entrants = []
    for number, label in enumerate(standing.labels):
        entrants.append(
            {
                "entrant": number,
                "bot": label,
                "house": number == spec.house,
                "competes": number in active,
                "version": getattr(later.get(number), "version", None),
                "content": standing.content(number),
                "predecessor": getattr(later.get(number), "predecessor", None),
                "from_block": first.get(number, 0),
                "until_block": end.get(number),
            }
        )
    changes = events_json(events, standing.labels)
    return {"entrants": entrants, "entries_until": standing.entries_until, "changes": changes}


def _blocks_of(
    standing: FieldState, events: Sequence[FieldChange]
) -> tuple[dict[int, int | str], dict[int, int | str]]:
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


def events_json(events: Sequence[FieldChange], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return changes as plain values. Blocks are counted from 0; `labels` are those of all entrants, by number."""
    found = []
    for event in events:
        text = change_text(event, labels)
        change = {"at": event.at, "change": event.kind, "text": text, "block": event.block}
        found.append(change | {"refused": event.refused})
    return found


def events_of(results: TournamentResults) -> list[dict[str, Any]]:
    """Return the changes of a tournament as plain values; a regression test has none."""
    if results.spec is None:
        return []
    accepted = (event.what for event in results.events if not event.refused)
    later = [what.label for what in accepted if isinstance(what, Entered)]
    return events_json(results.events, [*results.terms["bots"], *later])


SHOWN = 10
"""Maximum number of blocks that are listed for people; JSON has all."""
REGRESSION_LABELS = ("base", "head")
"""Labels of a regression test's first entrants."""


def attempts_text(results: TournamentResults | Finding) -> list[str]:
    """Return a line for each bot that is left out, for attempts that did not count, and for blocks set aside."""
    lines: list[str] = []
    others = 0
    labels: Sequence[str] = REGRESSION_LABELS
    if isinstance(results, TournamentResults):
        lines += map("left out: {0[bot]}: {0[why]}".format, left_out_json(results))
        others, labels = len(results.set_aside), results.digest.labels
    if results.voids:
        lines.append(void_text(len(results.voids), others))
    if results.lost:
        lines.append(_lost_text(len(results.lost)))
    return lines + asides_text(results.asides, labels)


def void_text(voids: int, set_aside: int) -> str:
    """Return the number of void attempts as text. `set_aside` counts the other matches of their blocks."""
    were, of_them = ("was", "its block") if voids == 1 else ("were", "their blocks")
    text = f"{pluralise(voids, 'attempt')} {were} void and played again"
    if set_aside:
        text += f"; {pluralise(set_aside, 'other match')} of {of_them} too"
    return text


def _lost_text(lost: int) -> str:
    was, its = ("was", "its") if lost == 1 else ("were", "their")
    return f"{pluralise(lost, 'attempt')} {was} lost with {its} referee process and played again"


def attempts_json(attempts: Sequence[tuple[int, int, str]]) -> list[dict[str, Any]]:
    """Return attempts that did not count as plain values."""
    return [{"block": block, "seating": seating, "reason": reason} for block, seating, reason in attempts]


def left_out_json(results: TournamentResults) -> list[dict[str, str]]:
    """Return the bots that are left out as plain values."""
    left_out = left_out_now(results.terms, results.events)
    return [{"bot": label, "why": why} for label, why in left_out.items()]


def asides_text(asides: Asides, labels: Sequence[str]) -> list[str]:
    """Return a line for each block set aside, those that wait for the host first, and for bots not excused."""
    blocks = sorted(asides.blocks, key=lambda each: each.decision is not None)
    lines = [aside_text(each, labels) for each in blocks[:SHOWN]]
    if len(blocks) > SHOWN:
        lines.append(f"{pluralise(len(blocks) - SHOWN, 'more block')} set aside: --json has all")
    lines += map("{0[bot]}: hold-ups no longer excuse it: {0[evidence]}".format, _own_doing(asides, labels))
    return lines


def aside_text(aside: BlockSetAside, labels: Sequence[str]) -> str:
    """Return what happened to a block that was set aside, on one line."""
    bot, evidence = entrant_label(labels, aside.set_aside.entrant), aside.set_aside.evidence
    attempts = pluralise(len(evidence), "attempt")
    text = f"block {aside.block + 1} {_state(aside, labels)}: {bot} alone was held up in {attempts} at it"
    if evidence:
        text += f", most recently in {evidence[-1]}"
    return text


def _state(aside: BlockSetAside, labels: Sequence[str]) -> str:
    match aside.decision:
        case None:
            return "is set aside, and waits for the host (arena decide)"
        case Again(unexcused=unexcused, by_host=by_host):
            text = "the host has it played again" if by_host else "it is played again"
            if unexcused:
                whose = ", ".join(entrant_label(labels, entrant) for entrant in unexcused)
                text += f", and a hold-up does not excuse {whose} in it"
            return f"was set aside, and {text}"
        case LeftOut():
            return "was set aside, and left out by the host"
        case _ as unreachable:
            assert_never(unreachable)


def asides_json(asides: Asides, labels: Sequence[str]) -> dict[str, Any]:
    """Return blocks set aside and bots not excused as plain values. Blocks are counted from 0."""
    blocks = []
    for each in asides.blocks:
        by_host = each.decision is not None and getattr(each.decision, "by_host", True)
        blocks.append(
            {
                "block": each.block,
                "bot": entrant_label(labels, each.set_aside.entrant),
                "evidence": list(each.set_aside.evidence),
                "decision": _decision(each.decision),
                "by_host": by_host,
            }
        )
    return {"blocks_set_aside": blocks, "not_excused": _own_doing(asides, labels)}


def _own_doing(asides: Asides, labels: Sequence[str]) -> list[dict[str, str]]:
    return [{"bot": entrant_label(labels, each.entrant), "evidence": each.evidence} for each in asides.own_doing]


def _decision(decision: Again | LeftOut | None) -> str | None:
    match decision:
        case None:
            return None
        case Again(unexcused=unexcused):
            return "again, not excused" if unexcused else "again"
        case LeftOut():
            return "left out"
        case _ as unreachable:
            assert_never(unreachable)
