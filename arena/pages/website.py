"""Pages by path, for the server and for the static site. No page reveals a secret.

Paths are relative to the site's root and are file names, so a bucket or a disk can serve them too. Links are
relative to the page that contains them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby
from typing import Any

from msgspec import Struct

from arena.errors import MachineCannot, WrongUse
from arena.pages.bots import bot_file, bot_page, bots_index, bots_page, index_chunks
from arena.pages.competition import Competition
from arena.pages.contents import HEAD, TranscriptPages, pages_hash, replay_path, story_path, transcript_path
from arena.pages.feeds import FEEDS, atom_feed, json_feed
from arena.pages.games import game_page, game_paths
from arena.pages.highlights import highlights_page
from arena.pages.live import feed_page, kiosk_page, late_list, late_match, late_state, live_page, season_kiosk_page
from arena.pages.match import match_page, neighbours, old_match_page, page_of_match
from arena.pages.matches import match_file, matches_page, schedule_page
from arena.pages.pictures import card_path, picture_path
from arena.pages.play import games_to_play
from arena.pages.season import SeasonPages, season_page
from arena.pages.standings import standings_page
from arena.pages.tables import GLOSSARY, GLOSSARY_PATH
from arena.pages.template import (
    HTML,
    JSON,
    LINES,
    NO_ANNOUNCEMENT,
    PNG,
    ROWS,
    SVG,
    Announcement,
    Page,
    PageMaker,
    StoryTeller,
    as_of,
    asset_at,
    asset_paths,
    game_link,
    numbered,
    page_count,
)
from arena.pages.words import CompetitionFact, State, last_result, state_of, terms_line
from arena.tournament import NotBegun
from protocol.codec import encode

KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
IMAGE_KINDS = {"face.png": "image/png", "face.jpg": "image/jpeg", "face.webp": "image/webp"}
"""Media types of the images of faces, by file name."""
LIVE = "live"
"""Slug of the page for matches of a feed that belong to no competition of this site."""
NUMBER = "[0-9]{1,9}"
MATCH = "[1-9][0-9]{0,8}[a-z]{1,4}"
"""Pattern of a match's name; see `match_name`."""
NUMBERS = ("number", "block", "seating", "entrant")
"""Names of groups in the patterns of paths that are numbers."""


class Card(Struct, frozen=True, kw_only=True):
    """A competition on the page of all competitions."""

    title: str
    href: str
    about: str = ""
    game: tuple[str, str] | None = None
    """Name of the game for people, and the path of its page; None if it has no page."""
    state: State | None = None
    live: str = ""
    """Path of the page with live boards while it is being played; otherwise empty."""
    leads: str = ""
    leader: str = ""
    last: CompetitionFact | None = None
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
        url: str = "",
        embeds: bool = False,
        story: StoryTeller | None = None,
        pictures: bool = True,
        links: Sequence[tuple[str, str]] = (),
        practice: bool = False,
        announcement: Announcement = NO_ANNOUNCEMENT,
    ) -> None:
        """Serve pages of these competitions and seasons.

        `feed`: the server follows a feed of no competition, which `live/live.html` shows. Others: see `PageMaker`.
        `practice`: people may play here, so that the first page offers games. Without `story`, transcripts are
        read for stories when they are needed. Without replays there are none.
        """
        self._competitions = {each.slug: each for each in competitions}
        self._seasons = {each.slug: each for each in seasons}
        self._feed = feed
        self._practice = practice
        self._transcripts = TranscriptPages(competitions, url)
        self._maker = PageMaker(
            live=live,
            replays=replays,
            transcripts=transcripts,
            delay=delay,
            seasons=tuple(seasons),
            url=url,
            embeds=embeds,
            story=(story or self._transcripts.story) if replays else None,
            pictures=pictures and replays,
            links=tuple(links),
            announcement=announcement,
        )

    def page(self, path: str) -> Page | None:
        """Return the page at a path; None if there is none. Reads from the disk and may take seconds.

        Raises:
            WrongUse: a ledger or a transcript is not valid.
            MachineCannot: a file cannot be read.
        """
        if (body := asset_at(path)) is not None:
            return Page(body, KINDS[path.rpartition(".")[2]], for_ever=True)
        slug, slash, file = path.partition("/")
        if not slash:
            return self._at_top(path)
        if slug in self._competitions:
            return self._of_competition(self._competitions[slug], file)
        if slug in self._seasons:
            return self._of_season(self._seasons[slug], file)
        if slug == LIVE and self._feed and file in ("live.html", "kiosk.html"):
            return feed_page(self._maker, slug, file.removesuffix(".html"))
        return game_page(self._maker, path) or self._of_transcript(path)

    def _at_top(self, path: str) -> Page | None:
        if path in ("", "index.html"):
            return self._index()
        if path == GLOSSARY_PATH:
            return self._maker.page("glossary", path, title="Glossary", words=list(GLOSSARY.items()))
        return None

    def _image(self, of: Competition | SeasonPages, file: str) -> Page | None:
        """Return the image of a competition or a season, if this is its file."""
        kind = IMAGE_KINDS.get(file)
        body = of.image() if kind is not None and of.face.image == file else None
        return None if kind is None or body is None else Page(body, kind)

    def _of_transcript(self, path: str) -> Page | None:
        """Return the file at a path that is made of a match's transcript."""
        for pattern, kind in OF_TRANSCRIPTS:
            if found := pattern.fullmatch(path):
                folder, head = path.partition("/")[0], found["head"]
                if path == PATHS[folder](head):  # Otherwise it has the hash of other code.
                    return self._transcripts.page(folder, head, kind)
        return None

    def _of_competition(self, competition: Competition, file: str) -> Page | None:
        """Return the page at a path in a competition's folder."""
        if file in IMAGE_KINDS:
            return self._image(competition, file)
        for pattern, make in ROUTES:
            if found := pattern.fullmatch(file):
                values: dict[str, Any] = {}
                for name, text in found.groupdict().items():
                    if text is not None:
                        values[name] = int(text) if name in NUMBERS else text
                try:
                    return make(self._maker, competition, **values)
                except NotBegun as waiting:
                    return self._waiting(competition, file, waiting)
        return None

    def _of_season(self, season: SeasonPages, file: str) -> Page | None:
        if file in ("", "index.html", "index-1.html"):
            return season_page(self._maker, season)
        if file == "kiosk.html":
            return season_kiosk_page(self._maker, season)
        return self._image(season, file)

    def _waiting(self, competition: Competition, file: str, waiting: NotBegun) -> Page | None:
        """Return the page that replaces a page of a competition that has not begun; None for other files."""
        if file and not file.endswith(".html"):
            return None
        state = State("stopped", waiting.text)
        return self._maker.page("waiting", f"{competition.slug}/{file}", title=competition.title, state=state)

    def error(self, path: str, title: str, said: str, request: str = "") -> Page:
        """Return the page for a path at which there is no page, with the id of the request."""
        return self._maker.page("error", path, title=title, said=said, request=request)

    def shared_paths(self) -> Iterator[str]:
        """Yield the paths of pages and files that belong to no single competition."""
        yield from (f"{slug}/index.html" for slug in self._seasons)
        yield from (f"{slug}/{image}" for slug, season in self._seasons.items() if (image := season.face.image))
        yield from ("index.html", GLOSSARY_PATH)
        yield from game_paths()
        yield from asset_paths()

    def paths(self, slug: str) -> Iterator[str]:
        """Yield the paths of a competition's pages; a page follows those that it links to.

        Matches, replays and transcripts are not included. Raises the same errors as `page`.
        """
        overview = self._competitions[slug].overview()
        digest, index = overview.found.digest, overview.index
        for entrant in range(len(digest.labels)):
            pages = page_count(len(index.of_bot(entrant)))
            for number in range(1, pages + 1):
                yield f"{slug}/bot/{bot_file(entrant, number, pages)}"
        for number in range(1, page_count(digest.matches) + 1):
            yield f"{slug}/matches-{number}.html"
        for number in range(1, len(index_chunks(overview)) + 1):
            yield f"{slug}/{numbered('bots', number, 'json')}"
        for number in range(1, page_count(len(digest.labels), ROWS) + 1):
            yield f"{slug}/{numbered('bots', number)}"
            yield f"{slug}/{numbered('index', number)}"
        yield f"{slug}/matches.html"
        yield f"{slug}/schedule.html"
        yield f"{slug}/watch.html"
        yield from (f"{slug}/{name}" for name in FEEDS)
        if image := self._competitions[slug].face.image:
            yield f"{slug}/{image}"

    def match_pages(
        self, slug: str, refused: Mapping[str, str] | None = None
    ) -> Iterator[tuple[str, str, Callable[[], Page]]]:
        """Yield the path of each match's page, the hash of all its inputs, and the function that makes the page.

        `refused` has the reasons why transcripts cannot be shown, by head.
        Raises the same errors as `page`.
        """
        competition, maker = self._competitions[slug], self._maker
        overview = competition.overview()
        found = overview.found
        state = state_of(overview).words if overview.finished else None
        begun = overview.times.begun
        made_with = [pages_hash(), maker.replays, maker.transcripts, maker.pictures, maker.url]
        inputs = [*made_with, competition.title, competition.face.teams, found.terms, begun, state]
        same = sha256(encode(inputs))
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
                about = [match.played, match.reports, here, voids[block], neighbours(overview, row), names]
                about.append((refused or {}).get(match.played.head, ""))
                its.update(encode(about))
                make = partial(page_of_match, maker, competition, overview, match, row=row, block=together)
                yield f"{slug}/match/{match_file(block, seating)}", its.hexdigest(), make

    def _index(self) -> Page:
        """Return the page of all competitions."""
        competitions = self._competitions.values()
        alone = [each for each in competitions if self._maker.season_of(each) is None]
        cards = list(map(_card, alone))
        seasons = [_season_card(season) for season in self._seasons.values()]
        now = [(each["title"], each["state"].words, each["live"]) for each in seasons if each["live"]]
        now += [
            (each.title, each.state.words, each.live) for each in cards if each.live and each.state is not None
        ]
        return self._maker.page(
            "index",
            "index.html",
            title="Competitions",
            cards=cards,
            seasons=seasons,
            now=now if self._maker.live else (),
            games=games_to_play() if self._practice else (),
            as_of=as_of(competitions),
        )


def _season_card(season: SeasonPages) -> dict[str, Any]:
    """Return the values for a season's card, with the error if the season cannot be read."""
    card = {"title": season.title, "href": f"{season.slug}/index.html", "error": "", "live": ""}
    try:
        shown = season.context(lambda _, __: "")
        current = season.current() if shown["state"].kind == "running" else None
        if current is not None:
            card["live"] = f"{current.slug}/live.html"
        return card | shown | {"stages": [stage.name for stage in season.stages()]}
    except (WrongUse, MachineCannot) as error:
        return card | {"error": error.format_message().replace(f"{season.folder}/", "")}


def _card(competition: Competition) -> Card:
    """Return a competition's card, with the error if its ledger cannot be read."""
    title, href = competition.title, f"{competition.slug}/index.html"
    try:
        overview = competition.overview()
    except NotBegun as waiting:
        return Card(title=title, href=href, state=State("stopped", waiting.text))
    except (WrongUse, MachineCannot) as error:
        # The public page must not show paths of this machine.
        return Card(title=title, href=href, error=error.format_message().replace(f"{competition.ledger}: ", ""))
    digest = overview.found.digest
    state = state_of(overview)
    leader = ""
    if digest.matches > 0 and overview.history is None:
        leader = digest.labels[digest.standings[0].entrant]
    return Card(
        title=title,
        href=href,
        about=terms_line(overview),
        game=game_link(overview.found.terms.get("game")),
        state=state,
        live=f"{competition.slug}/live.html" if state.kind == "running" and overview.history is None else "",
        leads="won by" if overview.finished else "in the lead",
        leader=leader,
        last=last_result(overview),
    )


OF_TRANSCRIPTS = (
    (re.compile(rf"transcript/(?P<head>{HEAD})\.jsonl"), LINES),
    (re.compile(rf"replay/(?P<head>{HEAD})-[0-9a-f]+\.html"), HTML),
    (re.compile(rf"story/(?P<head>{HEAD})-[0-9a-f]+\.json"), JSON),
    (re.compile(rf"picture/(?P<head>{HEAD})-[0-9a-f]+\.svg"), SVG),
    (re.compile(rf"card/(?P<head>{HEAD})-[0-9a-f]+\.png"), PNG),
)
"""Paths of files that are made of a match's transcript, and their media types."""
PATHS = {
    "transcript": transcript_path,
    "replay": replay_path,
    "story": story_path,
    "picture": picture_path,
    "card": card_path,
}
"""Functions that return these paths by the transcript's head, by the site's folder."""
Route = tuple[re.Pattern[str], Callable[..., Page | None]]
ROUTES: tuple[Route, ...] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (rf"(?:index(?:-(?P<number>{NUMBER}))?\.html)?", standings_page),
        (r"schedule\.html", schedule_page),
        (r"watch\.html", highlights_page),
        (rf"matches(?:-(?P<number>{NUMBER}))?\.html", matches_page),
        (rf"match/(?P<match>{MATCH})\.html", match_page),
        # Old addresses contain block and seating, counted from 0.
        (rf"match/(?P<block>{NUMBER})-(?P<seating>{NUMBER})\.html", old_match_page),
        (rf"bots(?:-(?P<number>{NUMBER}))?\.html", bots_page),
        (rf"bots(?:-(?P<number>{NUMBER}))?\.json", bots_index),
        (rf"bot/(?P<entrant>{NUMBER})(?:-matches-(?P<number>{NUMBER}))?\.html", bot_page),
        (r"feed\.xml", atom_feed),
        (r"feed\.json", json_feed),
        (r"live\.html", live_page),
        (r"kiosk\.html", kiosk_page),
        (r"late\.html", late_list),
        (r"late\.json", late_state),
        (rf"late/(?P<match>{MATCH})\.html", late_match),
    )
)
"""Paths in a competition's folder, and the functions that make the pages there."""
