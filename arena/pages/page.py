"""What all pages of a site have in common: media types, templates' shared values, and links between them."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from arena.pages.competition import Competition, Overview
from arena.pages.tables import GLOSSARY_PATH
from arena.pages.template import asset_path, render
from arena.pages.words import state_of

if TYPE_CHECKING:
    from arena.pages.season import SeasonPages

HTML, JSON, LINES = "text/html; charset=utf-8", "application/json", "application/jsonl"
MATCHES_A_PAGE = 100
ROWS = 100
"""Number of bots in the tables of one page."""


class Page(Struct, frozen=True):
    """The content at a path."""

    body: bytes
    kind: str = HTML
    """Media type."""
    for_ever: bool = False
    """Whether the content at this path never changes."""


class PageMaker(Struct, frozen=True, kw_only=True):
    """A site's settings, and the maker of its pages from templates."""

    live: bool
    """Whether a server sends events, so that pages update themselves."""
    replays: bool = True
    """Whether pages link to replays."""
    transcripts: bool = True
    """Whether pages link to transcripts."""
    delay: float | None = None
    """Seconds by which unfinished matches are shown late with all secrets; None: they are not shown."""
    seasons: Sequence["SeasonPages"] = ()

    def season_of(self, competition: Competition) -> "SeasonPages | None":
        """Return the season that a competition belongs to."""
        return next((each for each in self.seasons if each.holds(competition)), None)

    def page(self, template: str, path: str, *, as_of: datetime | None = None, **values: Any) -> Page:
        """Return a page from its template, with the link prefix `top` that leads to the site's root."""
        top = "../" * path.count("/")
        text = render(
            template,
            top=top,
            live=self.live,
            as_of=as_of,
            style=asset_path("site.css"),
            script=asset_path("site.js"),
            glossary=f"{top}{GLOSSARY_PATH}",
            **values,
        )
        return Page(text.encode())

    def of_competition(
        self, competition: Competition, overview: Overview, template: str, file: str, **values: Any
    ) -> Page:
        """Return a page of one competition from its template. `file` is its path in the competition's folder."""
        season = self.season_of(competition)
        name = competition.title
        if season is not None:
            name = competition.name
        return self.page(
            template,
            f"{competition.slug}/{file}",
            competition=name,
            season=season,
            here="../" * file.count("/"),
            state=state_of(overview),
            is_test=overview.history is not None,
            as_of=as_of([competition]),
            **values,
        )


def as_of(competitions: Iterable[Competition]) -> datetime | None:
    """Return the time of the oldest data on a page; None if all of it is recent."""
    moments = [moment for each in competitions if (moment := each.as_of()) is not None]
    return datetime.fromtimestamp(min(moments), UTC) if moments else None


def page_count(rows: int, a_page: int = MATCHES_A_PAGE) -> int:
    """Return the number of pages for these rows: at least one."""
    return max(1, -(-rows // a_page))


def numbered(name: str, number: int, ending: str = "html") -> str:
    """Return the file name of a numbered page, such as `bots-2.html`; the first one has no number."""
    if number > 1:
        name = f"{name}-{number}"
    return f"{name}.{ending}"


def numbered_links(page: int, pages: int, name: str) -> list[tuple[str, str]]:
    """Return links between numbered pages: to the neighbouring, first and last ones."""
    if pages == 1:
        return []
    shown = sorted({1, 2, page - 1, page, page + 1, pages - 1, pages} & set(range(1, pages + 1)))
    links = {each: numbered(name, each) for each in shown} | {page: ""}
    return [(str(each), path) for each, path in links.items()]


def newest_first(page: int, pages: int, path: Callable[[int], str]) -> list[tuple[str, str]]:
    """Return links between pages whose last one is the newest. `path` returns the address of a page."""
    links = []
    if page < pages:
        links += [("Newest", path(pages)), ("Newer", path(page + 1))]
    if page > 1:
        links += [("Older", path(page - 1)), ("Oldest", path(1))]
    return links
