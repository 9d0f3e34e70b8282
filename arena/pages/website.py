"""Pages by their paths: what the server answers with, and what a site is written from. No page says a secret.

Paths are relative to the top, and have the names of files, so that a bucket or a disk serves them too. Links are
relative to the page they stand on.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec import Struct

from arena.errors import MachineCannot, WrongUse
from arena.pages import glossary
from arena.pages.assets import DRAWING, asset_at, asset_path, asset_paths
from arena.pages.bots import bot_index, bot_parts, bots_table, index_chunks
from arena.pages.competition import MOST_SAID, Competition, MatchOnPage, Overview
from arena.pages.contents import (
    NoReplayError,
    pages_hash,
    replay_page,
    replay_path,
    transcript_bytes,
    transcript_path,
    viewer_hash,
)
from arena.pages.delayed import late_page, shown_late
from arena.pages.matches import match_file, match_href, match_parts, match_table, matches_of_bot
from arena.pages.regression import test_parts
from arena.pages.schedule import coming_text, schedule_parts
from arena.pages.season import SeasonPages
from arena.pages.standings import ROWS, bracket_rounds, leaders_table, standings_parts
from arena.pages.template import render
from arena.pages.words import Fact, State, facts, last_result, state_of, terms, terms_line
from arena.schedule import match_name, match_of
from arena.tournament import NotBegun
from protocol.codec import encode

HTML, CSS, JS, JSON = (
    "text/html; charset=utf-8",
    "text/css; charset=utf-8",
    "text/javascript; charset=utf-8",
    "application/json",
)
LINES = "application/jsonl"
KINDS = {"css": CSS, "js": JS}
MATCHES_A_PAGE = 100
ROUNDS_ON_KIOSK = 3
"""Of a bracket, the last ones, that a projector has room for."""
ON_KIOSK = 16
"""Bots that a projector shows while nothing is played: the best ones."""
MOST_REFUSED = 1_000
"""Transcripts that cannot be shown, of which we keep why."""
LIVE = "live"
"""The slug of matches of no competition here, of which a server hears by a feed."""
SLUG = "[a-z0-9][a-z0-9-]{0,63}"
NUMBER = "[0-9]{1,9}"
MATCH = "[1-9][0-9]{0,8}[a-z]{1,4}"
"""What a match is called; see `match_name`."""
FileStamp = tuple[int, int, int]


class Page(Struct, frozen=True):
    """What is at a path."""

    body: bytes
    kind: str = HTML
    """Its media type."""
    for_ever: bool = False
    """Nothing else will ever be at this path."""


class Card(Struct, frozen=True, kw_only=True):
    """A competition on the page of all."""

    title: str
    href: str
    about: str = ""
    state: State | None = None
    leads: str = ""
    leader: str = ""
    last: Fact | None = None
    error: str = ""


class Website:
    """All pages of some competitions. `live`: pages follow what happens, for there is a server to tell them.

    `feed`: the server follows a feed that is no competition's, and `live/live.html` shows it.
    """

    def __init__(
        self,
        competitions: Sequence[Competition],
        *,
        live: bool,
        feed: bool = False,
        replays: bool = True,
        transcripts: bool = True,
        delay: float | None = None,
        seasons: Sequence[SeasonPages] = (),
    ) -> None:
        """`replays` and `transcripts`: whether there are such, for pages to link to.

        `delay`: with all eyes, matches are shown while they are played, so many seconds late; None: they are not.
        """
        self._delay = delay
        self._seasons = {each.slug: each for each in seasons}
        self._replays = replays
        self._transcripts = transcripts
        self._competitions = {each.slug: each for each in competitions}
        self._live = live
        self._feed = feed
        self._refused: dict[tuple[str, str], tuple[FileStamp, str]] = {}
        """By head and media type: transcripts that cannot be shown, as their files were, and why."""

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
                values = {name: value for name, value in found.groupdict().items() if value is not None}
                try:
                    return make(self, **values)
                except NotBegun as waiting:
                    return self._waiting(path, values["slug"], waiting)
        return None

    def shared_paths(self) -> Iterator[str]:
        """The paths of pages and files that belong to no competition alone."""
        yield from (f"{slug}/index.html" for slug in self._seasons)
        yield from ("index.html", glossary.PATH)
        yield from asset_paths()

    def _waiting(self, path: str, slug: str, waiting: NotBegun) -> Page | None:
        """Return what stands in place of a page of a competition that has not begun."""
        if not path.endswith((".html", "/")):
            return None
        return self._html(
            "waiting", path, title=self._competitions[slug].title, state=State("stopped", waiting.text)
        )

    def paths(self, slug: str) -> Iterator[str]:
        """The paths of a competition's pages, in which those come first that others link to.

        Matches, replays and transcripts are not among them. Raises as `page`.
        """
        overview = self._competitions[slug].overview()
        digest, index = overview.found.digest, overview.index
        for entrant in range(len(digest.labels)):
            matches = len(index.of_bot(entrant))
            for number in range(1, _pages(matches) + 1):
                yield f"{slug}/{_bot_file(entrant, number, matches)}"
        for number in range(1, _pages(digest.matches) + 1):
            yield f"{slug}/matches-{number}.html"
        for number in range(1, len(index_chunks(overview)) + 1):
            yield f"{slug}/{_numbered('bots', number, 'json')}"
        for number in range(1, _pages(len(digest.labels), ROWS) + 1):
            yield f"{slug}/{_numbered('bots', number)}"
            yield f"{slug}/{_numbered('index', number)}"
        yield f"{slug}/matches.html"
        yield f"{slug}/schedule.html"

    def match_pages(self, slug: str) -> Iterator[tuple[str, str, Callable[[], Page]]]:
        """The path of each match's page, the hash of all that the page is made from, and what makes it.

        Raises as `page`.
        """
        competition = self._competitions[slug]
        overview = competition.overview()
        found = overview.found
        same = sha256(
            encode(
                [
                    pages_hash(),
                    self._replays,
                    self._transcripts,
                    competition.title,
                    found.terms,
                    overview.times.begun,
                    state_of(overview).words if overview.finished else None,
                ]
            )
        )
        voids = Counter(block for block, _, _ in found.voids)
        for block, matches in groupby(competition.all_matches(), lambda match: match.played.block):
            together = list(matches)
            for match in together:
                seating = match.played.seating
                row = overview.index.row_of(block, seating)
                if row is None:  # It has come to count since.
                    continue
                its = same.copy()
                here = competition.transcript(match) is not None
                names = [found.digest.labels[entrant] for entrant in match.played.entrants]
                about = [match.played, match.reports, here, voids[block], _neighbours(overview, row), names]
                its.update(encode(about))
                make = partial(self._match, competition, overview, row, match, together)
                yield f"{slug}/match/{match_file(block, seating)}", its.hexdigest(), make

    def error(self, path: str, title: str, said: str) -> Page:
        """What is shown at a path where there is no page."""
        return self._html("error", path, title=title, said=said)

    def index(self) -> Page:
        """All competitions."""
        alone = [each for each in self._competitions.values() if self._season_of(each) is None]
        seasons = [self._season_card(each) for each in self._seasons.values()]
        cards = [self._card(each) for each in alone]
        return self._html(
            "index",
            "index.html",
            title="Competitions",
            cards=cards,
            seasons=seasons,
            as_of=_as_of(self._competitions.values()),
        )

    def glossary(self) -> Page:
        """The words of pages."""
        return self._html("glossary", glossary.PATH, title="Glossary", words=list(glossary.GLOSSARY.items()))

    def season(self, slug: str) -> Page | None:
        """A season: its stages."""
        season = self._seasons.get(slug)
        if season is None:
            return None

        def href(competition: Competition, entrant: int | None) -> str:
            page = "index.html" if entrant is None else f"bot/{entrant}.html"
            return f"../{competition.slug}/{page}"

        parts = season.parts(href)
        as_of = _as_of(each for each in self._competitions.values() if season.holds(each))
        return self._html("season", f"{slug}/index.html", title=season.title, as_of=as_of, **parts)

    def standings(self, slug: str, number: str = "1") -> Page | None:
        """A competition: how it stands. Of many bots, a part of them."""
        competition = self._competitions.get(slug)
        if competition is None:
            return self.season(slug) if number == "1" else None
        overview = competition.overview()
        first, pages = (int(number) - 1) * ROWS, _pages(len(overview.found.digest.labels), ROWS)
        if not 0 < int(number) <= pages:
            return None
        path = f"{slug}/{_numbered('index', int(number))}"
        parts = standings_parts(overview, _bot_href(""), first=first)
        test = test_parts(overview)
        return self._of(
            competition,
            overview,
            "test" if overview.history is not None else "standings",
            path,
            title=competition.title,
            tab="index.html",
            about=terms_line(overview),
            last=last_result(overview),
            facts=facts(overview),
            terms=terms(overview),
            pages=_links(int(number), pages, lambda page: _numbered("index", page)),
            **parts,
            **test,
        )

    def schedule(self, slug: str) -> Page | None:
        """What is being played, and what comes next."""
        competition = self._competitions.get(slug)
        if competition is None:
            return None
        overview = competition.overview()
        parts = schedule_parts(overview)
        return self._of(
            competition,
            overview,
            "schedule",
            f"{slug}/schedule.html",
            title="Schedule",
            tab="schedule.html",
            **parts,
        )

    def matches(self, slug: str, number: str | None = None) -> Page | None:
        """A hundred matches; without a number the newest ones."""
        competition = self._competitions.get(slug)
        if competition is None:
            return None
        overview = competition.overview()
        total = len(overview.index)
        pages = _pages(total)
        page = pages if number is None else int(number)
        if not 0 < page <= pages:
            return None
        first = (page - 1) * MATCHES_A_PAGE
        rows = range(first, min(first + MATCHES_A_PAGE, total))
        found = competition.some(overview.index.keys(rows))
        return self._of(
            competition,
            overview,
            "matches",
            f"{slug}/matches.html" if number is None else f"{slug}/matches-{page}.html",
            title="Matches",
            tab="matches.html",
            span=f"Matches {first + len(found)} to {first + 1}, newest first." if found else "",
            table=match_table(overview, found[::-1], match_href("")),
            pages=_newest_first(page, pages, lambda each: f"matches-{each}.html", "matches.html"),
        )

    def match_at(self, slug: str, block: str, seating: str) -> Page | None:
        """The same at an address of block and seating, which older pages linked to."""
        return self.match(slug, match_name(int(block), int(seating)))

    def match(self, slug: str, match: str) -> Page | None:
        """One match; not before its block counts."""
        competition, key = self._competitions.get(slug), match_of(match)
        if competition is None or key is None:
            return None
        block, seating = key
        overview = competition.overview()
        row = overview.index.row_of(block, seating)
        block_matches = competition.some(overview.index.of_block(block)) if row is not None else []
        found = next((each for each in block_matches if each.played.seating == seating), None)
        if row is None or found is None:
            return None
        return self._match(competition, overview, row, found, block_matches)

    def _match(
        self,
        competition: Competition,
        overview: Overview,
        row: int,
        match: MatchOnPage,
        block: Sequence[MatchOnPage],
    ) -> Page:
        """The page of a match. `row`: its place in the index; `block`: all matches of its block."""
        slug, head = competition.slug, match.played.head
        name = match_name(match.played.block, match.played.seating)
        here = competition.transcript(match) is not None
        return self._of(
            competition,
            overview,
            "match",
            f"{slug}/match/{name}.html",
            title=f"Match {name}",
            tab="matches.html",
            replay=replay_path(head) if here and self._replays else None,
            transcript=transcript_path(head) if here and self._transcripts else None,
            its_name=f"{slug}/{name}",
            is_elsewhere=not here,
            finished=overview.finished,
            pages=_neighbours(overview, row),
            **match_parts(overview, match, block),
        )

    def bots(self, slug: str, number: str = "1") -> Page | None:
        """All bots."""
        competition = self._competitions.get(slug)
        if competition is None:
            return None
        overview = competition.overview()
        pages = _pages(len(overview.found.digest.labels), ROWS)
        if not 0 < int(number) <= pages:
            return None
        return self._of(
            competition,
            overview,
            "bots",
            f"{slug}/{_numbered('bots', int(number))}",
            title="Bots",
            tab="bots.html",
            table=bots_table(overview, (int(number) - 1) * ROWS, ROWS),
            pages=_links(int(number), pages, lambda page: _numbered("bots", page)),
        )

    def bots_json(self, slug: str, number: str = "1") -> Page | None:
        """The index in which bots are searched."""
        competition = self._competitions.get(slug)
        if competition is None:
            return None
        chunks = index_chunks(competition.overview())
        if not 0 < int(number) <= len(chunks):
            return None
        more = _numbered("bots", int(number) + 1, "json") if int(number) < len(chunks) else None
        return Page(bot_index(chunks[int(number) - 1], more), JSON)

    def bot(self, slug: str, entrant: str, number: str | None = None) -> Page | None:
        """How a bot does; `number` of a page of its matches, the newest of which are on its first page."""
        competition = self._competitions.get(slug)
        if competition is None:
            return None
        overview, bot = competition.overview(), int(entrant)
        digest = overview.found.digest
        rows = overview.index.of_bot(bot)
        pages = _pages(len(rows))
        page = pages if number is None else int(number)
        if bot >= len(digest.labels) or not 0 < page <= pages:
            return None
        first = (page - 1) * MATCHES_A_PAGE
        found = competition.some(overview.index.keys(rows[first : first + MATCHES_A_PAGE]))
        return self._of(
            competition,
            overview,
            "bot",
            f"{slug}/{_bot_file(bot, page, len(rows))}",
            title=digest.labels[bot],
            tab="bots.html",
            table=matches_of_bot(overview, found[::-1], match_href("../"), bot),
            first_page=page == pages,
            pages=_newest_first(page, pages, lambda each: _bot_page(bot, each), _bot_page(bot, None)),
            **bot_parts(overview, bot),
        )

    def replay(self, head: str, viewer: str) -> Page | None:
        """A match in the browser."""
        return self._of_transcript(head, replay_page, HTML) if viewer == viewer_hash() else None

    def transcript(self, head: str) -> Page | None:
        """A match's transcript."""
        return self._of_transcript(head, transcript_bytes, LINES)

    def live(self, slug: str, page: str) -> Page | None:
        """The matches that are being played: with their boards (`live`), or one after the other (`kiosk`)."""
        competition = self._competitions.get(slug)
        if slug in self._seasons and page == "kiosk":
            return self._season_kiosk(self._seasons[slug])
        if competition is None and not (slug == LIVE and self._feed):
            return None
        path = f"{slug}/{page}.html"
        values: dict[str, Any] = {
            "late": self._delay is not None and competition is not None,
            **_live_assets(),
        }
        if competition is None or page == "kiosk":
            title = "Live" if competition is None else competition.title
            return self._html(page, path, layout="base.html.jinja", title=title, **_idle(competition), **values)
        layout = "competition.html.jinja"
        return self._of(
            competition, competition.overview(), page, path, layout=layout, title="Live", tab="live.html", **values
        )

    def _season_kiosk(self, season: SeasonPages) -> Page:
        """The projector of a season: the tournament that is being played, or else the one that began last."""
        competition = season.current()
        shown: dict[str, Any] = {"firsts": season.parts(lambda _, __: "")["firsts"]}
        if competition is not None:
            shown |= {"events": f"../{competition.slug}/live/events", "part": competition.name}
        return self._html(
            "kiosk",
            f"{season.slug}/kiosk.html",
            title=season.title,
            **_idle(competition) | shown,
            **_live_assets(),
        )

    def late(self, slug: str) -> Page | None:
        """The matches that are shown with all eyes while they are played."""
        competition = self._competitions.get(slug)
        if competition is None or self._delay is None:
            return None
        return self._of(
            competition,
            competition.overview(),
            "late",
            f"{slug}/late.html",
            title="All views, with a delay",
            tab="live.html",
            seconds=f"{self._delay:g}",
            matches=[
                (f"late/{match_file(block, seating)}", match_name(block, seating))
                for block, seating in shown_late(competition)
            ],
        )

    def late_match(self, slug: str, match: str) -> Page | None:
        """A match that is shown with all eyes while it is played."""
        competition = self._competitions.get(slug)
        key = match_of(match)
        if competition is None or self._delay is None or key is None:
            return None
        body = late_page(competition, *key, self._delay)
        return None if body is None else Page(body)

    def _of_transcript(self, head: str, make: Callable[[Path, str], bytes], kind: str) -> Page | None:
        """What is made from a match's transcript. One that was refused is read again once its file is another."""
        found = self._by_head(head)
        transcript = None if found is None else found[0].transcript(found[1])
        if transcript is None:
            return None
        stamp = _stamp(transcript)
        before, why = self._refused.get((head, kind), (None, ""))
        if stamp != before:
            try:
                return Page(make(transcript, head), kind, for_ever=True)
            except NoReplayError as error:
                why = str(error)[:MOST_SAID]
            if len(self._refused) >= MOST_REFUSED:
                self._refused = {}
            self._refused[head, kind] = stamp, why
        raise WrongUse(f"{transcript}: {why}")

    def _by_head(self, head: str) -> tuple[Competition, MatchOnPage] | None:
        """The match that counts and has this head. A competition that cannot be read has none."""
        for competition in self._competitions.values():
            try:
                match = competition.match_by_head(head)
            except (WrongUse, MachineCannot):
                continue
            if match is not None:
                return competition, match
        return None

    def _season_of(self, competition: Competition) -> SeasonPages | None:
        return next((each for each in self._seasons.values() if each.holds(competition)), None)

    def _season_card(self, season: SeasonPages) -> dict[str, Any]:
        """A season that cannot be read is no reason to show none."""
        card = {"title": season.title, "href": f"{season.slug}/index.html", "error": ""}
        try:
            shown = season.parts(lambda _, __: "")
            return card | {
                **{key: shown[key] for key in ("about", "last", "state", "firsts")},
                "stages": [stage.name for stage in season.stages()],
            }
        except (WrongUse, MachineCannot) as error:
            return card | {"error": error.format_message().replace(f"{season.folder}/", "")}

    def _card(self, competition: Competition) -> Card:
        """A ledger that cannot be read is no reason to show none."""
        href = f"{competition.slug}/index.html"
        try:
            overview = competition.overview()
        except NotBegun as waiting:
            return Card(title=competition.title, href=href, state=State("stopped", waiting.text))
        except (WrongUse, MachineCannot) as error:
            # Where it is on this machine is not for all to see.
            why = error.format_message().replace(f"{competition.ledger}: ", "")
            return Card(title=competition.title, href=href, error=why)
        rows, digest = overview.found.digest.standings, overview.found.digest
        state = state_of(overview)
        played = digest.matches > 0 and overview.history is None
        return Card(
            title=competition.title,
            href=href,
            about=terms_line(overview),
            state=state,
            leads="won by" if state.kind == "finished" else "in the lead",
            leader=digest.labels[rows[0].entrant] if played else "",
            last=last_result(overview),
        )

    def _of(self, competition: Competition, overview: Overview, template: str, path: str, **values: Any) -> Page:
        """A page of one competition."""
        return self._html(
            template,
            path,
            competition=competition.title
            if (season := self._season_of(competition)) is None
            else competition.name,
            season=season,
            here="../" * (path.count("/") - 1),
            state=state_of(overview),
            is_test=overview.history is not None,
            as_of=_as_of([competition]),
            **values,
        )

    def _html(self, template: str, path: str, *, as_of: datetime | None = None, **values: Any) -> Page:
        """A page made from its template. `top` leads from it to the top of the site: "" or "../"."""
        top = "../" * path.count("/")
        text = render(
            template,
            top=top,
            live=self._live,
            as_of=as_of,
            style=asset_path("site.css"),
            script=asset_path("site.js"),
            glossary=f"{top}{glossary.PATH}",
            **values,
        )
        return Page(text.encode())


def _live_assets() -> dict[str, Any]:
    return {
        "live_style": asset_path("live.css"),
        "live_script": asset_path("live.js"),
        "drawing_style": asset_path(DRAWING),
    }


NOTHING: dict[str, Any] = {
    "coming": [], "standings": None, "state": None, "bracket": [], "events": "", "part": "", "firsts": []
}  # fmt: skip
"""What a projector shows while nothing is known."""


def _idle(competition: Competition | None) -> dict[str, Any]:
    """Return what a projector shows while nothing is played, and what comes next."""
    if competition is None:
        return NOTHING
    try:
        overview = competition.overview()
    except NotBegun as waiting:
        return NOTHING | {"state": State("stopped", waiting.text)}
    return NOTHING | {
        "coming": coming_text(overview),
        "standings": leaders_table(overview.found.digest, ON_KIOSK),
        "state": state_of(overview),
        "bracket": bracket_rounds(overview, lambda _: "")[-ROUNDS_ON_KIOSK:],
    }


def _as_of(competitions: Iterable[Competition]) -> datetime | None:
    """Return the moment from which the oldest of what is shown is, if it is so old that the page says it."""
    moments = [moment for each in competitions if (moment := each.as_of()) is not None]
    return datetime.fromtimestamp(min(moments), UTC) if moments else None


def _stamp(file: Path) -> FileStamp:
    """What changes when the file does; all 0 of one that is gone."""
    try:
        its = file.stat()
    except OSError:
        return 0, 0, 0
    return its.st_ino, its.st_size, its.st_mtime_ns


def _pages(rows: int, a_page: int = MATCHES_A_PAGE) -> int:
    return max(1, -(-rows // a_page))


def _numbered(name: str, number: int, ending: str = "html") -> str:
    """The first of its pages has no number: `bots.html`, `bots-2.html`."""
    return f"{name}.{ending}" if number == 1 else f"{name}-{number}.{ending}"


def _bot_href(here: str) -> Callable[[int], str]:
    return lambda entrant: f"{here}bot/{entrant}.html"


def _bot_page(entrant: int, number: int | None) -> str:
    """A bot's page; `number` of one with older matches."""
    return f"{entrant}.html" if number is None else f"{entrant}-matches-{number}.html"


def _bot_file(entrant: int, number: int, matches: int) -> str:
    return f"bot/{_bot_page(entrant, None if number == _pages(matches) else number)}"


def _links(page: int, pages: int, path: Callable[[int], str]) -> list[tuple[str, str]]:
    """Links to the pages before and after this one, and to the first and the last."""
    if pages == 1:
        return []
    shown = sorted({1, 2, page - 1, page, page + 1, pages - 1, pages} & set(range(1, pages + 1)))
    return [(str(each), "" if each == page else path(each)) for each in shown]


def _newest_first(page: int, pages: int, path: Callable[[int], str], newest: str) -> list[tuple[str, str]]:
    """Links between pages of which the last is the newest, and has a name of its own."""

    def at(number: int) -> str:
        return newest if number == pages else path(number)

    links = [("Newest", at(pages)), ("Newer", at(page + 1))] if page < pages else []
    return [*links, *([("Older", at(page - 1)), ("Oldest", at(1))] if page > 1 else [])]


def _neighbours(overview: Overview, row: int) -> list[tuple[str, str]]:
    """The matches before and after this one in the schedule."""
    found = []
    for word, other in (("Previous match", row - 1), ("Next match", row + 1)):
        found += [(word, match_file(*key)) for key in overview.index.keys([other])]
    return found


Make = Callable[..., Page | None]
ROUTES: tuple[tuple[re.Pattern[str], Make], ...] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"(?:index\.html)?", Website.index),
        (r"glossary\.html", Website.glossary),
        (rf"(?P<slug>{SLUG})/(?:index\.html)?", Website.standings),
        (rf"(?P<slug>{SLUG})/index-(?P<number>{NUMBER})\.html", Website.standings),
        (rf"(?P<slug>{SLUG})/schedule\.html", Website.schedule),
        (rf"(?P<slug>{SLUG})/matches(?:-(?P<number>{NUMBER}))?\.html", Website.matches),
        (rf"(?P<slug>{SLUG})/match/(?P<match>{MATCH})\.html", Website.match),
        # Old addresses: block and seating counted from 0.
        (rf"(?P<slug>{SLUG})/match/(?P<block>{NUMBER})-(?P<seating>{NUMBER})\.html", Website.match_at),
        (rf"(?P<slug>{SLUG})/bots(?:-(?P<number>{NUMBER}))?\.html", Website.bots),
        (rf"(?P<slug>{SLUG})/bots(?:-(?P<number>{NUMBER}))?\.json", Website.bots_json),
        (rf"(?P<slug>{SLUG})/bot/(?P<entrant>{NUMBER})(?:-matches-(?P<number>{NUMBER}))?\.html", Website.bot),
        (rf"(?P<slug>{SLUG})/(?P<page>live|kiosk)\.html", Website.live),
        (rf"(?P<slug>{SLUG})/late\.html", Website.late),
        (rf"(?P<slug>{SLUG})/late/(?P<match>{MATCH})\.html", Website.late_match),
        (r"replay/(?P<head>[0-9a-f]{64})-(?P<viewer>[0-9a-f]{16})\.html", Website.replay),
        (r"transcript/(?P<head>[0-9a-f]{64})\.jsonl", Website.transcript),
    )
)
