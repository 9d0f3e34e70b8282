"""Ledgers that are closed, and a browser for tests of pages: Chromium, complaints, pictures, and axe-core."""

import asyncio
import os
import shutil
from asyncio import AbstractEventLoop as Loop
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from arena.tournament.ledger import Ledger
from tests.arena.in_browser import Opened
from tests.arena.ledgers import OpenLedger

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture
def open_ledger() -> Iterator[OpenLedger]:
    """Open ledgers, which are closed at the test's end."""
    with ExitStack() as opened:
        yield lambda path: opened.enter_context(closing(Ledger(path)))


@contextmanager
def in_loop(loop: Loop | None) -> Iterator[None]:
    """Within it, this thread's running loop is another."""
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(before)


@pytest.fixture(scope="session")
def browser() -> "Iterator[tuple[Browser, Loop]]":
    """Chromium, and the loop of Playwright, which counts as running until the end, between tests, too.

    No other test of this process could start a loop then, so it is hidden but while the browser is used.
    """
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine: scripts/chromium installs it")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - the quick tests need none of it

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments, timeout=120_000)
        with in_loop(None):
            yield browser, loop
        browser.close()


@pytest.fixture(scope="module")
def tab(browser: "tuple[Browser, Loop]") -> "Iterator[tuple[Page, Loop]]":
    """One tab for all tests of a module: a new one takes half a second of a processor."""
    chromium, loop = browser
    with in_loop(loop):
        context = chromium.new_context()
        context.set_default_timeout(120_000)
        page = context.new_page()
        with in_loop(None):
            yield page, loop
        context.close()


@pytest.fixture
def opened(tab: "tuple[Page, Loop]") -> Iterator[Opened]:
    """A page that must not complain of anything, and asks for nothing but files and this machine's pages."""
    page, loop = tab
    with in_loop(loop):
        opened = Opened(page)
        yield opened
        opened.leave()
    assert opened.complaints == []
