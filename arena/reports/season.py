"""A season as people read it, and as programs do: each stage with its tables, and who goes on to which."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from arena.quantities import counted, rounded
from arena.reports.bots import field_usage, usage_table
from arena.reports.bracket import ASCII, BOXES, draw
from arena.reports.files import matches_text, terms_told
from arena.schedule import TWO, WITHDRAWN_MARK, Cells, Tie, format_of
from arena.season import Finish, PartResults, SeasonResults, StageResults, ranked
from arena.statistics import Digest
from arena.tables import grid_of, show
from arena.terminal import Screen

GOES_ON = "goes on to"
NOWHERE = "-"


def part_rows(
    finishes: Sequence[Finish], digest: Digest, goes_on: Mapping[str, Sequence[str]]
) -> tuple[Cells, list[tuple[int, Cells]]]:
    """A part's table as the rule of the next stage has it: headings, and by row the entrant and its cells.

    Args:
        finishes: how its bots came out.
        digest: what it came to.
        goes_on: by label, to which stages.
    """
    rows = {row.entrant: row for row in digest.standings}
    of_two = digest.seats <= TWO
    heads = ("mean points", *(("W-T-L",) if of_two else ("played", "wins")))
    found = []
    for place, one in enumerate(sorted(ranked(finishes), key=lambda each: each.withdrawn), start=1):
        row = rows[one.seeding]
        mean = f"{one.mean:.3f}" if row.played else "-"
        counts = (row.record,) if of_two else (str(row.played), str(row.wins))
        label = f"{one.label}{WITHDRAWN_MARK}" if one.withdrawn else one.label
        on = (", ".join(goes_on.get(one.label, ())) or NOWHERE,) if goes_on else ()
        found.append((one.seeding, (str(place), label, *on, mean, *counts)))
    return ("#", "bot", *((GOES_ON,) if goes_on else ()), *heads), found


def print_season(screen: Screen, season: SeasonResults, *, usage: bool = False) -> None:
    """Prints all stages. `usage`: also what the bots used."""
    for label, why in season.left_out.items():
        screen.say(f"left out: {label}: {why}")
    for number, stage in enumerate(season.stages, start=1):
        screen.say(f"stage {number} of {len(season.stages)}: {stage.plan.name}: {stage.plan.rule}")
        if not stage.parts and not stage.waiting:
            screen.say("not begun yet")
        for name, why in stage.waiting.items():
            screen.say(f"{name}: {why}")
        for part in stage.parts:
            _print_part(screen, part, season.goes_on(part.name))
            if usage:
                screen.print()
                show(screen, usage_table(*field_usage(part.results.digest, part.results.reports)))
        for text in stage.cut:
            screen.say(text)
        screen.print()
    screen.say(f"results: {season.folder}")


def _print_part(screen: Screen, part: PartResults, goes_on: Mapping[str, Sequence[str]]) -> None:
    found = part.results
    said = [f"{matches_text(found)} matches", *terms_told(found.terms).values()]
    screen.say(f"{part.name}: {', '.join(said)}{'' if part.finished else ', unfinished'}")
    if lines := draw(bracket_of_part(part), found.digest.labels, BOXES if sys.stdout.isatty() else ASCII):
        screen.print(Text("\n".join(lines)), crop=False, soft_wrap=True, end="\n\n")
    heads, rows = part_rows(part.finishes, found.digest, goes_on)
    show(screen, grid_of(heads, (cells for _, cells in rows), words=("bot", GOES_ON)))


def bracket_of_part(part: PartResults) -> list[list[Tie]]:
    """Its ties so far; none where nobody is knocked out."""
    contest = part.results.contest
    return [] if contest is None else format_of(contest.spec).bracket(contest)


def season_json(season: SeasonResults) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "season": season.title,
        "results": str(season.folder),
        "left_out": dict(season.left_out),
        "finished": all(stage.finished for stage in season.stages),
        "stages": [_stage_json(season, stage) for stage in season.stages],
    }


def _stage_json(season: SeasonResults, stage: StageResults) -> dict[str, Any]:
    return {
        "stage": stage.plan.name,
        "rule": stage.plan.rule,
        "finished": stage.finished,
        "field": [{"from": source, "place": place, "bot": label} for source, place, label in stage.field],
        "ties_at_the_cut": stage.cut,
        "parts": [_part_json(part, season.goes_on(part.name)) for part in stage.parts],
        "not_begun": dict(stage.waiting),
        "to_come": [name for name in stage.plan.parts if name not in {part.name for part in stage.parts}],
    }


def _part_json(part: PartResults, goes_on: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    found, contest = part.results, part.results.contest
    _, rows = part_rows(part.finishes, found.digest, goes_on)
    by_entrant = {row.entrant: row for row in found.digest.standings}
    finishes = {one.seeding: one for one in part.finishes}
    table = [
        {
            "place": place,
            "bot": finishes[entrant].label,
            "withdrawn": finishes[entrant].withdrawn,
            "played": by_entrant[entrant].played,
            "wins": by_entrant[entrant].wins,
            "ties": by_entrant[entrant].ties,
            "losses": by_entrant[entrant].losses,
            "points": by_entrant[entrant].points,
            "mean_points": rounded(finishes[entrant].mean, 6),
            "goes_on_to": list(goes_on.get(finishes[entrant].label, ())),
        }
        for place, (entrant, _) in enumerate(rows, start=1)
    ]
    return {
        "part": part.name,
        "results": str(part.folder),
        **terms_told(found.terms),
        "matches": found.digest.matches,
        "matches_in_all": found.total,
        "finished": part.finished,
        "closed": part.closed or None,
        "table": table,
        **({} if contest is None else format_of(contest.spec).as_json(contest)),
    }


def season_state_text(stages: int, done: int) -> str:
    """How far a season is."""
    return (
        f"finished: {counted(stages, 'stage')}"
        if done == stages
        else f"{done} of {counted(stages, 'stage')} finished"
    )
