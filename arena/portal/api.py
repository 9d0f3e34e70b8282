"""The interface for programs: bots handed in, and what became of them, in JSON. `docs/server.md` describes it."""

from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from arena.portal.team import own_submission, submission_log, upload_response
from arena.portal.uploads import read_upload, receive, upload_turn
from arena.portal.visit import RouteTerms, Visit
from arena.submissions import ENDED, Place, Submission

SHOWN = 100


def submission_json(submission: Submission, place: Place | None = None) -> dict[str, Any]:
    """Return a submission as JSON for its team."""
    return {
        "id": submission.public,
        "bot": submission.bot,
        "state": submission.state,
        "ended": submission.state in ENDED,
        "created": submission.created,
        "changed": submission.changed,
        "note": submission.note,
        "filename": submission.filename,
        "counts": submission.counts,
        "content": submission.content,
        "entered": submission.entered,
        "place": None if place is None else place.text,
        "verdict": submission.verdict,
        "delayed": bool(submission.failure),
    }


async def me(visit: Visit) -> Response:
    """Say who the token's account is, and what its team may still do."""
    account = visit.account
    quota = await visit.portal.in_thread(lambda: visit.portal.submissions.quota(visit.team))
    return visit.json({"name": account.name, "team": account.team_name, "quota": quota})


async def submit(visit: Visit) -> Response:
    """Take an upload as a request's body."""
    portal, query = visit.portal, visit.request.query_params
    key = visit.request.headers.get("idempotency-key") or None
    await portal.in_thread(lambda: portal.submissions.check(visit.team, key))
    with upload_turn(visit):
        upload = await read_upload(visit.request, portal.store, portal.competition.terms.upload_mb)
        receipt = await receive(visit, upload, query.get("filename", "bot"), query.get("note", ""), key)
    place = await portal.in_thread(lambda: portal.submissions.place(receipt.submission))
    answer = submission_json(receipt.submission, place) | {
        "repeated": receipt.repeated,
        "same_as": receipt.same_as,
    }
    return visit.json(answer, HTTPStatus.OK if receipt.repeated else HTTPStatus.CREATED)


async def submissions(visit: Visit) -> Response:
    """List the team's latest submissions."""
    found = await visit.portal.in_thread(lambda: visit.portal.submissions.of_team(visit.team, count=SHOWN))
    return visit.json({"submissions": [submission_json(each) for each in found]})


async def submission(visit: Visit) -> Response:
    """Say what became of a submission."""
    portal = visit.portal
    found = await own_submission(visit)
    place = await portal.in_thread(lambda: portal.submissions.place(found))
    events = await portal.in_thread(lambda: portal.submissions.events(found))
    logs = await portal.in_thread(lambda: portal.submissions.log_names(found))
    return visit.json(submission_json(found, place) | {"events": events, "logs": logs})


async def download(visit: Visit) -> Response:
    """Send a team its own upload."""
    return await upload_response(visit, await own_submission(visit))


async def withdraw(visit: Visit) -> Response:
    """Withdraw a submission that has not entered."""
    found = await own_submission(visit)
    await visit.portal.in_thread(lambda: visit.portal.submissions.withdraw(found, visit.account))
    return await submission(visit)


async def restore(visit: Visit) -> Response:
    """Hand in an earlier upload again."""
    found = await own_submission(visit)
    again = await visit.portal.in_thread(lambda: visit.portal.submissions.restore(found, visit.account))
    return visit.json(submission_json(again), HTTPStatus.CREATED)


def program(path: str, handler: Any, method: Any = "GET") -> RouteTerms:
    """Return a route for a team's programs."""
    return RouteTerms(f"api/v1/{path}", "member", handler, method, form=False, of_programs=True)


ROUTES = (
    program("me", me),
    program("submissions", submissions),
    program("submissions", submit, "POST"),
    program("submissions/{public}", submission),
    program("submissions/{public}/log/{name}", submission_log),
    program("submissions/{public}/upload", download),
    program("submissions/{public}/withdraw", withdraw, "POST"),
    program("submissions/{public}/restore", restore, "POST"),
)
