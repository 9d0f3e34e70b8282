"""A team's matches that count: why it lost, its seats' files and replays, and one archive of everything."""

import shutil
import zipfile
from contextlib import ExitStack, closing
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from starlette.responses import Response

from arena.errors import MachineCannot
from arena.pages import TeamMatch, TeamPart, team_parts
from arena.portal.api import submission_json
from arena.portal.seats import OwnSeat, has_log, log_response, replay_response, seat_response
from arena.portal.visit import Download, RouteTerms, Visit
from arena.reports import MOST_MATCHES, Share, archive_name, write_package
from arena.submissions import Submission
from arena.tournament import TRANSCRIPTS, Ledger
from arena.web import Rate, Refusal
from referee.linux.files import open_regular

SHOWN = 50
"""Matches on a page."""
MOST_DIGITS = 9
MOST_SUBMISSIONS = 1_000
"""Maximum submissions that an archive lists."""
ARCHIVES = "archives"
"""Name of the folder, in the server's, of archives that are being sent."""
PACKED = Rate(burst=3, seconds=300.0)
"""Archives per team."""
BUSY_SECONDS = 60.0


async def _parts(visit: Visit) -> list[TeamPart]:
    name = visit.account.team_name or ""
    try:
        return await visit.portal.in_ledgers(lambda: team_parts(visit.portal.parts, name))
    except MachineCannot:
        text = "The results cannot be read now."
        raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, text, retry_after=BUSY_SECONDS) from None


def _number(text: str) -> int:
    """Return the number of a page, from 1; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else 0


async def _page_of(visit: Visit) -> tuple[list[TeamPart], list[TeamMatch], int, int]:
    """Return the team's parts, a page of its matches, the newest first, and the page's number of how many."""
    parts = await _parts(visit)
    keys = [(part, key) for part in parts for key in reversed(part.keys)]
    pages = max(1, -(-len(keys) // SHOWN))
    page = _number(visit.request.query_params.get("page", "1"))
    if not 1 <= page <= pages:
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    chosen = keys[(page - 1) * SHOWN : page * SHOWN]
    found: list[TeamMatch] = []
    for part in parts:
        own = [key for other, key in chosen if other is part]
        found += await visit.portal.in_ledgers(partial(part.matches, own))
    return parts, found, page, pages


async def matches_page(visit: Visit) -> Response:
    """Show a page of the team's matches, the newest first."""
    parts, found, page, pages = await _page_of(visit)
    links = [("Newer", f"matches?page={page - 1}")] if page > 1 else []
    links += [("Older", f"matches?page={page + 1}")] if page < pages else []
    return visit.page(
        "team-matches",
        title="Matches",
        matches=found,
        several=len(parts) > 1,
        bots=[(part.competition.title, part.bot_page()) for part in parts],
        total=sum(len(part.keys) for part in parts),
        pages=links,
    )


async def _own_match(visit: Visit) -> TeamMatch:
    """Return the match that a path names.

    Raises:
        Refusal: the team has none of this name that counts (404).
    """
    for part in await _parts(visit):
        if part.competition.slug == visit.param("part"):
            found = await visit.portal.in_ledgers(partial(part.match, visit.param("match")))
            if found is not None:
                return found
    raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")


def _seat(match: TeamMatch, number: int) -> OwnSeat:
    folder = match.competition.folder
    return OwnSeat(
        results=folder,
        folder=folder / TRANSCRIPTS,
        transcript=match.listed.transcript,
        seat=number,
        head=match.listed.head,
        name=f"{match.competition.slug}-{match.listed.match}-seat-{number}",
    )


async def _own_seat(visit: Visit) -> tuple[TeamMatch, OwnSeat]:
    """Return the match of a path, and the team's seat in it: the first one, or the one that the query names."""
    match = await _own_match(visit)
    seats = [each.listed.seat for each in match.own]
    asked = visit.request.query_params.get("seat", str(seats[0]))
    if asked not in map(str, seats):
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    return match, _seat(match, int(asked))


async def match_page(visit: Visit) -> Response:
    """Show a match: how it ended, why it was lost, and its files."""
    portal, match = visit.portal, await _own_match(visit)
    terms = portal.competition.terms
    own = [_seat(match, each.listed.seat) for each in match.own]
    logged: list[bool] = [False for _ in own]
    if terms.logs == "own":
        logged = await portal.in_files(lambda: list(map(has_log, own)))
    return visit.page(
        "team-match",
        title=f"Match {match.listed.match}",
        match=match,
        seats=list(zip(match.own, own, logged, strict=True)),
        base=f"team/match/{match.path}",
        host_eyes=match.replay,
        address=portal.address(visit.request),
    )


async def seat_file(visit: Visit) -> Response:
    """Send the transcript of the team's own seat."""
    _, own = await _own_seat(visit)
    return await seat_response(visit, own)


async def replay(visit: Visit) -> Response:
    """Show a match as the team's own seat saw it."""
    match, own = await _own_seat(visit)
    return await replay_response(visit, own, f"team/match/{match.path}")


async def log(visit: Visit) -> Response:
    """Send the output of the team's own bot."""
    _, own = await _own_seat(visit)
    return await log_response(visit, own)


async def everything(visit: Visit) -> Response:
    """Send one archive of the team's matches, seat files, logs and submissions."""
    portal, team = visit.portal, visit.team
    if team in portal.packing:
        text = "An archive of your team is being made: wait until it is there."
        raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, text, retry_after=BUSY_SECONDS)
    portal.rates.spend("archive", str(team), PACKED)
    portal.packing.add(team)
    folder = portal.competition.server / ARCHIVES / str(team)
    top = archive_name(visit.account.team_name or "")
    sent = False

    def done() -> None:
        portal.packing.discard(team)
        shutil.rmtree(folder, ignore_errors=True)

    try:
        parts = await _parts(visit)
        submissions = await portal.in_thread(lambda: portal.submissions.of_team(team, count=MOST_SUBMISSIONS))
        path = await portal.in_archives(lambda: _pack(visit, folder, top, parts, submissions))
        response = Download(open_regular(path), f"{top}.zip", "application/zip", done)
        sent = True
        return response
    finally:
        if not sent:
            done()


def _pack(visit: Visit, folder: Path, top: str, parts: list[TeamPart], submissions: list[Submission]) -> Path:
    """Write the archive into an empty folder, and return its path."""
    shutil.rmtree(folder, ignore_errors=True)  # A server that was killed leaves its archives.
    folder.mkdir(parents=True)
    path = folder / "everything.zip"
    logs = visit.portal.competition.terms.logs == "own"
    with ExitStack() as opened:
        shares: list[Share] = []
        for part in parts:
            ledger = opened.enter_context(closing(Ledger(part.competition.ledger)))
            shares += part.shares(ledger, part.competition.slug if len(parts) > 1 else "")
        # All versions together have as many matches as one archive of the command.
        write_package(path, shares, top, max(1, MOST_MATCHES // max(1, len(shares))), logs=logs)
    listed = msgspec.json.format(msgspec.json.encode(list(map(submission_json, submissions))))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{top}/submissions.json", listed)
    return path


def match_json(match: TeamMatch) -> dict[str, Any]:
    """Return a match as JSON for its team."""
    listed = match.listed
    return {
        "part": match.competition.slug,
        "match": listed.match,
        "head": listed.head,
        "seats": listed.seats,
        "own": [each.listed.seat for each in match.own],
        "used": {str(each.listed.seat): dict(each.used) for each in match.own},
        "has_transcript": match.is_here,
    }


async def list_matches(visit: Visit) -> Response:
    """List a page of the team's matches, the newest first."""
    _, found, page, pages = await _page_of(visit)
    return visit.json({"matches": list(map(match_json, found)), "page": page, "pages": pages})


async def tell_match(visit: Visit) -> Response:
    """Return how a match ended."""
    return visit.json(match_json(await _own_match(visit)))


ROUTES = (
    RouteTerms("team/matches", "member", matches_page),
    RouteTerms("team/match/{part}/{match}", "member", match_page),
    RouteTerms("team/match/{part}/{match}/seat.jsonl", "member", seat_file),
    RouteTerms("team/match/{part}/{match}/replay", "member", replay),
    RouteTerms("team/match/{part}/{match}/log", "member", log),
    RouteTerms("team/everything.zip", "member", everything),
    RouteTerms("api/v1/matches", "member", list_matches, of_programs=True),
    RouteTerms("api/v1/matches/{part}/{match}", "member", tell_match, of_programs=True),
    RouteTerms("api/v1/matches/{part}/{match}/seat", "member", seat_file, of_programs=True),
)
