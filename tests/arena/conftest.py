"""A browser for tests of pages: Chromium, what a page complained of, pictures of it, and axe-core."""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.arena.in_browser import Opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine: scripts/chromium installs it")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - the quick tests need none of it

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments, timeout=120_000)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def tab(browser: "Browser") -> "Iterator[Page]":
    """One tab for all tests of a module: a new one takes half a second of a processor."""
    context = browser.new_context()
    context.set_default_timeout(120_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def opened(tab: "Page", request: pytest.FixtureRequest) -> Iterator[Opened]:
    """A page that must not complain of anything, and asks for nothing but files and this machine's pages."""
    opened = Opened(tab, request)
    yield opened
    opened.leave()
    assert opened.complaints == []
