"""The page of a season: its stages with their tables and brackets, and links to the pages of each stage."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import Struct

from arena.config import Face
from arena.errors import MachineCannot, WrongUse
from arena.pages.competition import Competition, FaceFile, Overview
from arena.pages.face import markdown, teams_context
from arena.pages.highlights import season_highlights
from arena.pages.standings import BracketRound, bracket_rounds
from arena.pages.tables import PageTable, table
from arena.pages.template import Page, PageMaker, as_of, game_link
from arena.pages.words import State, last_result, state_of
from arena.quantities import pluralise
from arena.reports import part_table, season_state_text, terms_told
from arena.season import PlannedStage, cut_in, field_in, goes_on, read_book
from arena.tournament import NotBegun

Href = Callable[[Competition, int | None], str]
"""Returns the link to a bot of a stage's tournament, or for None to the tournament; "" if there is no page."""
Seen = Overview | State | str
"""A tournament's overview, its state if it has not begun, or the reason why it cannot be shown."""
Field = tuple[str, Sequence[tuple[str, int, str]]]
"""Name of a stage, and its field as `field_in` returns it."""


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
        self._face = FaceFile(folder)
        self.competitions = {each.folder.name: each for each in competitions}

    @property
    def face(self) -> Face:
        """The face of the season as it was written last."""
        return self._face.read()

    @property
    def title(self) -> str:
        """The face's title, or the folder's name."""
        return self.face.title or self.folder.resolve().name

    def image(self) -> bytes | None:
        """Return the content of the face's image; None if there is none."""
        return self._face.image()

    def holds(self, competition: Competition) -> bool:
        """Return whether a competition is a tournament of this season."""
        return self.competitions.get(competition.folder.name) is competition

    def stages(self) -> tuple[PlannedStage, ...]:
        """Return the planned stages.

        Raises:
            WrongUse: the season's file is not valid.
        """
        book = read_book(self.folder)
        return () if book is None else book.stages

    def current(self) -> Competition | None:
        """Return the running tournament, or else that of the latest stage; None if none has begun.

        Raises:
            WrongUse: the season's file is not valid.
        """
        current = None
        for name in chain.from_iterable(plan.parts for plan in self.stages()):
            current = self.competitions.get(name, current)
            if current is not None and current.running:
                break
        return current

    def context(self, href: Href) -> dict[str, Any]:
        """Return the values for the template: terms, time of the last result, state, stages and their winners.

        Only finished stages that lead to no other stage have a winner. `final` is the tournament that decided a
        finished season, or None.

        Raises:
            WrongUse: the season's file is not valid.
        """
        plans = self.stages()
        seen: dict[str, Seen] = {}
        for name in chain.from_iterable(plan.parts for plan in plans):
            if name in self.competitions:
                seen[name] = self._seen(self.competitions[name])
        read = {name: found for name, found in seen.items() if isinstance(found, Overview)}
        fields, done = [], 0
        for plan in plans:
            begun = [read[name] for name in plan.parts if name in read]
            fields.append((plan.name, list(chain.from_iterable(field_in(each.found.terms) for each in begun))))
            done += len(begun) == len(plan.parts) and all(each.finished for each in begun)
        kind = "stopped"
        if done == len(plans):
            kind = "finished"
        elif any(overview.running for overview in read.values()):
            kind = "running"
        firsts = _firsts(plans, read, fields)
        # A stage of the others is named after those that take the best, so the first winner is the season's.
        ends = [plan.parts[0] for plan in plans if kind == "finished" and firsts and plan.name == firsts[0][0]]
        if kind == "finished" and len(firsts) == 1:  # The winner of the whole season.
            firsts = [("", label) for _, label in firsts]
        return {
            "about": season_line(read, fields),
            "games": list(dict.fromkeys(overview.found.terms.get("game") for overview in read.values())),
            "last": max(filter(None, map(last_result, read.values())), key=lambda fact: fact.at, default=None),
            "state": State(kind, season_state_text(len(plans), done)),
            "stages": [self._stage(plan, seen, fields, href) for plan in plans],
            "firsts": firsts,
            "final": self.competitions[ends[0]] if ends else None,
            "read": [(self.competitions[name], overview) for name, overview in read.items()],
        }

    def _stage(
        self, plan: PlannedStage, seen: Mapping[str, Seen], fields: Sequence[Field], href: Href
    ) -> StageOnPage:
        begun = [name for name in plan.parts if name in seen]
        cut: dict[str, None] = {}
        for name in begun:
            found = seen[name]
            if isinstance(found, Overview):
                cut |= dict.fromkeys(cut_in(found.found.terms))
        return StageOnPage(
            name=plan.name,
            rule=plan.rule,
            parts=[_part(self.competitions[name], seen[name], goes_on(fields, name), href) for name in begun],
            to_come=[name for name in plan.parts if name not in seen],
            cut=list(cut),
        )

    def _seen(self, competition: Competition) -> Seen:
        """Return a tournament's overview, its state if it has not begun, or the reason why it cannot be shown."""
        try:
            return competition.overview()
        except NotBegun as waiting:
            return State("stopped", waiting.text)
        except (WrongUse, MachineCannot) as error:
            # The public page must not show paths of this machine.
            return error.format_message().replace(f"{competition.ledger}: ", "")


def season_page(maker: PageMaker, season: SeasonPages) -> Page:
    """Return the page of a season with its stages."""

    def href(competition: Competition, entrant: int | None) -> str:
        page = "index.html" if entrant is None else f"bot/{entrant}.html"
        return f"../{competition.slug}/{page}"

    path = f"{season.slug}/index.html"
    when = as_of(season.competitions.values())
    context, face = season.context(href), season.face
    context["highlights"] = season_highlights(maker, context.pop("read"))
    context["games"] = list(filter(None, map(game_link, context["games"])))
    texts = {"about_text": markdown(face.about), "rules_text": markdown(face.rules, above=2)} | teams_context(face)
    return maker.page("season", path, title=season.title, face=face, as_of=when, **texts, **context)


def season_line(read: Mapping[str, Overview], fields: Sequence[Field]) -> str:
    """Return game, variant and number of bots of the tournaments that have begun; empty if there are none."""
    from arena.viewer import game_title  # noqa: PLC0415 - as in `terms_line`

    told = [terms_told(overview.found.terms) for overview in read.values()]
    words: list[str] = []
    words += dict.fromkeys(game_title(each["game"]) for each in told if "game" in each)
    words += dict.fromkeys(each["variant"] for each in told if "variant" in each)
    bots = {label for _, field in fields for _, _, label in field}
    if bots:
        words.append(pluralise(len(bots), "bot"))
    return ", ".join(words)


def _firsts(
    plans: Sequence[PlannedStage], read: Mapping[str, Overview], fields: Sequence[Field]
) -> list[tuple[str, str]]:
    """Return stage and winner of each finished stage of one tournament that leads to no other stage."""
    firsts = []
    for plan in plans:
        overview = read.get(plan.parts[0]) if len(plan.parts) == 1 else None
        if overview is not None and overview.finished and not goes_on(fields, plan.parts[0]):
            digest = overview.found.digest
            firsts += [(plan.name, digest.labels[row.entrant]) for row in digest.standings[:1]]
    return firsts


def _part(competition: Competition, seen: Seen, on: Mapping[str, Sequence[str]], href: Href) -> PartOnPage:
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
