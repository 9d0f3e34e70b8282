"""A season: each stage with its tables, and the stages to which bots go on."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena.quantities import Column, Table, pluralise, rounded, three_digits, values
from arena.reports.standings import field_usage, usage_table
from arena.reports.tournament import matches_text, print_bracket, terms_told
from arena.schedule import TWO, WITHDRAWN_MARK, Tie, bot_column, format_of, place_column
from arena.season import Finish, PartResults, SeasonResults, StageResults, ranked
from arena.statistics import (
    LOSSES,
    MEAN_POINTS,
    PLAYED,
    POINTS,
    RECORD,
    TIES,
    WINS,
    BotColumn,
    Digest,
    StandingsRow,
)
from arena.terminal import Screen, grid, show

COUNTS = (PLAYED, WINS, TIES, LOSSES, POINTS)
"""Columns of the standings that the JSON of a season has."""


def part_table(
    finishes: Sequence[Finish], digest: Digest, goes_on: Mapping[str, Sequence[str]]
) -> Table[StandingsRow]:
    """Return the table of one tournament of a stage, in the order that the next stage's rule uses.

    Args:
        finishes: final results of the bots.
        digest: statistics of the tournament.
        goes_on: the stages in which each bot plays next, by label.
    """
    order = _in_order(finishes)
    by_entrant = {row.entrant: row for row in digest.standings}
    finish_of = {finish.seeding: finish for finish in order}
    labels = list(digest.labels)
    for finish in order:
        labels[finish.seeding] = f"{finish.label}{WITHDRAWN_MARK * finish.withdrawn}"
    next_stages: BotColumn = Column(
        "goes on to",
        lambda row: ", ".join(goes_on.get(finish_of[row.entrant].label, ())) or None,
        meaning="The stages in which the bot plays next.",
        is_text=True,
    )
    mean: BotColumn = Column(
        "mean points",
        lambda row: finish_of[row.entrant].mean if row.played else None,
        three_digits,
        meaning=MEAN_POINTS.meaning,
    )
    places = dict(zip(finish_of, map(str, range(1, len(order) + 1)), strict=True))
    columns: list[BotColumn] = [place_column(places), bot_column(labels)]
    if goes_on:
        columns.append(next_stages)
    columns.append(mean)
    columns += [RECORD] if digest.seats <= TWO else [PLAYED, WINS]
    return Table(columns, [by_entrant[entrant] for entrant in finish_of])


def _in_order(finishes: Sequence[Finish]) -> list[Finish]:
    """Return the bots best first, those that withdrew last."""
    return sorted(ranked(finishes), key=lambda finish: finish.withdrawn)


def print_season(screen: Screen, season: SeasonResults, *, usage: bool) -> None:
    """Print all stages. If `usage` is True, also print the time and memory that the bots used."""
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
    results = part.results
    facts = [f"{matches_text(results)} matches", *terms_told(results.terms).values()]
    if not part.finished:
        facts.append("unfinished")
    screen.say(f"{part.name}: {', '.join(facts)}")
    print_bracket(screen, bracket_of_part(part), results.digest.labels)
    show(screen, grid(part_table(part.finishes, results.digest, goes_on)))


def bracket_of_part(part: PartResults) -> list[list[Tie]]:
    """Return the ties so far; an empty list in formats without a bracket."""
    contest = part.results.contest
    if contest is None:
        return []
    return format_of(contest.spec).bracket(contest)


def season_json(season: SeasonResults) -> dict[str, Any]:
    """Return a season as plain values."""
    return {
        "season": season.title,
        "results": str(season.folder),
        "left_out": dict(season.left_out),
        "finished": all(stage.finished for stage in season.stages),
        "stages": [_stage_json(season, stage) for stage in season.stages],
    }


def _stage_json(season: SeasonResults, stage: StageResults) -> dict[str, Any]:
    begun = [part.name for part in stage.parts]
    return {
        "stage": stage.plan.name,
        "rule": stage.plan.rule,
        "finished": stage.finished,
        "field": [dict(zip(("from", "place", "bot"), each, strict=True)) for each in stage.field],
        "ties_at_the_cut": stage.cut,
        "parts": [_part_json(part, season.goes_on(part.name)) for part in stage.parts],
        "not_begun": dict(stage.waiting),
        "to_come": [name for name in stage.plan.parts if name not in begun],
    }


def _part_json(part: PartResults, goes_on: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    results, contest = part.results, part.results.contest
    by_entrant = {row.entrant: row for row in results.digest.standings}
    table = []
    for place, finish in enumerate(_in_order(part.finishes), start=1):
        table.append(
            {
                "place": place,
                "bot": finish.label,
                "withdrawn": finish.withdrawn,
                **values(COUNTS, by_entrant[finish.seeding]),
                "mean_points": rounded(finish.mean, 6),
                "goes_on_to": list(goes_on.get(finish.label, ())),
            }
        )
    own = {}
    if contest is not None:
        own = format_of(contest.spec).as_json(contest)
    return {
        "part": part.name,
        "results": str(part.folder),
        **terms_told(results.terms),
        "matches": results.digest.matches,
        "matches_in_all": results.total,
        "finished": part.finished,
        "closed": part.closed or None,
        "table": table,
        **own,
    }


def season_state_text(stages: int, done: int) -> str:
    """Return how many stages are finished."""
    if done == stages:
        return f"finished: {pluralise(stages, 'stage')}"
    return f"{done} of {pluralise(stages, 'stage')} finished"
