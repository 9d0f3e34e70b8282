"""The common parts of pages: their templates, styles and scripts, the maker of pages, and links between them.

Values are escaped, unless they are the arena's own markup. The file name of a style or script holds a hash of the
content, so a path never changes content.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup, escape
from msgspec import Struct

from arena.pages.competition import Competition, Overview
from arena.pages.tables import BETWEEN, GLOSSARY_PATH, OF_COLUMNS, Cell, PageTable, RowMarks, anchor
from arena.pages.words import state_of
from arena.quantities import Column, duration
from arena.terminal import LONGEST_CELL, shortened
from referee import __version__
from referee.bot_folder import CacheError, cache_folder, private
from referee.display_text import printable, printable_name

if TYPE_CHECKING:
    from arena.pages.season import SeasonPages
    from arena.replay import Story
    from arena.statistics import Reported

NAMES = ("site.css", "site.js", "live.css", "play.css", "portal.css", "portal.js")
WITH_DRAWINGS = ("live.js", "game.js", "play.js")
"""Scripts that draw boards."""
DRAWING = "drawing.css"
LARGE = """
:host(.large) { display: flex; flex-direction: column; gap: 1vmin; }
:host(.large) #board { flex: 1 1 0; min-height: 0; }
:host(.large) #board > svg { height: 100%; max-height: none; }
:host(.large) #more { flex: none; max-height: 40%; overflow: hidden; }
:host(.large) #more:empty { display: none; }
"""
"""Style of a board that is shown to a whole hall."""
FOLDER = "assets"
DIGITS = 16


def asset_path(name: str) -> str:
    """Return an asset's path relative to the site's root: `assets/site.0123456789abcdef.css`."""
    return _paths()[name]


def asset_at(path: str) -> bytes | None:
    """Return the content of the asset at a path; None if there is none."""
    name = _names().get(path)
    return None if name is None else content(name)


def asset_paths() -> tuple[str, ...]:
    """Return the paths of all assets."""
    return tuple(_paths().values())


def content(name: str) -> bytes:
    """Return the content of an asset by its name without a hash."""
    return _own(name) if name in NAMES else _contents()[name]


@cache
def _paths() -> dict[str, str]:
    found = {}
    for name, its in _contents().items():
        stem, dot, kind = name.rpartition(".")
        found[name] = f"{FOLDER}/{stem}.{sha256(its).hexdigest()[:DIGITS]}{dot}{kind}"
    return found


@cache
def _names() -> dict[str, str]:
    """Return the names of all assets by path."""
    return {path: name for name, path in _paths().items()}


@cache
def _contents() -> dict[str, bytes]:
    """Return the assets of pages, live boards and replays, by name."""
    # Imported late: a tournament's report has no boards, and boards import the words of all games.
    from arena.viewer import drawing_script, drawing_style, shared_assets  # noqa: PLC0415

    drawn = {DRAWING: f"{drawing_style()}{LARGE}".encode()}
    for name in WITH_DRAWINGS:
        # Each script gets its own scope, because the drawings and the scripts may use the same names.
        drawn[name] = b'(() => {\n"use strict";\n%b\n{\n%b}\n})();\n' % (drawing_script().encode(), _own(name))
    return {name: _own(name) for name in NAMES} | drawn | shared_assets()


def _own(name: str) -> bytes:
    return files("arena.pages").joinpath("assets", name).read_bytes()


LONGEST_TEXT = 2_200
"""Maximum characters of a sentence, which may contain a bot's output."""
SEAMS = re.compile(r"(?<=[a-zA-Z0-9][_./-])(?=[a-zA-Z0-9])")
"""Positions at which a long name may be broken into lines."""
FOLDED = 16
"""Longest name, in characters, that is never broken into lines."""
MOST_KEPT = 4_096
"""Size of the caches of names and headings, which repeat on the pages of one competition."""


def render(template: str, **values: Any) -> str:
    """Render a template. Strings are escaped, and invisible characters are written out."""
    return _environment().get_template(f"{template}.html.jinja").render(**values)


def markup(text: str) -> Markup:
    """Mark the arena's own text, such as a style, as markup. Never use it for untrusted text."""
    return Markup(text)  # noqa: S704 - the arena's own


class _CompiledTemplates(FileSystemBytecodeCache):
    """A cache of compiled templates for later commands, because compiling takes longer than rendering."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store a compiled template, unless the disk is full."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _compiled_templates() -> _CompiledTemplates | None:
    """Return the cache of compiled templates; None if there is no folder that only this user can write."""
    folder = cache_folder() / "templates"
    try:
        private(folder)
    except (CacheError, OSError):
        return None
    return _CompiledTemplates(str(folder))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("arena.pages", "assets"),
        bytecode_cache=_compiled_templates(),
        auto_reload=False,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["words_of_columns"] = OF_COLUMNS
    environment.globals["version"] = __version__
    environment.globals["asset"] = asset_path
    environment.globals["stylesheet"] = lambda: markup(content("site.css").decode())
    environment.filters |= {
        "duration": duration,
        "moment": moment,
        "name": name,
        "said": said,
        "foldable": foldable,
        "anchor": anchor,
        "in_cell": in_cell,
        "linked": linked,
        "rows": rows,
    }
    return environment


@lru_cache(MOST_KEPT)
def name(text: str) -> str:
    """Return a name or a cell's text, shortened in the middle and with invisible spaces written out."""
    return shortened(printable_name(text[: 4 * LONGEST_TEXT]), LONGEST_CELL)


@lru_cache(MOST_KEPT)
def foldable(text: str) -> Markup:
    """Return `name` as markup that allows line breaks only after the parts of a long name."""
    shown = name(text)
    if len(shown) <= FOLDED:
        return escape(shown)
    return Markup("<wbr>").join(SEAMS.split(shown))


def in_cell(cell: Cell) -> Markup:
    """Return a cell's content as markup: each name in one element, with its link if it has one."""
    if cell.picture:
        source = escape(printable(cell.picture))
        image = f'<img class="board" loading="lazy" width="96" height="72" alt="" src="{source}">'
        if cell.href:  # Another column of the row has the same link, with a text.
            image = f'<a href="{escape(printable(cell.href))}" tabindex="-1" aria-hidden="true">{image}</a>'
        return markup(image)
    if not cell.parts:
        return linked(cell.text, cell.href)
    parts = (escape(printable(each.text)) if each.kind == BETWEEN else in_cell(each) for each in cell.parts)
    return markup("".join(parts))


@lru_cache(MOST_KEPT)
def linked(text: str, href: str) -> Markup:
    """Return a name as markup, with a link unless `href` is empty."""
    shown = foldable(text)
    if href:
        return markup(f'<a class="name" href="{escape(printable(href))}">{shown}</a>')
    return markup(f'<span class="name">{shown}</span>')


def rows(table: PageTable) -> Markup:
    """Return a table's rows as markup.

    This is not a template, because macros took most of the time of a site with 10,000 matches and 200,000 cells.
    """
    lines: list[str] = []
    for number, row in enumerate(table.rows):
        lines.append(_row_start(table.marks[number]) if table.marks else "<tr>")
        lines += (_cell(cell, column, table) for column, cell in zip(table.columns, row, strict=True))
        lines.append("</tr>")
    return markup("".join(f"{line}\n" for line in lines))


def _row_start(marks: RowMarks) -> str:
    seats, ends = " ".join(map(str, marks.entrants)), " ".join(each.replace(" ", "-") for each in marks.ends)
    return f'<tr data-seats="{seats}" data-ends="{escape(printable(ends))}">'


def _cell(cell: Cell, column: Column[Any], table: PageTable) -> str:
    if column.heading == table.head:
        return f'<th scope="row" class="words stick">{in_cell(cell)}</th>'
    classes = " ".join(["words"] * column.is_text + [printable(cell.kind)] * bool(cell.kind))
    shown = in_cell(cell) if column.is_text else escape(name(cell.text))
    if cell.href and not column.is_text:
        shown = Markup('<a href="{}">{}</a>').format(printable(cell.href), shown)
    if classes:
        return f'<td class="{escape(classes)}">{shown}</td>'
    return f"<td>{shown}</td>"


def moment(at: str) -> Markup:
    """Return a time in ISO 8601, in UTC, as markup: `29 Nov, 03:36`, which scripts complete."""
    try:
        shown = datetime.fromisoformat(at).strftime("%-d %b, %H:%M")
    except ValueError:
        return escape(printable(at))
    return Markup('<time datetime="{}">{}</time>').format(printable(at), shown)


def said(text: str) -> str:
    """Return a text, which may contain a bot's output, printable and shortened in the middle."""
    return shortened(printable(text[: 4 * LONGEST_TEXT]), LONGEST_TEXT)


def _shown(value: object) -> object:
    """Make the value of a template's expression printable, unless it is markup."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


HTML, JSON, LINES = "text/html; charset=utf-8", "application/json", "application/jsonl"
SVG, PNG = "image/svg+xml", "image/png"
MATCHES_A_PAGE = 100
INDEX = "index.html"
TABS = {
    "standings": INDEX,
    "test": INDEX,
    "bot": "bots.html",
    "match": "matches.html",
    "watch": "matches.html",
    "late": "live.html",
}
"""Page that is marked in the navigation, by template; others are marked themselves."""
ROWS = 100
"""Number of bots in the tables of one page."""


class Page(Struct, frozen=True):
    """The content at a path."""

    body: bytes
    kind: str = HTML
    """Media type."""
    for_ever: bool = False
    """True if the content at this path never changes."""


FRAME = Markup(
    '<iframe src="{}{}#embed&amp;match={}" title="{}" width="640" height="560" loading="lazy"'
    ' style="max-width: 100%; border: 0" allowfullscreen>'
    "</iframe>"
)
"""A frame on another site's page; the values are address, path, match and title."""


class StoryTeller(Protocol):
    """A source of the stories of matches."""

    def __call__(self, competition: Competition, match: "Reported", /) -> "Story | None":
        """Return the story of a match that counts; None without a transcript.

        Raises:
            NoReplayError: the transcript cannot be shown.
        """


class Announcement:
    """The host's line on all pages of a server, which may change at any time."""

    def __init__(self) -> None:
        self.text = ""
        """The line; "" for none."""


NO_ANNOUNCEMENT = Announcement()


class PageMaker(Struct, frozen=True, kw_only=True):
    """A site's settings, and the maker of its pages from templates."""

    live: bool
    """True if a server sends events, so that pages update themselves."""
    replays: bool = True
    """True if pages link to replays."""
    transcripts: bool = True
    """True if pages link to transcripts."""
    delay: float | None = None
    """Seconds by which unfinished matches are shown late with all secrets; None: they are not shown."""
    seasons: Sequence["SeasonPages"] = ()
    story: StoryTeller | None = None
    """None: pages tell no stories."""
    pictures: bool = True
    """True if pages show pictures of matches, where they can be made."""
    url: str = ""
    """Address of the site's top as visitors see it, with a slash at its end; "" if it is unknown."""
    embeds: bool = False
    """True if other sites may show replays within their pages."""
    links: Sequence[tuple[str, str]] = ()
    """Texts and paths of the links in the head of each page."""
    announcement: Announcement = NO_ANNOUNCEMENT

    def embed_line(self, replay: str | None, match: str, title: str) -> str:
        """Return the HTML by which another site's page shows a replay; "" if it must not, or cannot.

        Args:
            replay: path of the replay.
            match: slug of the competition and name of the match, `cup/18a`.
            title: title of the frame.
        """
        if replay is None or not (self.url and self.embeds):
            return ""
        return str(FRAME.format(self.url, replay, match, printable(title)))

    @property
    def late_state(self) -> str:
        """File in a competition's folder with the positions that are shown late; empty if none are."""
        return "" if self.delay is None else "late.json"

    def season_of(self, competition: Competition) -> "SeasonPages | None":
        """Return the season that a competition belongs to."""
        return next((each for each in self.seasons if each.holds(competition)), None)

    def page(
        self,
        template: str,
        path: str,
        *,
        as_of: datetime | None = None,
        shared_title: str = "",
        description: str = "",
        image: str | None = None,
        **values: Any,
    ) -> Page:
        """Return a page from its template, with the link prefix `top` that leads to the site's root.

        Args:
            template: the template's name.
            path: the page's path.
            as_of: time of the oldest data on it; None if all of it is recent.
            shared_title: title that other sites show of a link to it; "" for the page's own.
            description: what they say of it; "" for no preview.
            image: path of the picture that they show, if the site's address is known; None for none.
            values: further values of the template.
        """
        top = "../" * path.count("/")
        text = render(
            template,
            top=top,
            live=self.live,
            links=self.links,
            as_of=as_of,
            shared_title=shared_title,
            description=description,
            image=f"{self.url}{image}" if self.url and image else "",
            glossary=f"{top}{GLOSSARY_PATH}",
            announcement=self.announcement.text,
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
            tab=TABS.get(template, f"{template}.html"),
            here="../" * file.count("/"),
            game=game_link(overview.found.terms.get("game")),
            state=state_of(overview),
            is_test=overview.history is not None,
            as_of=as_of([competition]),
            **values,
        )


def game_link(game: object) -> tuple[str, str] | None:
    """Return the name of a game for people and the path of its page; None if it has no page.

    `game` is the term of a ledger, which may hold anything.
    """
    from arena.viewer import minute_of  # noqa: PLC0415 - a tournament's report has no boards, which are slow to import

    minute = minute_of(game) if isinstance(game, str) else None
    return None if minute is None else (minute.title, f"game/{game}.html")


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
