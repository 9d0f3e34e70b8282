"""A new entrant in a browser, from the invitation's link to the first match that counts, on a real server.

It takes three clicks and one upload.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from arena.accounts import Accounts, Database
from tests.arena.in_browser import Opened
from tests.real_wire.test_server import Server, bot_archive, server

if TYPE_CHECKING:
    from playwright.sync_api import Locator

__all__ = ["server"]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
LONGEST_MS = 600_000


class Entrant:
    """A person at a browser, whose clicks are counted."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.clicks = self.uploads = 0

    def click(self, place: "Locator") -> None:
        self.clicks += 1
        place.click(timeout=LONGEST_MS)

    def upload(self, name: str, content: bytes) -> None:
        self.uploads += 1
        file = {"name": name, "mimeType": "application/gzip", "buffer": content}
        self.opened.page.locator("input[name=bot]").set_input_files(file)  # type: ignore[arg-type]


def invitation(server: Server) -> str:
    """Return the link that the host has sent."""
    database = Database(server.folder / "runs/server/server.sqlite")
    try:
        accounts = Accounts(database)
        secret = accounts.invite(accounts.new_team("Red Pandas").id)
    finally:
        database.close()
    return f"http://127.0.0.1:{server.port}/join#{secret}"


def test_a_new_entrant_is_in_a_counted_match_after_three_clicks_and_one_upload(
    opened: Opened, server: Server, record_property: Callable[[str, object], None]
) -> None:
    archive = bot_archive(server.folder, "1")
    server.start()
    link = invitation(server)
    entrant, page = Entrant(opened), opened.page
    began = time.monotonic()

    page.goto(link)
    page.get_by_label("Your name").fill("Mia")
    expect(page.get_by_label("Invitation")).to_be_hidden()
    opened.pictures("server-join")
    entrant.click(page.get_by_role("button", name="Join"))

    page.get_by_label("Note for your team").fill("the first one")
    entrant.upload("my_bot.tar.gz", archive)
    opened.pictures("server-team")
    entrant.click(page.get_by_role("button", name="Hand in"))

    expect(page.locator(".now .badge")).to_have_text("entered", timeout=LONGEST_MS)
    expect(page.get_by_role("heading", name="How close to the limits")).to_be_visible()
    opened.pictures("server-submission")
    entrant.click(page.get_by_role("link", name="Its matches"))

    first = page.locator("tbody tr").first
    expect(first).to_be_visible(timeout=LONGEST_MS)
    record_property("seconds", round(time.monotonic() - began))
    opened.pictures("server-matches")
    assert (3, 1) == (entrant.clicks, entrant.uploads)
    assert Path(page.url).name == "matches"
    page.goto("about:blank")  # Before the server stops, which the page's event stream would complain of.
