"""Draws the pictures of docs/season.md: a host and two teams in Chromium, on a real server.

`scripts/server-pictures` runs it. The pictures have few colours, so that each is some tens of kilobytes.
"""

import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.arena.conftest import CHROMIUM
from tests.real_wire.processes import until
from tests.real_wire.test_server import RESULTS, Server, bot_archive

WIDTH, MOST_HEIGHT = 900, 700
COLOURS = 96
LONGEST_MS = 600_000
TITLE = "Ladder of the course"
BROKEN = "import arena\n"
HOST_LINK = re.compile(r"http://127\.0\.0\.1:\d+/join#\S+")


class Week:
    """A week of a course, of which pictures are drawn."""

    def __init__(self, server: Server, browser: Browser, to: Path) -> None:
        self._server = server
        self._browser = browser
        self._to = to

    @contextmanager
    def person(self, link: str, name: str) -> Iterator[Page]:
        """Open a browser for a person who has an invitation."""
        context = self._browser.new_context(viewport={"width": WIDTH, "height": MOST_HEIGHT})
        context.set_default_timeout(LONGEST_MS)
        page = context.new_page()
        page.goto(link)
        page.get_by_label("Your name").fill(name)
        page.get_by_role("button", name="Join").click()
        yield page
        context.close()

    def picture(self, page: Page, name: str) -> None:
        """Draw the top of a page."""
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement?.blur()")
        content = page.screenshot(caret="initial")
        whole = Image.open(io.BytesIO(content)).convert("RGB")
        height = min(MOST_HEIGHT, int(page.evaluate("document.querySelector('footer').offsetTop")))
        drawn = whole.crop((0, 0, WIDTH, height)).quantize(COLOURS, dither=Image.Dither.NONE)
        drawn.save(self._to / f"server-{name}.png", optimize=True)

    def invite(self, host: Page, team: str) -> str:
        """Make a team; return the link for it."""
        host.goto(f"{self._top}host/teams")
        host.get_by_label("Name").fill(team)
        host.get_by_label("Persons").fill("3")
        host.get_by_role("button", name="Make a team and invite").click()
        return host.get_by_label("Link of the invitation").input_value()

    def hand_in(self, member: Page, note: str, archive: bytes) -> None:
        """Hand in a bot, as far as the click."""
        member.goto(f"{self._top}team/")
        member.get_by_label("Note for your team").fill(note)
        file = {"name": "my_bot.tar.gz", "mimeType": "application/gzip", "buffer": archive}
        member.locator("input[name=bot]").set_input_files(file)  # type: ignore[arg-type]

    @property
    def _top(self) -> str:
        return f"http://127.0.0.1:{self._server.port}/"

    def play(self) -> None:
        """Play the week."""
        server = self._server
        archive = bot_archive(server.folder, "1")
        code = server.folder / "my_bot/bot.py"
        right = code.read_text()
        code.write_text(BROKEN + right)
        broken = bot_archive(server.folder, "2")
        code.write_text(right)
        found = HOST_LINK.search((server.folder / "log").read_text())
        assert found is not None
        with self.person(found[0], "Ada") as host:
            pandas, herons = self.invite(host, "Red Pandas"), self.invite(host, "Blue Herons")
            self.picture(host, "teams")
            with self.person(pandas, "Mia") as mia, self.person(herons, "Eve") as eve:
                self.hand_in(mia, "random moves, to begin with", archive)
                self.picture(mia, "team")
                mia.get_by_role("button", name="Hand in").click()
                expect(mia.locator(".now .badge")).to_have_text("entered", timeout=LONGEST_MS)
                self.picture(mia, "entered")
                self.hand_in(eve, "plans two moves ahead", broken)
                eve.get_by_role("button", name="Hand in").click()
                expect(eve.locator(".now .badge")).to_have_text("refused", timeout=LONGEST_MS)
                self.picture(eve, "refused")
                results = server.value(RESULTS)
                until(lambda: server.value(RESULTS) >= results + 12)
                mia.goto(f"{self._top}team/matches")
                expect(mia.locator("tbody tr").first).to_be_visible(timeout=LONGEST_MS)
                self.picture(mia, "matches")
                host.goto(f"{self._top}host/")
                host.get_by_label("Text").fill("The last day to hand in is Sunday, 20:00 UTC.")
                host.get_by_role("button", name="Show").click()
                expect(host.get_by_role("status")).to_be_visible()
                self.picture(host, "desk")


def main() -> None:
    """Draw all pictures into a folder."""
    (to,) = map(Path, sys.argv[1:])
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, sync_playwright() as playwright:
        Path(folder).chmod(0o755)  # Bots of root run as others.
        server = Server(Path(folder), f'title = "{TITLE}"')
        server.start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            Week(server, browser, to).play()
        finally:
            browser.close()
            server.stop()


if __name__ == "__main__":
    main()
