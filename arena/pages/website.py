"""Pages by path, for the server and for the static site. No page reveals a secret.

Paths are relative to the site's root and are file names, so a bucket or a disk can serve them too. Links are
relative to the page that contains them.
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
from arena.pages.bots import bot_context, bot_index, bots_table, index_chunks
from arena.pages.competition import MOST_SAID, Competition, MatchOnPage, Overview
from arena.pages.contents import (
    NoReplayError,
    late_page,
    pages_hash,
    replay_page,
    replay_path,
    shown_late,
    transcript_bytes,
    transcript_path,
    viewer_hash,
)
from arena.pages.matches import (
    coming_text,
    match_context,
    match_file,
    match_href,
    match_table,
    matches_of_bot,
    schedule_context,
)
from arena.pages.regression import test_context
from arena.pages.season import SeasonPages
from arena.pages.standings import ROWS, bracket_rounds, leaders_table, standings_context
from arena.pages.tables import GLOSSARY, GLOSSARY_PATH
from arena.pages.template import DRAWING, asset_at, asset_path, asset_paths, render
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
"""Number of rounds of a bracket that a projector shows: the last ones."""
ON_KIOSK = 16
"""Number of bots that a projector shows while no match is played: the best ones."""
MOST_REFUSED = 1_000
"""Maximum number of refused transcripts whose reasons are cached."""
LIVE = "live"
"""Slug of the page for matches of a feed that belong to no competition of this site."""
SLUG = "[a-z0-9][a-z0-9-]{0,63}"
NUMBER = "[0-9]{1,9}"
MATCH = "[1-9][0-9]{0,8}[a-z]{1,4}"
"""Pattern of a match's name; see `match_name`."""
FileStamp = tuple[int, int, int]


class Page(Struct, frozen=True):
    """The content at a path."""

    body: bytes
    kind: str = HTML
    """Media type."""
    for_ever: bool = False
    """Whether the content at this path never changes."""


class Card(Struct, frozen=True, kw_only=True):
    """A competition on the page of all competitions."""

    title: str
    href: str
    about: str = ""
    state: State | None = None
    leads: str = ""
    leader: str = ""
    last: Fact | None = None
    error: str = ""


class Website:
    """All pages of some competitions and seasons."""

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
        """Serve pages of these competitions.

        Args:
            competitions: the competitions.
            live: whether a server sends events, so that pages update themselves.
            feed: whether the server follows a feed of no competition, which `live/live.html` shows.
            replays: whether pages link to replays.
            transcripts: whether pages link to transcripts.
            delay: seconds by which unfinished matches are shown late with all secrets; None: they are not shown.
            seasons: the seasons.
        """
        self._delay = delay
        self._seasons = {each.slug: each for each in seasons}
        self._replays = replays
        self._transcripts = transcripts
        self._competitions = {each.slug: each for each in competitions}
        self._live = live
        self._feed = feed
        self._refused: dict[tuple[str, str], tuple[FileStamp, str]] = {}
        """File stamp and reason of each refused transcript, by head and media type."""

    def page(self, path: str) -> Page | None:
        """Return the page at a path; None if there is none. Reads from the disk and may take seconds.

        Raises:
            WrongUse: a ledger or a transcript is not valid.
            MachineCannot: a file cannot be read.
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
        """Yield the paths of pages and files that belong to no single competition."""
        yield from (f"{slug}/index.html" for slug in self._seasons)
        yield from ("index.html", GLOSSARY_PATH)
        yield from asset_paths()

    def _waiting(self, path: str, slug: str, waiting: NotBegun) -> Page | None:
        """Return the page that replaces a page of a competition that has not begun; None for other files."""
        if not path.endswith((".html", "/")):
            return None
        return self._html(
            "waiting", path, title=self._competitions[slug].title, state=State("stopped", waiting.text)
        )

    def paths(self, slug: str) -> Iterator[str]:
        """Yield the paths of a competition's pages; a page follows those that it links to.

        Matches, replays and transcripts are not included. Raises the same errors as `page`.
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
        """Yield the path of each match's page, the hash of all its inputs, and the function that makes the page.

        Raises the same errors as `page`.
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
                if row is None:  # The match has started to count since the overview was read.
                    continue
                its = same.copy()
                here = competition.transcript(match) is not None
                names = [found.digest.labels[entrant] for entrant in match.played.entrants]
                about = [match.played, match.reports, here, voids[block], _neighbours(overview, row), names]
                its.update(encode(about))
                make = partial(self._match, competition, overview, row, match, together)
                yield f"{slug}/match/{match_file(block, seating)}", its.hexdigest(), make

    def error(self, path: str, title: str, said: str) -> Page:
        """Return the page for a path at which there is no page."""
        return self._html("error", path, title=title, said=said)

    def index(self) -> Page:
        """Return the page of all competitions."""
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
        """Return the glossary."""
        return self._html("glossary", GLOSSARY_PATH, title="Glossary", words=list(GLOSSARY.items()))

    def season(self, slug: str) -> Page | None:
        """Return the page of a season with its stages; None if there is no such season."""
        season = self._seasons.get(slug)
        if season is None:
            return None

        def href(competition: Competition, entrant: int | None) -> str:
            page = "index.html" if entrant is None else f"bot/{entrant}.html"
            return f"../{competition.slug}/{page}"

        parts = season.context(href)
        as_of = _as_of(each for each in self._competitions.values() if season.holds(each))
        return self._html("season", f"{slug}/index.html", title=season.title, as_of=as_of, **parts)

    def standings(self, slug: str, number: str = "1") -> Page | None:
        """Return a page of a competition's standings, or of a season; None if there is none."""
        competition = self._competitions.get(slug)
        if competition is None:
            return self.season(slug) if number == "1" else None
        overview = competition.overview()
        first, pages = (int(number) - 1) * ROWS, _pages(len(overview.found.digest.labels), ROWS)
        if not 0 < int(number) <= pages:
            return None
        path = f"{slug}/{_numbered('index', int(number))}"
        parts = standings_context(overview, _bot_href(""), first=first)
        test = test_context(overview)
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
        """Return the page of current matches and next blocks."""
        competition = self._competitions.get(slug)
        if competition is None:
            return None
        overview = competition.overview()
        parts = schedule_context(overview)
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
        """Return a page of `MATCHES_A_PAGE` matches; without a number, the newest ones."""
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
        """Return the page of a match at its old address of block and seating, to which older pages linked."""
        return self.match(slug, match_name(int(block), int(seating)))

    def match(self, slug: str, match: str) -> Page | None:
        """Return the page of a match; None until its block counts."""
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
        """Return the page of a match. `row` is its index row; `block` holds all matches of its block."""
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
            **match_context(overview, match, block),
        )

    def bots(self, slug: str, number: str = "1") -> Page | None:
        """Return a page of the list of bots."""
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
        """Return a part of the index for searching bots."""
        competition = self._competitions.get(slug)
        if competition is None:
            return None
        chunks = index_chunks(competition.overview())
        if not 0 < int(number) <= len(chunks):
            return None
        more = _numbered("bots", int(number) + 1, "json") if int(number) < len(chunks) else None
        return Page(bot_index(chunks[int(number) - 1], more), JSON)

    def bot(self, slug: str, entrant: str, number: str | None = None) -> Page | None:
        """Return a bot's page, or page `number` of its matches; the newest matches are on the bot's page."""
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
            **bot_context(overview, bot),
        )

    def replay(self, head: str, viewer: str) -> Page | None:
        """Return the replay of a match; None for the hash of another viewer."""
        return self._of_transcript(head, replay_page, HTML) if viewer == viewer_hash() else None

    def transcript(self, head: str) -> Page | None:
        """Return a match's transcript."""
        return self._of_transcript(head, transcript_bytes, LINES)

    def live(self, slug: str, page: str) -> Page | None:
        """Return the page of current matches: all with boards (`live`), or one after the other (`kiosk`)."""
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
        """Return the kiosk page of a season: its running tournament, or the one that began last."""
        competition = season.current()
        shown: dict[str, Any] = {"firsts": season.context(lambda _, __: "")["firsts"]}
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
        """Return the list of unfinished matches that are shown late with all secrets."""
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
        """Return the delayed page of an unfinished match with all secrets; None if it may not be shown."""
        competition = self._competitions.get(slug)
        key = match_of(match)
        if competition is None or self._delay is None or key is None:
            return None
        body = late_page(competition, *key, self._delay)
        return None if body is None else Page(body)

    def _of_transcript(self, head: str, make: Callable[[Path, str], bytes], kind: str) -> Page | None:
        """Return the page made from a match's transcript.

        A refused one is read again once its file has changed.
        """
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
        """Return the match that has this head, if it counts; unreadable competitions are skipped."""
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
        """Return the values for a season's card, with the error if the season cannot be read."""
        card = {"title": season.title, "href": f"{season.slug}/index.html", "error": ""}
        try:
            shown = season.context(lambda _, __: "")
            return card | {
                **{key: shown[key] for key in ("about", "last", "state", "firsts")},
                "stages": [stage.name for stage in season.stages()],
            }
        except (WrongUse, MachineCannot) as error:
            return card | {"error": error.format_message().replace(f"{season.folder}/", "")}

    def _card(self, competition: Competition) -> Card:
        """Return a competition's card, with the error if its ledger cannot be read."""
        href = f"{competition.slug}/index.html"
        try:
            overview = competition.overview()
        except NotBegun as waiting:
            return Card(title=competition.title, href=href, state=State("stopped", waiting.text))
        except (WrongUse, MachineCannot) as error:
            # The public page must not show paths of this machine.
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
        """Return a page of one competition from its template."""
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
        """Return a page from its template, with the link prefix `top` that leads to the site's root."""
        top = "../" * path.count("/")
        text = render(
            template,
            top=top,
            live=self._live,
            as_of=as_of,
            style=asset_path("site.css"),
            script=asset_path("site.js"),
            glossary=f"{top}{GLOSSARY_PATH}",
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
"""Values for a kiosk page while no results are known."""


def _idle(competition: Competition | None) -> dict[str, Any]:
    """Return the values that a kiosk page shows while no match is played."""
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
    """Return the time of the oldest data on the page; None if all of it is recent."""
    moments = [moment for each in competitions if (moment := each.as_of()) is not None]
    return datetime.fromtimestamp(min(moments), UTC) if moments else None


def _stamp(file: Path) -> FileStamp:
    """Return a value that changes when the file changes; zeros if the file does not exist."""
    try:
        its = file.stat()
    except OSError:
        return 0, 0, 0
    return its.st_ino, its.st_size, its.st_mtime_ns


def _pages(rows: int, a_page: int = MATCHES_A_PAGE) -> int:
    return max(1, -(-rows // a_page))


def _numbered(name: str, number: int, ending: str = "html") -> str:
    """Return the file name of a numbered page, such as `bots-2.html`; the first one has no number."""
    return f"{name}.{ending}" if number == 1 else f"{name}-{number}.{ending}"


def _bot_href(here: str) -> Callable[[int], str]:
    return lambda entrant: f"{here}bot/{entrant}.html"


def _bot_page(entrant: int, number: int | None) -> str:
    """Return the file name of a bot's page, or of page `number` of its older matches."""
    return f"{entrant}.html" if number is None else f"{entrant}-matches-{number}.html"


def _bot_file(entrant: int, number: int, matches: int) -> str:
    return f"bot/{_bot_page(entrant, None if number == _pages(matches) else number)}"


def _links(page: int, pages: int, path: Callable[[int], str]) -> list[tuple[str, str]]:
    """Return links to the neighbouring pages and to the first and last ones."""
    if pages == 1:
        return []
    shown = sorted({1, 2, page - 1, page, page + 1, pages - 1, pages} & set(range(1, pages + 1)))
    return [(str(each), "" if each == page else path(each)) for each in shown]


def _newest_first(page: int, pages: int, path: Callable[[int], str], newest: str) -> list[tuple[str, str]]:
    """Return links between pages whose last one is the newest and is called `newest`."""

    def at(number: int) -> str:
        return newest if number == pages else path(number)

    links = [("Newest", at(pages)), ("Newer", at(page + 1))] if page < pages else []
    return [*links, *([("Older", at(page - 1)), ("Oldest", at(1))] if page > 1 else [])]


def _neighbours(overview: Overview, row: int) -> list[tuple[str, str]]:
    """Return links to the previous and the next match of the schedule."""
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
        # Old addresses contain block and seating, counted from 0.
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
