"""The host's pages: teams, submissions of all teams, the queue, and what hosts and teams did."""

from http import HTTPStatus

from starlette.responses import Response

from arena.accounts import Team
from arena.portal.entrance import number_in
from arena.portal.operations import disk_of, play_states, processes, server_complaints
from arena.portal.team import own_submission, submission_log, submission_page
from arena.portal.visit import RouteTerms, Visit
from arena.submissions import STATES
from arena.web import Refusal

SHOWN = 100
LATEST = 20
"""Entries of the audit log on the first page."""
LONGEST_ANNOUNCEMENT = 500


async def host_page(visit: Visit) -> Response:
    """Show the queue, the latest submissions, and what needs the host."""
    portal = visit.portal
    submissions = await portal.in_thread(lambda: portal.submissions.all(count=SHOWN))
    return visit.page(
        "host",
        title="The host's desk",
        queue=await portal.in_thread(portal.submissions.queue),
        counts=await portal.in_thread(portal.submissions.counts_by_state),
        states=STATES,
        submissions=submissions,
        stuck=await portal.in_thread(portal.submissions.in_trouble),
        processes=await portal.in_thread(lambda: processes(portal.competition.server)),
        complaints=await portal.in_thread(lambda: server_complaints(portal.competition.server)),
        disk=await portal.in_thread(lambda: disk_of(portal.competition.server)),
        tournaments=await portal.in_ledgers(lambda: play_states(portal.parts)),
        log=await portal.in_thread(lambda: portal.accounts.audit_log(count=LATEST)),
        longest=LONGEST_ANNOUNCEMENT,
    )


async def log_page(visit: Visit) -> Response:
    """Show what hosts and teams did, the latest first: a page of the audit log."""
    before = visit.request.query_params.get("before")
    number = None if before is None else number_in(before)
    log = await visit.portal.in_thread(lambda: visit.portal.accounts.audit_log(before=number, count=SHOWN + 1))
    older = log[SHOWN - 1].id if len(log) > SHOWN else None
    return visit.page("audit", title="What hosts and teams did", log=log[:SHOWN], older=older)


async def teams_page(visit: Visit) -> Response:
    """Show all teams."""
    return await _teams(visit)


async def _teams(visit: Visit, link: str = "", invited: Team | None = None, uses: int = 0) -> Response:
    teams = await visit.portal.in_thread(visit.portal.accounts.teams)
    return visit.page("teams", title="Teams", teams=teams, link=link, invited=invited, uses=uses)


async def new_team(visit: Visit) -> Response:
    """Make a team, and show the link of its first invitation once."""
    portal = visit.portal
    team = await portal.in_thread(lambda: portal.accounts.new_team(visit.form.get("name", ""), visit.account))
    return await _invited(visit, team)


async def invite(visit: Visit) -> Response:
    """Make an invitation to a team, and show its link once."""
    return await _invited(visit, await _team(visit))


async def _invited(visit: Visit, team: Team) -> Response:
    portal = visit.portal
    uses = number_in(visit.form.get("uses", "1"))
    secret = await portal.in_thread(lambda: portal.accounts.invite(team.id, visit.account, uses=uses))
    return await _teams(visit, portal.invitation_link(secret, visit.request), team, uses)


async def close_team(visit: Visit) -> Response:
    """Close a team, or open it again."""
    team = await _team(visit)
    closed = visit.form.get("closed") == "yes"
    await visit.portal.in_thread(lambda: visit.portal.accounts.close_team(team.id, visit.account, closed=closed))
    return visit.redirect("host/teams")


async def _team(visit: Visit) -> Team:
    id_ = number_in(visit.form.get("team", ""))
    team = await visit.portal.in_thread(lambda: visit.portal.accounts.team(id_))
    if team is None:
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "There is no such team.")
    return team


async def refuse(visit: Visit) -> Response:
    """Refuse a submission for the host's own reason."""
    submission = await own_submission(visit)
    reason = visit.form.get("reason", "").strip()[:LONGEST_ANNOUNCEMENT]
    if not reason:
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "Give the reason, which the team will read.")
    await visit.portal.in_thread(lambda: visit.portal.submissions.refuse(submission, visit.account, reason))
    return visit.redirect(f"host/submission/{submission.public}")


async def retry(visit: Visit) -> Response:
    """Let the arena try a submission again now."""
    submission = await own_submission(visit)
    await visit.portal.in_thread(lambda: visit.portal.submissions.retry(submission, visit.account))
    return visit.redirect(f"host/submission/{submission.public}")


async def pause(visit: Visit) -> Response:
    """Stop the judging of further submissions, or let it go on."""
    paused = visit.form.get("paused") == "yes"
    await visit.portal.in_thread(lambda: visit.portal.submissions.pause(visit.account, paused=paused))
    return visit.redirect("host/")


async def announce(visit: Visit) -> Response:
    """Show a line on all pages, in place of the one before; an empty one removes it."""
    text = visit.form.get("text", "").strip()[:LONGEST_ANNOUNCEMENT]
    await visit.portal.announce(text, visit.account)
    return visit.redirect("host/")


ROUTES = (
    RouteTerms("host/", "host", host_page),
    RouteTerms("host/log", "host", log_page),
    RouteTerms("host/teams", "host", teams_page),
    RouteTerms("host/teams/new", "host", new_team, "POST"),
    RouteTerms("host/teams/invite", "host", invite, "POST"),
    RouteTerms("host/teams/close", "host", close_team, "POST"),
    RouteTerms("host/submission/{public}", "host", submission_page),
    RouteTerms("host/submission/{public}/log/{name}", "host", submission_log),
    RouteTerms("host/submission/{public}/refuse", "host", refuse, "POST"),
    RouteTerms("host/submission/{public}/retry", "host", retry, "POST"),
    RouteTerms("host/pause", "host", pause, "POST"),
    RouteTerms("host/announce", "host", announce, "POST"),
)
