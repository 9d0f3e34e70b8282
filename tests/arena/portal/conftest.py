"""A portal without sockets, and clients of it: a host, two teams, a stranger, and programs."""

import io
import re
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
from arena.submissions import Competition
from arena.web.events import Streams
from arena.web.guard import Guard
from arena.web.server import Application, Site
from referee.log import SILENT
from tests.builders.tournaments import write_tournament

URL = "http://127.0.0.1:8000"
FORM = {"content-type": "application/x-www-form-urlencoded"}


def archive(note: str = "") -> bytes:
    """Return an archive of a bot; `note` makes it another one."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, text in (
            ("bot.toml", 'name = "pandas"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'),
            ("bot.py", f"# {note}\n"),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return file.getvalue()


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
        self.application = Application(Site({}), Streams(), lambda _: None, SILENT, [self.portal])
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

    def member(self, team: str) -> Account:
        """Return the account of a team's first member."""
        found = self.portal.accounts.team(team)
        assert found is not None
        return self.portal.accounts.members(found.id)[0]

    def close(self) -> None:
        self.portal.database.close()


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Setting]:
    """Set up a portal whose people have not joined yet."""
    setting = Setting(tmp_path)
    yield setting
    setting.close()


@pytest.fixture
async def setting(bare: Setting) -> AsyncIterator[Setting]:
    await bare.join()
    yield bare
    await trio.lowlevel.checkpoint()
