"""A browser for tests of pages: Chromium, what a page complained of, pictures of it, and axe-core."""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.arena.in_browser import Opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine: scripts/chromium installs it")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - the quick tests need none of it

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments, timeout=120_000)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: "Browser", request: pytest.FixtureRequest) -> Iterator[Opened]:
    """A page that must not complain of anything, and asks for nothing but files and this machine's pages."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(120_000)
    opened = Opened(context.new_page(), request)
    yield opened
    context.close()
    assert opened.complaints == []
