"""The portal: what all of its routes share, and its part of the server."""

import math
import secrets
import traceback
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeVar

import trio
from click import ClickException
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Scope

from arena.accounts import Account, Accounts, Database
from arena.errors import tried_again
from arena.event_loop import CallThread
from arena.pages import Announcement, PageMaker, read_matches
from arena.portal import api, entrance, host, identity, matches, operations, practice, team
from arena.portal.provider import Provider
from arena.portal.visit import SESSION, RouteTerms, starlette_route
from arena.submissions import Competition, Scrimmages, Submissions, UploadStore
from arena.terminal import say
from arena.web import Guard, RateLimits, ServedCompetition, Stamp, Stream
from referee.log import Logger

LOOK_SECONDS = 1.0
"""Seconds between two looks for changes in the database."""
MATCHES_SECONDS = 15.0
"""Minimum seconds between two renewals of pages because of matches, of which a ladder plays many."""
HANGS_SECONDS = 5_400.0
"""Seconds without a verdict after which the server reports a submission that the judge has not reported."""
AnswerT = TypeVar("AnswerT")


class Portal:
    """The season's server's pages and interface, as an extension of the server of pages."""

    links: Sequence[tuple[str, str]] = (("Your team", "team/"),)

    def __init__(
        self,
        competition: Competition,
        guard: Guard,
        log: Logger,
        *,
        url: str = "",
        links: Sequence[tuple[str, str]] = (),
        announcement: Announcement | None = None,
    ) -> None:
        """Open the database of a competition.

        Args:
            competition: the competition.
            guard: checks requests.
            log: the operator's log.
            url: address of the site's top; "" if it is unknown.
            links: those of other extensions.
            announcement: that of the site's other pages, which is kept up to date; None: there are none.

        Raises:
            WrongUse: the database is of another kind, or that of a newer arena; or the file's provider is wrong.
            MachineCannot: the database cannot be read or written.
        """
        self.competition = competition
        self.guard = guard
        self.rates = RateLimits()
        self.log = log
        self.database = Database(competition.database)
        self.accounts = Accounts(self.database)
        self.store = UploadStore(competition.uploads, competition.terms.upload_mb * 1024 * 1024)
        self.submissions = Submissions(
            self.database,
            competition.terms,
            competition=competition.name,
            store=self.store,
            logs=competition.logs,
            entries_until=competition.entries_until,
        )
        self.announcement = announcement or Announcement()
        self.pages = PageMaker(live=True, url=url, links=(*links, *self.links), announcement=self.announcement)
        oidc = competition.terms.oidc
        self.provider = None if oidc is None else Provider(oidc, competition.file.parent)
        """Provider at which people may sign in, too; None if the host has none."""
        self.attempts = identity.Attempts()
        self.in_thread = CallThread()
        self.in_ledgers = CallThread()
        """Thread for ledgers, which may take seconds."""
        self.in_files = CallThread()
        """Thread for replays and other files of matches."""
        self.file_turns = defaultdict[int, trio.Lock](trio.Lock)
        """Lock of each team, by which it has one call of `in_files` at a time."""
        self.in_archives = CallThread()
        """Thread for teams' archives, each of which may take a minute."""
        self.scrimmages = Scrimmages(self.database, competition.terms, competition=competition)
        self.parts: tuple[ServedCompetition, ...] = ()
        """The tournament, or the parts of the season that have begun, the latest first."""
        self.meter = operations.Meter()
        self.uploading = Counter[int]()
        """Number of uploads of each team that arrive."""
        self.packing: set[int] = set()
        """Teams whose archives are being made or sent."""
        self._change = self._version = 0
        """Number of the last change of a submission, and of all changes that pages show."""
        self._boot = secrets.token_hex(4)
        """Random id of this process. It tells its versions from those of an earlier process."""
        self._stamps: list[Stamp] = []
        self._renewed_at = -math.inf
        self._changes: Stream | None = None

    @property
    def provider_name(self) -> str:
        """Name of the provider on pages; empty if there is none."""
        return "" if self.provider is None else self.provider.name

    def routes(self) -> Sequence[Route]:
        """Return the portal's routes."""
        return [starlette_route(self, terms) for terms in ROUTES]

    def show(self, competitions: Sequence[ServedCompetition]) -> None:
        """Take note of the competitions that are served now."""
        folders = {folder.resolve(): number for number, folder in enumerate(self.competition.folders())}
        here = [each for each in competitions if each.folder.resolve() in folders]
        self.parts = tuple(sorted(here, key=lambda each: folders[each.folder.resolve()]))
        for part in self.parts:
            part.of_teams = True
            part.withheld = self.competition.terms.views == "own"

    def stream(self, scope: Scope) -> Stream | int | None:
        """Return the stream that tells pages of teams and hosts that something has changed."""
        if scope["path"] not in {"/team/events", "/host/events", "/account/events", "/join/events"}:
            return None
        request = Request(scope)
        secret = self.guard.cookie(request, SESSION)
        # Read here and not in a thread: one row by its key, and streams are opened rarely.
        if self._changes is None or not secret or self.accounts.session(secret) is None:
            return 403
        return self._changes

    async def run(self, nursery: trio.Nursery, port: int) -> None:
        """Watch the database for changes until cancelled."""
        del port
        self._changes = Stream(nursery, self._news)
        while True:
            with tried_again():  # A full disk ends nothing: the next look may succeed.
                await self._look()
            await trio.sleep(LOOK_SECONDS)

    async def _look(self) -> None:
        # A judge that works has reported it before, with a notice; one that hangs reports nothing.
        await self.in_thread(lambda: self.submissions.report_late(HANGS_SECONDS))
        number = await self.in_thread(self.submissions.change_number)
        text = await self.in_thread(self._read_announcement)
        await self.show_published()
        stamps = await self.in_thread(lambda: [part.stamp() for part in self.parts])
        if (number, text) != (self._change, self.announcement.text):
            self._change, self.announcement.text = number, text
            self._publish("changed")
        if stamps != self._stamps and trio.current_time() >= self._renewed_at + MATCHES_SECONDS:
            self._stamps, self._renewed_at = stamps, trio.current_time()
            self._publish("matches")
        for part in self.parts:  # No page of a team waits until all matches of a large ledger are read.
            if not part.of_bots.is_read:
                await self.in_ledgers(partial(read_matches, part))

    def _publish(self, what: str) -> None:
        """Tell open pages that something has changed: `matches` concerns those that show matches."""
        self._version += 1
        if self._changes is not None:
            self._changes.publish(self._news(what))

    def _news(self, what: str = "changed") -> Mapping[str, str]:
        return {"type": what, "version": f"{self._boot}-{self._version}"}

    async def show_published(self) -> None:
        """Let the public pages of bots link to the code that their authors publish."""
        found = await self.in_thread(self.submissions.published)
        paths = {label: f"team/published/{public}" for label, public in found.items()}
        for part in self.parts:
            part.published = paths

    def _read_announcement(self) -> str:
        found = self.database.value("SELECT text FROM announcements WHERE ended IS NULL ORDER BY id DESC LIMIT 1")
        return str(found or "")

    async def announce(self, text: str, by: Account) -> None:
        """Show a line on all pages, in place of the one before; "" removes it."""

        def change() -> None:
            with self.database.change():
                now = self.database.now()
                self.database.update("UPDATE announcements SET ended = ? WHERE ended IS NULL", now)
                if text:
                    self.database.insert("announcements", at=now, account=by.id, text=text)
                self.accounts.audit("announced", text, by, None)

        await self.in_thread(change)
        self.announcement.text = text

    def failed(self, error: Exception, path: str, request: str) -> None:
        """Report an error to the operator, with the id of the request."""
        self.log.error("request_failed", id=request, path=path, reason=repr(error))
        lines = error.format_message() if isinstance(error, ClickException) else traceback.format_exception(error)
        say(f"request {request}: {path}: {''.join(lines)}")

    def invitation_link(self, secret: str, request: Request) -> str:
        """Return the link of an invitation. Browsers do not send what follows the `#`."""
        return f"{self.address(request)}join#{secret}"

    def address(self, request: Request) -> str:
        """Return the address of the site's top as the visitor sees it, with a slash at its end."""
        return self.pages.url or f"http://{request.headers.get('host', '')}{self.guard.path}"


ROUTES: tuple[RouteTerms, ...] = (
    *entrance.ROUTES,
    *identity.ROUTES,
    *team.ROUTES,
    *matches.ROUTES,
    *practice.ROUTES,
    *host.ROUTES,
    *api.ROUTES,
    *operations.ROUTES,
)
"""All routes of the portal, with who may use each."""


def host_link(competition: Competition, address: str) -> str | None:
    """Return a link by which the host makes an account; None if there is a host already.

    The link of an earlier start ends, so that a terminal's history or a log has no valid one but the last.
    """
    database = Database(competition.database)
    try:
        accounts = Accounts(database)
        if accounts.has_host():
            return None
        return f"{address}join#{accounts.invite_first_host()}"
    finally:
        database.close()


def show_host_link(competition: Competition, address: str) -> None:
    """Print the link by which the host makes an account, unless there is a host already."""
    if (link := host_link(competition, address)) is not None:
        say(f"open this link once to become the host (valid for a day): {link}")
