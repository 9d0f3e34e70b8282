"""The page of a season: its stages with their tables and brackets, and links to the pages of each stage."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from arena.errors import MachineCannot, WrongUse
from arena.pages.competition import Competition, Overview
from arena.pages.standings import BracketRound, bracket_rounds
from arena.pages.tables import PageTable, table
from arena.pages.template import content, markup, render
from arena.pages.words import State, last_result, state_of
from arena.quantities import pluralise
from arena.reports import part_table, season_state_text, terms_told, write_whole
from arena.season import PlannedStage, SeasonResults, cut_in, field_in, goes_on, read_book
from arena.tournament import PAGE, NotBegun

Href = Callable[[Competition, int | None], str]
"""Returns the link to a bot of a stage's tournament, or for None to the tournament; "" if there is no page."""


class PartOnPage(Struct, frozen=True, kw_only=True):
    """A tournament of a stage that has begun."""

    title: str
    href: str
    state: State | None = None
    bracket: Sequence[BracketRound] = ()
    table: PageTable | None = None
    error: str = ""


class StageOnPage(Struct, frozen=True, kw_only=True):
    """A stage of a season, as its page shows it."""

    name: str
    rule: str
    parts: list[PartOnPage]
    to_come: list[str]
    """Names of the stage's tournaments that have not begun."""
    cut: list[str]


class SeasonPages:
    """A season for its page. Calls may block on the disk; any thread may call."""

    def __init__(self, slug: str, folder: Path, competitions: Sequence[Competition]) -> None:
        """Use a season's results folder; `competitions` are those in this folder."""
        self.slug = slug
        self.folder = folder
        self.title = folder.resolve().name
        self._competitions = {each.folder.name: each for each in competitions}

    def holds(self, competition: Competition) -> bool:
        """Return whether a competition is a tournament of this season."""
        return self._competitions.get(competition.folder.name) is competition

    def stages(self) -> tuple[PlannedStage, ...]:
        """Return the planned stages.

        Raises:
            WrongUse: the season's file is not valid.
        """
        book = read_book(self.folder)
        return () if book is None else book.stages

    def current(self) -> Competition | None:
        """Return the running tournament, or else the one that began last; None if none has begun.

        Raises:
            WrongUse: the season's file is not valid.
        """
        begun = [
            self._competitions[name] for plan in self.stages() for name in plan.parts if name in self._competitions
        ]
        running = [each for each in begun if each.running]
        return running[0] if running else begun[-1] if begun else None

    def context(self, href: Href) -> dict[str, Any]:
        """Return the values for the template: terms, time of the last result, state, stages and their winners.

        Only finished stages that lead to no other stage have a winner.

        Raises:
            WrongUse: the season's file is not valid.
        """
        plans = self.stages()
        seen = {
            name: self._seen(self._competitions[name])
            for plan in plans
            for name in plan.parts
            if name in self._competitions
        }
        read = {name: found for name, found in seen.items() if isinstance(found, Overview)}
        fields = [
            (plan.name, [each for name in plan.parts if name in read for each in field_in(read[name].found.terms)])
            for plan in plans
        ]
        done = sum(all(name in read and read[name].finished for name in plan.parts) for plan in plans)
        running = any(overview.running for overview in read.values())
        kind = "finished" if done == len(plans) else "running" if running else "stopped"
        shown = []
        for plan in plans:
            begun = [name for name in plan.parts if name in seen]
            cut = [text for name in begun if name in read for text in cut_in(read[name].found.terms)]
            parts = [_part(self._competitions[name], seen[name], goes_on(fields, name), href) for name in begun]
            to_come = [name for name in plan.parts if name not in seen]
            stage = StageOnPage(
                name=plan.name, rule=plan.rule, parts=parts, to_come=to_come, cut=list(dict.fromkeys(cut))
            )
            shown.append(stage)
        words = season_state_text(len(plans), done)
        ends = {
            plan.name: read[name].found.digest
            for plan in plans
            for name in plan.parts
            if len(plan.parts) == 1 and name in read and read[name].finished and not goes_on(fields, name)
        }
        firsts = [
            (stage if len(ends) > 1 or kind != "finished" else "", digest.labels[row.entrant])
            for stage, digest in ends.items()
            for row in digest.standings[:1]
        ]
        return {
            "about": season_line(read, fields),
            "last": max(filter(None, map(last_result, read.values())), key=lambda fact: fact.at, default=None),
            "state": State(kind, words),
            "stages": shown,
            "firsts": firsts,
        }

    def _seen(self, competition: Competition) -> Overview | State | str:
        """Return a tournament's overview, its state if it has not begun, or the reason why it cannot be shown."""
        try:
            return competition.overview()
        except NotBegun as waiting:
            return State("stopped", waiting.text)
        except (WrongUse, MachineCannot) as error:
            # The public page must not show paths of this machine.
            return error.format_message().replace(f"{competition.ledger}: ", "")


def season_line(read: Mapping[str, Overview], fields: Sequence[tuple[str, Sequence[tuple[str, int, str]]]]) -> str:
    """Return game, variant and number of bots of the tournaments that have begun; empty if there are none."""
    told = [terms_told(overview.found.terms) for overview in read.values()]
    words = [", ".join(dict.fromkeys(each[name] for each in told if name in each)) for name in ("game", "variant")]
    bots = {label for _, field in fields for _, _, label in field}
    return ", ".join([*filter(None, words), *([pluralise(len(bots), "bot")] if bots else [])])


def _part(
    competition: Competition, seen: Overview | State | str, on: Mapping[str, Sequence[str]], href: Href
) -> PartOnPage:
    title, its = competition.folder.name, href(competition, None)
    if isinstance(seen, str):
        return PartOnPage(title=title, href=its, error=seen)
    if isinstance(seen, State):
        return PartOnPage(title=title, href=its, state=seen)
    digest = seen.found.digest
    own = part_table(seen.finishes, digest, on)
    return PartOnPage(
        title=title,
        href=its,
        state=state_of(seen),
        bracket=bracket_rounds(seen, lambda entrant: href(competition, entrant)),
        table=table(title, own.columns, own.rows, href=lambda row: href(competition, row.entrant)),
    )


def write_season_report(path: Path, found: SeasonResults) -> None:
    """Write the page of a season as one self-contained file.

    Raises:
        WrongUse: the file cannot be written there, or a ledger is not valid.
        MachineCannot: there is no space.
    """
    competitions = [Competition(part.name, part.folder) for stage in found.stages for part in stage.parts]
    season = SeasonPages("season", found.folder, competitions)
    place = path.absolute().parent

    def href(competition: Competition, entrant: int | None) -> str:
        page = competition.folder.absolute() / PAGE
        return f"{competition.folder.name}/{PAGE}" if entrant is None and page.parent.parent == place else ""

    css = markup(content("site.css").decode())
    write_whole(path, render("season_report", title=season.title, css=css, **season.context(href)))


def write_season_beside(found: SeasonResults) -> None:
    """Write the page of a season into its results folder."""
    write_season_report(found.folder / PAGE, found)
