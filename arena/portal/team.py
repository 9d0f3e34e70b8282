"""A team's own pages: what it handed in and what became of it, its members, and its practice matches."""

from contextlib import suppress
from http import HTTPStatus

from starlette.responses import Response

from arena.errors import MachineCannot, WrongUse
from arena.pages import team_parts
from arena.portal.entrance import number_in
from arena.portal.uploads import NO_FILE, read_upload_form, receive, upload_turn
from arena.portal.visit import CSRF, Download, RouteTerms, Visit, check_csrf
from arena.submissions import ENDED, Submission, SubmissionRefused
from arena.web import ALWAYS, Refusal
from referee.display_text import printable

LONGEST_NOTE = 500
SHOWN = 50
"""Submissions on a page."""
LOG_KIND = "text/plain; charset=utf-8"


async def team_page(visit: Visit) -> Response:
    """Show the team's submissions, its quota, the queue, and the form for the next one.

    The public pages lead everybody here. Hosts, who have no team, are led on to their desk.
    """
    if visit.account.is_host:
        return visit.redirect("host/")
    portal, team = visit.portal, visit.team
    submissions = await portal.in_thread(lambda: portal.submissions.of_team(team, count=SHOWN))
    places = await portal.in_thread(
        lambda: {each.id: portal.submissions.place(each) for each in submissions if each.state not in ENDED}
    )
    return visit.page(
        "team",
        title=visit.account.team_name or "",
        submissions=submissions,
        places=places,
        quota=await portal.in_thread(lambda: portal.submissions.quota(team)),
        queue=await portal.in_thread(portal.submissions.queue),
        until=await portal.in_thread(portal.competition.entries_until),
        closed=await portal.in_thread(lambda: _why_closed(visit)),
        terms=portal.competition.terms,
        address=portal.address(visit.request),
        longest=LONGEST_NOTE,
    )


def _why_closed(visit: Visit) -> str:
    """Return the reason why the team can hand in nothing, other than its quota; "" if it can."""
    try:
        visit.portal.submissions.check(visit.team)
    except SubmissionRefused as refused:
        return "" if refused.why == "quota" else refused.text
    return ""


async def submit(visit: Visit) -> Response:
    """Take an upload of a form, and lead to its page."""
    portal = visit.portal
    await portal.in_thread(lambda: portal.submissions.check(visit.team))
    terms = portal.competition.terms
    with upload_turn(visit):
        form = await read_upload_form(
            visit.request, portal.store, terms.upload_mb, lambda fields: check_csrf(visit, fields.get(CSRF, ""))
        )
        note, upload = form.fields.get("note", "")[:LONGEST_NOTE], form.upload
        if upload is None:
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, NO_FILE)
        receipt = await receive(visit, upload, form.filename, note, form.fields.get("request") or None)
    return visit.redirect(f"team/submission/{receipt.submission.public}")


async def submission_page(visit: Visit) -> Response:
    """Show a team or a host a submission: its state, its place in the queue, its verdict and logs."""
    portal = visit.portal
    submission = await own_submission(visit)
    return visit.page(
        "submission",
        title=f"{submission.bot}: {submission.note or submission.filename}",
        submission=submission,
        events=await portal.in_thread(lambda: portal.submissions.events(submission)),
        place=await portal.in_thread(lambda: portal.submissions.place(submission)),
        queue=await portal.in_thread(portal.submissions.queue),
        logs=await portal.in_thread(lambda: portal.submissions.log_names(submission)),
        ended=submission.state in ENDED,
        plays=await portal.in_thread(lambda: portal.submissions.playing(submission.team)) == submission,
        bot_page=await _public_page(visit, submission),
    )


async def _public_page(visit: Visit, submission: Submission) -> str | None:
    """Return the path of the public page of the version that a submission became; None if there is none yet."""
    if not submission.entered:
        return None
    portal = visit.portal
    with suppress(WrongUse, MachineCannot):  # The submission is shown without it.
        parts = await portal.in_ledgers(lambda: team_parts(portal.parts, submission.team_name))
        paths = [part.bot_page(submission.entered) for part in parts]
        return next(filter(None, paths), None)
    return None


async def own_submission(visit: Visit) -> Submission:
    """Return the submission that a path names.

    Raises:
        Refusal: the team has none of this name (404).
    """
    portal, public = visit.portal, visit.param("public")
    submission = await portal.in_thread(lambda: portal.submissions.by_public(public))
    if submission is None or (submission.team != visit.account.team and not visit.account.is_host):
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    return submission


async def submission_log(visit: Visit) -> Response:
    """Send a log of a submission as text."""
    submission, name = await own_submission(visit), visit.param("name")
    content = await visit.portal.in_thread(lambda: visit.portal.submissions.log(submission, name))
    if content is None:
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such log.")
    lines = content.decode("utf-8", "replace").split("\n")
    text = "\n".join(printable(line) for line in lines)
    headers = {"cache-control": "no-store", "content-type": LOG_KIND}
    return Response(text.encode("utf-8", "replace"), headers=ALWAYS | headers)


async def download(visit: Visit) -> Response:
    """Send a team its own upload."""
    submission = await own_submission(visit)
    if submission.team != visit.account.team:
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    return await upload_response(visit, submission)


async def published(visit: Visit) -> Response:
    """Send anybody an upload that its team has published."""
    public = visit.param("public")
    submission = await visit.portal.in_thread(lambda: visit.portal.submissions.by_public(public))
    if submission is None or not submission.published:
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    return await upload_response(visit, submission)


async def upload_response(visit: Visit, submission: Submission) -> Response:
    """Return a response with the file that was uploaded, which browsers store and do not show."""
    try:
        file = await visit.portal.in_thread(lambda: visit.portal.store.open(submission.upload))
    except SubmissionRefused as refused:
        raise Refusal(HTTPStatus.GONE, f"{refused.text[0].upper()}{refused.text[1:]}.") from None
    return Download(file, f"{submission.public}-{printable(submission.filename)}", "application/octet-stream")


async def withdraw(visit: Visit) -> Response:
    """Withdraw a submission that has not entered."""
    submission = await own_submission(visit)
    await visit.portal.in_thread(lambda: visit.portal.submissions.withdraw(submission, visit.account))
    return visit.redirect(f"team/submission/{submission.public}")


async def restore(visit: Visit) -> Response:
    """Hand in an earlier upload again."""
    submission = await own_submission(visit)
    again = await visit.portal.in_thread(lambda: visit.portal.submissions.restore(submission, visit.account))
    return visit.redirect(f"team/submission/{again.public}")


async def publish(visit: Visit) -> Response:
    """Let everybody download an upload, or nobody any more."""
    submission = await own_submission(visit)
    wanted = visit.form.get("published") == "yes"
    await visit.portal.in_thread(
        lambda: visit.portal.submissions.publish(submission, visit.account, published=wanted)
    )
    return visit.redirect(f"team/submission/{submission.public}")


async def members_page(visit: Visit) -> Response:
    """Show the team's members and open invitations."""
    return await _members(visit, "")


async def _members(visit: Visit, link: str) -> Response:
    portal, team = visit.portal, visit.team
    return visit.page(
        "members",
        title="Members",
        members=await portal.in_thread(lambda: portal.accounts.members(team)),
        invitations=await portal.in_thread(lambda: portal.accounts.invitations(team)),
        log=await portal.in_thread(lambda: portal.accounts.audit_log(team, count=SHOWN)),
        link=link,
    )


async def invite(visit: Visit) -> Response:
    """Make an invitation to the team, and show its link once."""
    portal, team = visit.portal, visit.team
    members = await portal.in_thread(lambda: portal.accounts.members(team))
    if len(members) >= portal.competition.terms.members:
        text = f"Your team has {len(members)} members, and the host allows no more."
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, text)
    secret = await portal.in_thread(lambda: portal.accounts.invite(team, visit.account))
    return await _members(visit, portal.invitation_link(secret, visit.request))


async def revoke_invitation(visit: Visit) -> Response:
    """Revoke an invitation to the team."""
    id_, team = number_in(visit.form.get("id", "")), visit.team
    await visit.portal.in_thread(lambda: visit.portal.accounts.revoke_invitation(id_, team, visit.account))
    return visit.redirect("team/members")


ROUTES = (
    RouteTerms("team/", "account", team_page),
    RouteTerms("team/submit", "member", submit, "POST", form=False),
    RouteTerms("team/submission/{public}", "member", submission_page),
    RouteTerms("team/submission/{public}/log/{name}", "member", submission_log),
    RouteTerms("team/submission/{public}/upload", "member", download),
    RouteTerms("team/submission/{public}/withdraw", "member", withdraw, "POST"),
    RouteTerms("team/submission/{public}/restore", "member", restore, "POST"),
    RouteTerms("team/submission/{public}/publish", "member", publish, "POST"),
    RouteTerms("team/published/{public}", "anybody", published),
    RouteTerms("team/members", "member", members_page),
    RouteTerms("team/members/invite", "member", invite, "POST"),
    RouteTerms("team/members/revoke", "member", revoke_invitation, "POST"),
)
