"""A portal without sockets, and clients of it: a host, two teams, a stranger, and programs."""

import gzip
import io
import os
import re
import shutil
import tarfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import trio
from httpx import ASGITransport, AsyncClient

from arena.accounts import Account
from arena.portal import Portal
from arena.portal.visit import CSRF, SESSION
from arena.submissions import Competition, ScrimmageMatch
from arena.submissions.submission import new_public
from arena.tournament import LEDGER, TRANSCRIPTS
from arena.web.cache import ServedCompetition
from arena.web.events import Streams
from arena.web.guard import Guard
from arena.web.server import Application, Site
from referee.log import SILENT
from tests.arena.reports.played import played_folder
from tests.builders.tournaments import write_tournament

URL = "http://127.0.0.1:8000"
PRINTED = "practice-b3d271"
"""What a bot prints in a practice match."""
FORM = {"content-type": "application/x-www-form-urlencoded"}


def archive(note: str = "") -> bytes:
    """Return an archive of a bot, always the same; `note` makes it another one."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, text in (
            ("bot.toml", 'name = "pandas"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'),
            ("bot.py", f"# {note}\n"),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return gzip.compress(file.getvalue(), mtime=0)


class Body(httpx.AsyncByteStream):
    """A body in pieces. Those of httpx are generators, which nobody closes if a server stops reading."""

    def __init__(self, content: bytes, piece: int = 65_536) -> None:
        self.left = [content[at : at + piece] for at in range(0, len(content), piece)]
        """Pieces that were not read."""

    def __aiter__(self) -> "Body":
        return self

    async def __anext__(self) -> bytes:
        await trio.lowlevel.checkpoint()
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop(0)


async def send(
    client: AsyncClient, path: str, body: Body, headers: dict[str, str] | None = None
) -> httpx.Response:
    """Send a body whose length nobody is told, unless the headers do."""
    request = client.build_request("POST", path, headers=headers)
    if headers is None or "content-length" not in headers:
        request.headers.pop("content-length", None)
    request.stream = body
    return await client.send(request)


class Browser:
    """A browser, which keeps the cookie of its session."""

    def __init__(self, application: Application, address: str = "192.0.2.7") -> None:
        transport = ASGITransport(application, client=(address, 4000))
        self.http = AsyncClient(transport=transport, base_url=URL)

    async def get(self, path: str) -> httpx.Response:
        return await self.http.get(f"/{path}")

    async def post(self, path: str, origin: str = URL, **fields: str) -> httpx.Response:
        """Send a form, with the value against forged requests if this browser has a session."""
        if CSRF not in fields:
            fields[CSRF] = await self.csrf()
        return await self.http.post(f"/{path}", data=fields, headers={"origin": origin})

    async def csrf(self) -> str:
        """Return the value of this session's forms; "" without a session."""
        if SESSION not in self.http.cookies:
            return ""
        page = await self.get("account")
        found = re.search(f'name="{CSRF}" value="([0-9a-f]+)"', page.text)
        return found[1] if found else ""

    async def upload(self, content: bytes, filename: str = "bot.tar.gz", **fields: str) -> httpx.Response:
        """Hand in an archive by the form."""
        data = {CSRF: await self.csrf(), "request": "", "note": ""} | fields
        files = {"bot": (filename, content)}
        form = self.http.build_request("POST", "/team/submit", data=data, files=files)
        form.read()
        headers = {name: form.headers[name] for name in ("content-type", "content-length")} | {"origin": URL}
        return await send(self.http, "/team/submit", Body(form.content), headers)


class Setting:
    """A portal with a host, two teams with a member each, and a stranger."""

    def __init__(self, folder: Path, *more: str) -> None:
        file = write_tournament(folder / "cup.toml", ["mist_random", "mist_cautious"], *more)
        self.competition = Competition.read(file)
        self.portal = Portal(self.competition, Guard(), SILENT)
        site = Site({}, announcement=self.portal.announcement)
        self.application = Application(site, Streams(), lambda _: None, SILENT, [self.portal])
        self.host = self.browser("192.0.2.1")
        self.mia = self.browser("192.0.2.2")
        self.eve = self.browser("192.0.2.3")
        self.stranger = self.browser("192.0.2.4")

    def browser(self, address: str) -> Browser:
        return Browser(self.application, address)

    def program(self, token: str, address: str = "192.0.2.9") -> AsyncClient:
        """Return a client with a token."""
        return AsyncClient(
            transport=ASGITransport(self.application, client=(address, 4000)),
            base_url=f"{URL}/api/v1/",
            headers={"authorization": f"Bearer {token}"},
        )

    async def join(self) -> None:
        """Let the host and a member of each team join."""
        accounts = self.portal.accounts
        secrets = [accounts.invite(None)]
        secrets += [accounts.invite(accounts.new_team(name).id) for name in ("Red Pandas", "Blue Herons")]
        people = ((self.host, "Ada"), (self.mia, "Mia"), (self.eve, "Eve"))
        for (browser, name), secret in zip(people, secrets, strict=True):
            answer = await browser.post("join", invitation=secret, name=name)
            assert answer.status_code == 303

    def play(self, played: Path) -> None:
        """Let the two teams have met: copy the results of such matches, and serve them."""
        results = self.competition.results
        (results / TRANSCRIPTS).mkdir(parents=True, exist_ok=True)
        (results / LEDGER).write_bytes((played / LEDGER).read_bytes())
        for file in (played / TRANSCRIPTS).iterdir():
            os.link(file, results / TRANSCRIPTS / file.name)
        served = ServedCompetition("results", results)
        self.application.show({"results": served})

    def practise(self, team: str) -> str:
        """Let a team have played a practice match, which was recorded; return the scrimmage's name."""
        scrimmages, account = self.portal.scrimmages, self.member(team)
        database = self.portal.database
        with database.change():
            public = new_public()
            id_ = database.insert(
                "scrimmages",
                public=public,
                team=account.team,
                account=account.id,
                bot=team,
                opponents='["mist_random"]',
                matches=1,
                state="queued",
                created=database.now(),
                changed=database.now(),
            )
            scrimmages.jobs.add("scrimmage", id_, account.team or 0, "cup")
        scrimmage = scrimmages.by_id(id_)
        assert scrimmage is not None
        folder = scrimmages.folder(scrimmage)
        folder.mkdir(parents=True)
        source = next(iter(sorted((self.competition.results / TRANSCRIPTS).glob("*.jsonl"))))
        shutil.copy(source, folder / "match-1.jsonl")
        (folder / "match-1.seat-0.log").write_text(PRINTED)
        match = ScrimmageMatch(
            seats=(team, "mist_random"), seat=0, points=1.0, conduct=("ok", "ok"), transcript="match-1.jsonl"
        )
        job = scrimmages.jobs.take("test")
        while job is not None and job.kind != "scrimmage":
            job = scrimmages.jobs.take("test")
        assert job is not None
        scrimmages.add_match(scrimmage, job, match, 1)
        return public

    def rename(self, team: str, name: str) -> None:
        """Give a team another name, under which no bot has played."""
        with self.portal.database.change():
            self.portal.database.update("UPDATE teams SET name = ? WHERE name = ?", name, team)

    def member(self, team: str) -> Account:
        """Return the account of a team's first member."""
        found = self.portal.accounts.team(team)
        assert found is not None
        return self.portal.accounts.members(found.id)[0]

    def close(self) -> None:
        self.portal.database.close()


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the two teams have met in two blocks that count, and in one that does not yet."""
    return played_folder(tmp_path_factory.mktemp("r") / "cup", ("Red Pandas", "Blue Herons"), 2, begun=1)


@pytest.fixture
def bare(tmp_path: Path, played: Path) -> Iterator[Setting]:
    """Set up a portal whose people have not joined yet, and whose teams have played."""
    setting = Setting(tmp_path)
    setting.play(played)
    yield setting
    setting.close()


@pytest.fixture
async def setting(bare: Setting) -> AsyncIterator[Setting]:
    await bare.join()
    yield bare
    await trio.lowlevel.checkpoint()
