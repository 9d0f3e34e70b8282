"""The page of a season: its stages with their tables and brackets, and the way to each stage's own pages."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from arena.errors import MachineCannot, WrongUse
from arena.pages.assets import content
from arena.pages.competition import Competition, Overview
from arena.pages.standings import BracketRound, bracket_rounds
from arena.pages.tables import Cell, Table, table
from arena.pages.template import markup, render
from arena.pages.words import State, last_result, state_of
from arena.quantities import counted
from arena.reports import part_rows, season_state_text, terms_told, write_whole
from arena.season import PlannedStage, SeasonResults, cut_in, field_in, goes_on, read_book
from arena.tournament import PAGE, NotBegun

Href = Callable[[Competition, int | None], str]
"""The page of a bot of a stage's tournament, or (None) of the tournament; empty: there is none."""


class PartOnPage(Struct, frozen=True, kw_only=True):
    """A tournament of a stage that has begun."""

    title: str
    href: str
    state: State | None = None
    bracket: Sequence[BracketRound] = ()
    table: Table | None = None
    error: str = ""


class StageOnPage(Struct, frozen=True, kw_only=True):
    """A stage."""

    name: str
    rule: str
    parts: list[PartOnPage]
    to_come: list[str]
    """Its tournaments that have not begun."""
    cut: list[str]


class SeasonPages:
    """A season of which there are pages. Calls wait on the disk; any thread may call."""

    def __init__(self, slug: str, folder: Path, competitions: Sequence[Competition]) -> None:
        """`competitions`: those in its folder."""
        self.slug = slug
        self.folder = folder
        self.title = folder.resolve().name
        self._competitions = {each.folder.name: each for each in competitions}

    def holds(self, competition: Competition) -> bool:
        """Whether a competition is one of its stages'."""
        return self._competitions.get(competition.folder.name) is competition

    def stages(self) -> tuple[PlannedStage, ...]:
        """Its stages, as they are planned.

        Raises:
            WrongUse: its file is not as an arena writes it.
        """
        book = read_book(self.folder)
        return () if book is None else book.stages

    def current(self) -> Competition | None:
        """Return the tournament that is being played, or else the one that began last; None: none has begun.

        Raises:
            WrongUse: its file is not as an arena writes it.
        """
        begun = [
            self._competitions[name] for plan in self.stages() for name in plan.parts if name in self._competitions
        ]
        running = [each for each in begun if each.running]
        return running[0] if running else begun[-1] if begun else None

    def parts(self, href: Href) -> dict[str, Any]:
        """What the template shows: what is played and when the last result came, state, stages, and who won them.

        Only stages that are over and lead to no other have a winner.

        Raises:
            WrongUse: its file is not as an arena writes it.
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
        """How a stage's tournament stands; of one that has not begun, only that; or why it cannot be shown."""
        try:
            return competition.overview()
        except NotBegun as waiting:
            return State("stopped", waiting.text)
        except (WrongUse, MachineCannot) as error:
            # Where it is on this machine is not for all to see.
            return error.format_message().replace(f"{competition.ledger}: ", "")


def season_line(read: Mapping[str, Overview], fields: Sequence[tuple[str, Sequence[tuple[str, int, str]]]]) -> str:
    """Return game, variant and number of bots, as far as the tournaments that have begun say; or nothing."""
    told = [terms_told(overview.found.terms) for overview in read.values()]
    words = [", ".join(dict.fromkeys(each[name] for each in told if name in each)) for name in ("game", "variant")]
    bots = {label for _, field in fields for _, _, label in field}
    return ", ".join([*filter(None, words), *([counted(len(bots), "bot")] if bots else [])])


def _part(
    competition: Competition, seen: Overview | State | str, on: Mapping[str, Sequence[str]], href: Href
) -> PartOnPage:
    title, its = competition.folder.name, href(competition, None)
    if isinstance(seen, str):
        return PartOnPage(title=title, href=its, error=seen)
    if isinstance(seen, State):
        return PartOnPage(title=title, href=its, state=seen)
    digest = seen.found.digest
    heads, rows = part_rows(seen.finishes, digest, on)
    cells = [
        [
            Cell(text, href(competition, entrant)) if head == "bot" else Cell(text)
            for head, text in zip(heads, row, strict=True)
        ]
        for entrant, row in rows
    ]
    return PartOnPage(
        title=title,
        href=its,
        state=state_of(seen),
        bracket=bracket_rounds(seen, lambda entrant: href(competition, entrant)),
        table=table(title, heads, cells),
    )


def write_season_report(path: Path, found: SeasonResults) -> None:
    """Writes the page of a season as one file that needs no other.

    Raises:
        WrongUse: it cannot be written there, or a ledger is none.
        MachineCannot: there is no space.
    """
    competitions = [Competition(part.name, part.folder) for stage in found.stages for part in stage.parts]
    season = SeasonPages("season", found.folder, competitions)
    place = path.absolute().parent

    def href(competition: Competition, entrant: int | None) -> str:
        page = competition.folder.absolute() / PAGE
        return f"{competition.folder.name}/{PAGE}" if entrant is None and page.parent.parent == place else ""

    css = markup(content("site.css").decode())
    write_whole(path, render("season_report", title=season.title, css=css, **season.parts(href)))


def write_season_beside(found: SeasonResults) -> None:
    """Writes it into the season's folder."""
    write_season_report(found.folder / PAGE, found)
