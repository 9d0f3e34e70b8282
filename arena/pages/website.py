"""Pages by their paths: what the server answers with, and what a site is written from. No page says a secret.

Paths are relative to the top, and have the names of files, so that a bucket or a disk serves them too. Links are
relative to the page they stand on.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from arena.errors import MachineCannot, WrongUse
from arena.pages.assets import asset_at, asset_path, asset_paths
from arena.pages.competition import Competition
from arena.pages.template import render
from arena.reports import matches_text

HTML, CSS, JS, JSON = (
    "text/html; charset=utf-8",
    "text/css; charset=utf-8",
    "text/javascript; charset=utf-8",
    "application/json",
)
LINES = "application/jsonl"
KINDS = {"css": CSS, "js": JS}
MATCHES_A_PAGE = 100
SLUG = "[a-z0-9][a-z0-9-]{0,63}"


class Page(Struct, frozen=True):
    """What is at a path."""

    body: bytes
    kind: str = HTML
    """Its media type."""
    for_ever: bool = False
    """Nothing else will ever be at this path."""


class Website:
    """All pages of some competitions. `live`: pages follow what happens, for there is a server to tell them."""

    def __init__(self, competitions: Sequence[Competition], *, live: bool) -> None:
        self._competitions = {each.slug: each for each in competitions}
        self._live = live

    def page(self, path: str) -> Page | None:
        """What is at a path; None: there is nothing. Waits on the disk, and may take seconds.

        Raises:
            WrongUse: a ledger or a transcript is none.
            MachineCannot: it cannot be read.
        """
        if (body := asset_at(path)) is not None:
            return Page(body, KINDS[path.rpartition(".")[2]], for_ever=True)
        for pattern, make in ROUTES:
            if found := pattern.fullmatch(path):
                return make(self, **found.groupdict())
        return None

    def shared_paths(self) -> Iterator[str]:
        """The paths of pages and files that belong to no competition alone."""
        yield "index.html"
        yield from asset_paths()

    def paths(self, slug: str) -> Iterator[str]:
        """The paths of a competition's pages, in which matches come first: other pages link to them.

        Replays and transcripts are not among them. Raises as `page`.
        """
        competition = self._competitions[slug]
        digest = competition.results().digest
        for match in competition.all_matches():
            yield f"{slug}/match/{match.played.block}-{match.played.seating}.html"
        for number in range(max(1, -(-digest.matches // MATCHES_A_PAGE))):
            yield f"{slug}/matches-{number + 1}.html" if number else f"{slug}/matches.html"
        for entrant in range(len(digest.labels)):
            yield f"{slug}/bot/{entrant}.html"
        for name in ("bots", "schedule", "index"):
            yield f"{slug}/{name}.html"

    def error(self, path: str, title: str, said: str) -> Page:
        """What is shown at a path where there is no page."""
        return self._html("error", path, title=title, said=said)

    def index(self) -> Page:
        """All competitions."""
        return self._html("index", "index.html", title="Competitions", competitions=list(self._rows()))

    def standings(self, slug: str) -> Page | None:
        """A competition: how it stands."""
        competition = self._competitions.get(slug)
        if competition is None:
            return None
        found = competition.results()
        digest = found.digest
        return self._html(
            "standings",
            f"{slug}/index.html",
            title=competition.title,
            competition=competition,
            found=found,
            digest=digest,
            matches=matches_text(found),
        )

    def _rows(self) -> Iterator[tuple[Competition, str]]:
        """Each competition with how far it is; a ledger that cannot be read is no reason to show none."""
        for competition in self._competitions.values():
            try:
                yield competition, matches_text(competition.results())
            except (WrongUse, MachineCannot) as error:
                yield competition, str(error)

    def _html(self, template: str, path: str, **values: Any) -> Page:
        """A page made from its template. `top` leads from it to the top of the site: "" or "../"."""
        top = "../" * path.count("/")
        text = render(
            template,
            top=top,
            live=self._live,
            style=asset_path("site.css"),
            script=asset_path("site.js"),
            **values,
        )
        return Page(text.encode())


Make = Callable[..., Page | None]
ROUTES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"(?:index\.html)?"), Website.index),
    (re.compile(rf"(?P<slug>{SLUG})/(?:index\.html)?"), Website.standings),
)
