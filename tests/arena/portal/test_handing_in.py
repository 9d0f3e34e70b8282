"""Handing in by form and by program: what is received, and what is refused while it arrives."""

from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

import pytest

from arena.submissions import Margin, MatchSummary, Verdict
from protocol.codec import encode
from tests.arena.portal.conftest import URL, Body, Setting, archive, send

BOUNDARY = "b0undary"


async def test_an_upload_by_form_is_stored_as_it_came_and_shown(setting: Setting) -> None:
    content = archive("one")
    answer = await setting.mia.upload(content, "pandas.tar.gz", note="the first")
    assert answer.status_code == HTTPStatus.SEE_OTHER
    page = await setting.mia.get(answer.headers["location"].removeprefix("/"))
    assert "the first" in page.text
    assert "received" in page.text
    assert (await setting.mia.get(f"{answer.headers['location'].removeprefix('/')}/upload")).content == content
    assert "the first" in (await setting.mia.get("team/")).text
    assert "the first" in (await setting.host.get("host/")).text


async def test_a_program_hands_in_and_a_repeated_request_counts_once(setting: Setting) -> None:
    token = setting.portal.accounts.new_token(setting.member("Red Pandas"), "ci", "submit")
    async with setting.program(token) as program:
        first, again = [
            await program.post(
                "submissions",
                params={"filename": "b.tar.gz"},
                content=archive(),
                headers={"idempotency-key": "k1"},
            )
            for _ in range(2)
        ]
        assert (first.status_code, again.status_code) == (HTTPStatus.CREATED, HTTPStatus.OK)
        assert first.json()["id"] == again.json()["id"]
        assert again.json()["repeated"]
        one = (await program.get(f"submissions/{first.json()['id']}")).json()
        assert (one["state"], one["events"][0]["state"], one["place"]) == ("received", "received", "1st of 1")
        assert len((await program.get("submissions")).json()["submissions"]) == 1
        gone = await program.post(f"submissions/{first.json()['id']}/withdraw")
        assert gone.json()["state"] == "withdrawn"
        me = (await program.get("me")).json()
        assert (me["team"], me["quota"]["in_flight"]) == ("Red Pandas", 0)


async def test_a_quota_is_told_before_anything_is_read(setting: Setting) -> None:
    token = setting.portal.accounts.new_token(setting.member("Red Pandas"), "ci", "submit")
    body = Body(archive())
    async with setting.program(token) as program:
        for number in range(2):
            assert (
                await program.post("submissions", content=archive(str(number)))
            ).status_code == HTTPStatus.CREATED
        answer = await send(program, "submissions", body)
        assert answer.status_code == HTTPStatus.TOO_MANY_REQUESTS
        assert int(answer.headers["retry-after"]) > 0
        assert "not judged yet" in answer.json()["error"]
        assert body.left


async def test_what_is_larger_than_the_host_allows_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    setting = Setting(tmp_path, "[server]", "upload_mb = 1")
    await setting.join()
    large = b"x" * (1024 * 1024 + 1)
    assert (await setting.mia.upload(large)).status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    token = setting.portal.accounts.new_token(setting.member("Red Pandas"), "ci", "submit")

    async with setting.program(token) as program:
        announced = {"content-length": str(len(large))}
        for headers in (announced, None):
            answer = await send(program, "submissions", Body(2 * large), headers)
            assert answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    files = [each for each in setting.competition.uploads.rglob("*") if each.is_file()]
    assert files == []
    setting.close()


async def test_what_is_refused_after_it_was_read_leaves_nothing(setting: Setting) -> None:
    token = setting.portal.accounts.new_token(setting.member("Red Pandas"), "ci", "submit")
    async with setting.program(token) as program:
        key = {"idempotency-key": "first"}
        assert (await send(program, "submissions", Body(archive()), key)).status_code == HTTPStatus.CREATED
        refused = await send(program, "submissions", Body(archive("other")), key)
        assert refused.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        long = await send(program, f"submissions?note={'n' * 501}", Body(archive("long")))
        assert long.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        # The upload of a submission stays, whoever hands it in again and is refused.
        again = await send(program, f"submissions?note={'n' * 501}", Body(archive()))
        assert again.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    (kept,) = [each for each in setting.competition.uploads.rglob("*") if each.is_file()]
    assert kept.read_bytes() == archive()


class Leaving(Body):
    """A body before whose last piece something happens."""

    def __init__(self, content: bytes, then: Callable[[], None]) -> None:
        super().__init__(content, len(content) - 1)
        self._then = then

    async def __anext__(self) -> bytes:
        if len(self.left) == 1:
            self._then()
        return await super().__anext__()


@pytest.mark.parametrize("ends", ["revoke", "leave", "close"])
async def test_an_upload_whose_token_ends_meanwhile_is_refused(setting: Setting, ends: str) -> None:
    accounts, mia = setting.portal.accounts, setting.member("Red Pandas")

    def end() -> None:
        if ends == "revoke":
            accounts.revoke_token(accounts.tokens(mia)[0].id, mia)
        elif ends == "leave":
            accounts.leave(mia)
        else:
            accounts.close_team(mia.team or 0)

    async with setting.program(accounts.new_token(mia, "ci", "submit")) as program:
        refused = await send(program, "submissions", Leaving(archive(), end))
    assert refused.status_code == HTTPStatus.UNAUTHORIZED
    assert [each for each in setting.competition.uploads.rglob("*") if each.is_file()] == []
    assert setting.portal.submissions.all() == []


async def test_no_more_uploads_of_a_team_arrive_at_once_than_may_wait_for_a_verdict(setting: Setting) -> None:
    accounts, mia = setting.portal.accounts, setting.member("Red Pandas")
    setting.portal.uploading[mia.team or 0] = setting.competition.terms.in_flight
    async with setting.program(accounts.new_token(mia, "ci", "submit")) as program:
        refused = await send(program, "submissions", Body(archive()))
    assert refused.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert (await setting.mia.upload(archive())).status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert (await setting.eve.upload(archive())).status_code == HTTPStatus.SEE_OTHER
    assert setting.portal.uploading == {mia.team: setting.competition.terms.in_flight}


def form(*parts: tuple[str, bytes], end: str = "--") -> bytes:
    """Return the body of a form, with these headers and contents."""
    whole = b"".join(
        b"--%b\r\n%b\r\n\r\n%b\r\n" % (BOUNDARY.encode(), head.encode(), content) for head, content in parts
    )
    return whole + f"--{BOUNDARY}{end}\r\n".encode()


FIELD = 'content-disposition: form-data; name="{}"'
FILE = 'content-disposition: form-data; name="bot"; filename="b.zip"'


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", form((FILE, b"x"))),
        (f"multipart/form-data; boundary={'b' * 300}", b""),
        ("right", b""),
        ("right", b"no boundary at all"),
        ("right", form((FILE, b"x"), end="")),
        ("right", form((FILE, b"x"))),
        ("right", form((FIELD.format("note"), b"n"))),
        ("right", form((FIELD.format("note"), b"n" * 20_000), (FILE, b"x"))),
        ("right", form(*[(FIELD.format("note"), b"n")] * 40, (FILE, b"x"))),
        ("right", form(("x: " + "y" * 9_000, b"n"), (FILE, b"x"))),
        ("right", form((FILE, b"x"), (FIELD.format("csrf"), b"late"))),
        ("right", form((FILE, b"x"), (FILE, b"x"))),
        ("right", form(("content-disposition: form-data", b"n"), (FILE, b"x"))),
    ],
)
async def test_what_is_no_form_of_this_site_is_refused_and_leaves_nothing(
    setting: Setting, kind: str, body: bytes
) -> None:
    kind = f"multipart/form-data; boundary={BOUNDARY}" if kind == "right" else kind
    answer = await setting.mia.http.post(
        "/team/submit", content=body, headers={"origin": URL, "content-type": kind}
    )
    assert HTTPStatus.BAD_REQUEST <= answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR
    assert [each for each in setting.competition.uploads.rglob("*") if each.is_file()] == []


async def test_names_of_files_and_notes_are_shown_and_nothing_else(setting: Setting) -> None:
    answer = await setting.mia.upload(archive(), '../"<b>x</b>.tar.gz', note="<script>alert(1)</script>")
    page = await setting.mia.get(answer.headers["location"].removeprefix("/"))
    assert "<script>alert" not in page.text
    assert "<b>x" not in page.text
    listed = (await setting.host.get("host/")).text
    assert "<script>alert" not in listed
    sent = await setting.mia.get(f"{answer.headers['location'].removeprefix('/')}/upload")
    assert "\n" not in sent.headers["content-disposition"]
    assert sent.headers["content-type"] == "application/octet-stream"


MARGIN = Margin(
    what="start-up", worst=8.9, limit=10, unit="s", share=0.89, warning=True, text="hello after 8.9 of 10 s: close"
)
MATCH = MatchSummary(opponent="mist_random", seat=1, points=0.5, conduct="crashed", said=("it ended by itself",))


@pytest.mark.parametrize(("passed", "state"), [(True, "entered"), (False, "refused")])
async def test_a_verdict_is_shown_with_its_margins_and_logs(setting: Setting, passed: bool, state: str) -> None:
    public = (await setting.mia.upload(archive())).headers["location"].rpartition("/")[2]
    verdict = Verdict(
        passed=passed,
        reason="" if passed else "bot.py: <there is none>",
        warnings=(MARGIN.text,),
        margins=(MARGIN,),
        match=MATCH,
    )
    log = setting.competition.logs / public / "build.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"made \x1b[31mall\xff\nnext line")
    database = setting.portal.database
    with database.change():
        query = "UPDATE submissions SET state = ?, entered = ?, verdict = ? WHERE public = ?"
        entered = "Red Pandas v2" if passed else None
        database.update(query, state, entered, encode(verdict).decode(), public)
    for browser, room in ((setting.mia, "team"), (setting.host, "host")):
        page = (await browser.get(f"{room}/submission/{public}")).text
        assert "hello after 8.9 of 10 s: close" in page
        assert "it ended by itself" in page
        assert ("Red Pandas v2" in page) == passed
        assert ("bot.py: &lt;there is none&gt;" in page) != passed
        sent = await browser.get(f"{room}/submission/{public}/log/build.log")
        assert sent.text == "made \\x1b[31mall\ufffd\nnext line"
        assert sent.headers["content-type"] == "text/plain; charset=utf-8"
    token = setting.portal.accounts.new_token(setting.member("Red Pandas"), "ci", "read")
    async with setting.program(token) as program:
        found = (await program.get(f"submissions/{public}")).json()
    assert found["verdict"]["margins"][0]["share"] == 0.89
    assert (found["ended"], found["logs"]) == (True, ["build.log"])


async def test_a_host_pauses_refuses_and_announces(setting: Setting) -> None:
    public = (await setting.mia.upload(archive())).headers["location"].rpartition("/")[2]
    await setting.host.post("host/pause", paused="yes")
    for page in ("team/", f"team/submission/{public}"):
        assert "paused by the host" in (await setting.mia.get(page)).text
    assert "Judging is paused" in (await setting.host.get("host/")).text
    await setting.host.post("host/pause", paused="no")
    assert "paused" not in (await setting.mia.get(f"team/submission/{public}")).text
    await setting.host.post(f"host/submission/{public}/refuse", reason="it is not a bot of yours")
    page = (await setting.mia.get(f"team/submission/{public}")).text
    assert "it is not a bot of yours" in page
    await setting.host.post("host/announce", text="Judging ends at <six>")
    assert "Judging ends at &lt;six&gt;" in (await setting.mia.get("team/")).text
    await setting.host.post("host/announce", text="")
    assert "Judging ends" not in (await setting.mia.get("team/")).text


async def test_a_member_invites_and_the_link_works_once(setting: Setting) -> None:
    page = (await setting.mia.post("team/members/invite")).text
    secret = page.partition("/join#")[2].partition('"')[0]
    newcomer = setting.browser("198.51.100.7")
    assert (await newcomer.post("join", invitation=f"{URL}/join#{secret}", name="Noa")).headers[
        "location"
    ] == "/team/"
    assert "Noa" in (await setting.mia.get("team/members")).text
    again = await setting.browser("198.51.100.8").post("join", invitation=secret, name="Oz")
    assert again.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    await newcomer.post("account/leave", sure="yes")
    assert (await newcomer.get("team/")).headers["location"] == "/sign-in"
