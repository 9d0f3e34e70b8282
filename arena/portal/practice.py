"""Scrimmages of a team, with their replays as its own bot saw them; and the queue, which all may see."""

from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from arena.portal.entrance import number_in
from arena.portal.seats import OwnSeat, has_log, log_response, replay_response, seat_response
from arena.portal.visit import RouteTerms, Visit
from arena.submissions import Place, Scrimmage, ScrimmageMatch, SubmissionRefused, about, is_busy
from arena.web import Refusal

SHOWN = 50
"""Scrimmages on a page."""
MOST_OPPONENTS = 20
"""Maximum opponents that a request names."""
OTHERS = "opponent-"
"""Start of the names of fields with the bots of further seats; empty: the first opponent."""
DEFAULT_MATCHES = "2"


async def scrimmages_page(visit: Visit) -> Response:
    """Show the team's scrimmages, its budget, and the form for the next one."""
    portal, team = visit.portal, visit.team
    found = await portal.in_thread(lambda: portal.scrimmages.of_team(team, count=SHOWN))
    return visit.page(
        "scrimmages",
        title="Practice matches",
        scrimmages=found,
        places=await portal.in_thread(lambda: _places(visit, found)),
        budget=await portal.in_thread(lambda: portal.scrimmages.budget(team)),
        opponents=await portal.in_ledgers(portal.scrimmages.opponents),
        others=range(2, await portal.in_ledgers(portal.scrimmages.seats)),
        plays=visit.account.team_name in await portal.in_ledgers(portal.competition.competitors),
        queue=await portal.in_thread(portal.submissions.queue),
        busy=is_busy(),
    )


def _places(visit: Visit, found: list[Scrimmage]) -> dict[int, Place | None]:
    """Return the places of those that are not over, by their ids."""
    waiting = [each for each in found if each.state in {"queued", "playing"}]
    return {each.id: visit.portal.scrimmages.place(each) for each in waiting}


async def ask(visit: Visit) -> Response:
    """Request a scrimmage, and lead to its page."""
    form = visit.form
    first = form.get("opponent", "")
    others = [bot for field, bot in form.items() if field.startswith(OTHERS)]
    opponents = [first]
    if any(others):
        opponents += [bot or first for bot in others]
    # A field called `matches` would hide the form's method of this name from scripts.
    found = await _ask(visit, opponents, form.get("count", DEFAULT_MATCHES))
    return visit.redirect(f"team/scrimmage/{found.public}")


async def _ask(visit: Visit, opponents: list[str], matches: str) -> Scrimmage:
    number = number_in(matches)
    if len(opponents) > MOST_OPPONENTS:
        raise SubmissionRefused(f"opponents: a request names {MOST_OPPONENTS} at most")
    portal = visit.portal
    return await portal.in_thread(lambda: portal.scrimmages.ask(visit.account, opponents, number))


async def scrimmage_page(visit: Visit) -> Response:
    """Show a scrimmage: its place in the queue, and its matches with their replays."""
    portal, found = visit.portal, await own_scrimmage(visit)
    return visit.page(
        "scrimmage",
        title=f"Practice against {', '.join(found.opponents)}",
        scrimmage=found,
        place=await portal.in_thread(lambda: portal.scrimmages.place(found)),
        queue=await portal.in_thread(portal.submissions.queue),
        busy=is_busy(),
        matches=await portal.in_files(lambda: _rows(visit, found)),
    )


def _rows(visit: Visit, scrimmage: Scrimmage) -> list[tuple[int, ScrimmageMatch, bool, bool]]:
    """Return number and match, and whether there are a transcript and a log."""
    rows: list[tuple[int, ScrimmageMatch, bool, bool]] = []
    logs = visit.portal.competition.terms.logs == "own"
    for number, match in enumerate(scrimmage.played, 1):
        own = _own_seat(visit, scrimmage, number)
        rows.append((number, match, (own.folder / own.transcript).is_file(), logs and has_log(own)))
    return rows


async def own_scrimmage(visit: Visit) -> Scrimmage:
    """Return the scrimmage that a path names.

    Raises:
        Refusal: the team has none of this name (404).
    """
    portal, public = visit.portal, visit.param("public")
    found = await portal.in_thread(lambda: portal.scrimmages.by_public(public))
    if found is None or found.team != visit.team:
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    return found


def _own_seat(visit: Visit, scrimmage: Scrimmage, number: int) -> OwnSeat:
    match = scrimmage.played[number - 1]
    return OwnSeat(
        results=visit.portal.competition.results,
        folder=visit.portal.scrimmages.folder(scrimmage),
        transcript=match.transcript,
        seat=match.seat,
        name=f"{scrimmage.public}-{number}-seat-{match.seat}",
    )


async def _own_match(visit: Visit) -> tuple[Scrimmage, OwnSeat]:
    """Return the match that a path names: every one has a deal of its own, so it may be seen when it is over."""
    scrimmage, text = await own_scrimmage(visit), visit.param("number")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < len("1000000") else 0
    if not 1 <= number <= len(scrimmage.played):
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    return scrimmage, _own_seat(visit, scrimmage, number)


async def seat_file(visit: Visit) -> Response:
    """Send the transcript of the team's own seat."""
    _, own = await _own_match(visit)
    return await seat_response(visit, own)


async def replay(visit: Visit) -> Response:
    """Show a match as the team's own seat saw it."""
    scrimmage, own = await _own_match(visit)
    return await replay_response(visit, own, f"team/scrimmage/{scrimmage.public}")


async def log(visit: Visit) -> Response:
    """Send the output of the team's own bot."""
    _, own = await _own_match(visit)
    return await log_response(visit, own)


async def queue_page(visit: Visit) -> Response:
    """Show everybody how much there is to be judged and played. It names no team."""
    portal = visit.portal
    queue = await portal.in_thread(portal.submissions.queue)
    return visit.page(
        "queue",
        title="Queue",
        queue=queue,
        kinds=await portal.in_thread(portal.scrimmages.jobs.waiting_by_kind),
        typical="" if queue.seconds is None else about(queue.seconds),
    )


def scrimmage_json(scrimmage: Scrimmage, place: Place | None = None) -> dict[str, Any]:
    """Return a scrimmage as JSON for its team."""
    return {
        "id": scrimmage.public,
        "bot": scrimmage.bot,
        "opponents": scrimmage.opponents,
        "matches": scrimmage.matches,
        "state": scrimmage.state,
        "created": scrimmage.created,
        "changed": scrimmage.changed,
        "place": None if place is None else place.text,
        "mean_points": scrimmage.mean_points,
        "played": [_match_json(number, match) for number, match in enumerate(scrimmage.played, 1)],
    }


def _match_json(number: int, match: ScrimmageMatch) -> dict[str, Any]:
    return {
        "number": number,
        "seats": match.seats,
        "seat": match.seat,
        "points": match.points,
        "conduct": match.conduct,
        "note": match.note,
    }


async def list_scrimmages(visit: Visit) -> Response:
    """List the team's latest scrimmages, its budget and possible opponents."""
    portal, team = visit.portal, visit.team
    found = await portal.in_thread(lambda: portal.scrimmages.of_team(team, count=SHOWN))
    return visit.json(
        {
            "scrimmages": list(map(scrimmage_json, found)),
            "budget": await portal.in_thread(lambda: portal.scrimmages.budget(team)),
            "opponents": await portal.in_ledgers(portal.scrimmages.opponents),
        }
    )


async def ask_by_program(visit: Visit) -> Response:
    """Ask for a scrimmage."""
    query = visit.request.query_params
    found = await _ask(visit, query.getlist("opponent"), query.get("matches", DEFAULT_MATCHES))
    place = await visit.portal.in_thread(lambda: visit.portal.scrimmages.place(found))
    return visit.json(scrimmage_json(found, place), HTTPStatus.CREATED)


async def tell_scrimmage(visit: Visit) -> Response:
    """Return the state of a scrimmage."""
    found = await own_scrimmage(visit)
    place = await visit.portal.in_thread(lambda: visit.portal.scrimmages.place(found))
    return visit.json(scrimmage_json(found, place))


ROUTES = (
    RouteTerms("queue", "anybody", queue_page),
    RouteTerms("team/scrimmages", "member", scrimmages_page),
    RouteTerms("team/scrimmages/ask", "member", ask, "POST"),
    RouteTerms("team/scrimmage/{public}", "member", scrimmage_page),
    RouteTerms("team/scrimmage/{public}/{number}/seat.jsonl", "member", seat_file),
    RouteTerms("team/scrimmage/{public}/{number}/replay", "member", replay),
    RouteTerms("team/scrimmage/{public}/{number}/log", "member", log),
    RouteTerms("api/v1/scrimmages", "member", list_scrimmages, of_programs=True),
    RouteTerms("api/v1/scrimmages", "member", ask_by_program, "POST", form=False, of_programs=True),
    RouteTerms("api/v1/scrimmages/{public}", "member", tell_scrimmage, of_programs=True),
    RouteTerms("api/v1/scrimmages/{public}/{number}/seat", "member", seat_file, of_programs=True),
)
