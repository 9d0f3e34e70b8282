"""All pages of the portal in Chromium, for a host, a team and a stranger: they fit, and complain of nothing."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Self

import pytest
import trio
from playwright.sync_api import expect

from arena.portal import ROUTES, RouteTerms
from arena.portal.visit import SESSION
from arena.web.events import Stream
from arena.web.server import Server, listeners
from tests.arena.in_browser import Opened
from tests.arena.portal.conftest import Setting, archive
from tests.arena.portal.test_access import ALLOWED, path_of

expect.set_options(timeout=60_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
FILES = (
    *(".jsonl", ".zip", "}/log", "/log/{name}", "/upload", "healthz", "metrics", "published/{public}"),
    *("sign-in/provider", "sign-in/callback"),
)
"""Ends of the paths of what is no page, or none without a provider of OpenID Connect."""
NOTE = "a-note-without-any-space-" * 12


def is_page(terms: RouteTerms) -> bool:
    return terms.method == "GET" and not terms.of_programs and not terms.path.endswith(FILES)


class Site:
    """A portal on a port of this machine, in a thread of its own."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.url = self.public = self.scrimmage = ""
        self._begun = Event()
        self._stop = trio.CancelScope()
        self._token: trio.lowlevel.TrioToken | None = None
        self._thread = Thread(target=lambda: trio.run(self._serve))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._begun.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        self._token.run_sync_soon(self._stop.cancel)
        self._thread.join(60)

    async def _serve(self) -> None:
        setting = self.setting
        await setting.join()
        answer = await setting.mia.upload(archive(), note=NOTE)
        self.public = answer.headers["location"].rpartition("/")[2]
        self.scrimmage = setting.practise("Red Pandas")
        self._token = trio.lowlevel.current_trio_token()
        with self._stop:
            async with trio.open_nursery() as nursery:
                listening = await listeners("127.0.0.1", 0)
                port = listening[0].socket.getsockname()[1]
                self.url = f"http://127.0.0.1:{port}"
                top = Stream(nursery, lambda: {"type": "changed", "version": "0"})
                setting.application._stream_at = lambda path: top if path == "events" else None
                nursery.start_soon(setting.portal.run, nursery, port)
                nursery.start_soon(Server(setting.application, 10, lambda _: None).serve, listening)
                self._begun.set()

    def session(self, role: str) -> str:
        """Return the secret of a role's session; "" for a stranger."""
        browser = {"host": self.setting.host, "member": self.setting.mia, "stranger": self.setting.stranger}[role]
        return browser.http.cookies.get(SESSION) or ""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, played: Path) -> Iterator[Site]:
    setting = Setting(tmp_path_factory.mktemp("portal"))
    setting.play(played)
    with pytest.MonkeyPatch.context() as patch, Site(setting) as site:
        # The form for practice is for teams whose bot competes.
        patch.setattr(
            setting.competition, "competitors", lambda: {"Red Pandas": "sha256:1", "Blue Herons": "sha256:2"}
        )
        yield site
    setting.close()


@pytest.mark.parametrize("role", ["host", "member", "stranger"])
def test_every_page_fits_and_complains_of_nothing(opened: Opened, site: Site, role: str) -> None:
    context = opened.page.context
    context.clear_cookies()
    if secret := site.session(role):
        context.add_cookies([{"name": SESSION, "value": secret, "url": site.url}])
    walked, faults = 0, list[str]()
    for terms in ROUTES:
        if not is_page(terms) or role not in ALLOWED[terms.role]:
            continue
        path = path_of(terms, site.public, site.scrimmage)
        answer = opened.page.goto(f"{site.url}{path}")
        assert answer is not None
        assert answer.status < 400, path
        if not path.endswith("/replay"):  # Replays have tests of their own.
            faults += [f"{path}: {fault}" for fault in opened.faults_of_accessibility()]
        opened.pictures(f"portal-{role}{path.replace('/', '-').replace(site.public, 'ID')}")
        # Chromium misses a user name beside a key, and there is none.
        opened.complaints[:] = [each for each in opened.complaints if not each.startswith("[DOM] Password forms")]
        assert opened.complaints == [], path
        walked += 1
    assert faults == []
    assert walked >= {"host": 5, "member": 9, "stranger": 3}[role]
