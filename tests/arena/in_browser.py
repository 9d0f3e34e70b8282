"""A page of the arena in a browser, as tests look at it.

Pictures of pages are taken where the variable ARENA_SCREENSHOTS names a folder for them.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

WIDTHS = (360, 1280)
SCHEMES = ("light", "dark")


class Opened:
    """A page, and all that it complained of."""

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.complaints: list[str] = []
        self._listeners: dict[Any, Callable[[Any], None]] = {
            "console": lambda message: self.complaints.append(message.text),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "dialog": lambda dialog: self.complaints.append(dialog.message),
            "request": lambda request: self._asked(request.url),
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)
        page.set_viewport_size({"width": 1280, "height": 900})

    def leave(self) -> None:
        """Leaves the tab as it was, and closes others."""
        for other in self.page.context.pages:
            if other is not self.page:
                other.close()
        self.page.emulate_media(color_scheme="light")
        self.page.goto("about:blank")
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def _asked(self, url: str) -> None:
        if not url.startswith(("file:", "about:blank", "http://127.0.0.1:")):
            self.complaints.append(url)

    def open(self, path: Path, link: str = "") -> "Page":
        """A replay from disk, when it is drawn."""
        self.page.goto(f"file://{path}{link}")
        self.page.wait_for_selector("body[data-ready]")
        return self.page

    def pictures(self, name: str) -> None:
        """At a phone's width and a desk's the page fits; pictures, light and dark, if they are wanted."""
        kept = os.environ.get("ARENA_SCREENSHOTS")
        before = self.page.viewport_size
        for width in WIDTHS:
            self.resize({"width": width, "height": 900})
            for scheme in SCHEMES if kept else ():
                self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                path = Path(kept or "", f"{name}-{width}-{scheme}.png")
                path.parent.mkdir(parents=True, exist_ok=True)
                # Without "initial", Playwright adds a style, which the policy of pages forbids.
                self.page.screenshot(path=path, caret="initial")
        self.page.emulate_media(color_scheme="light")
        if before is not None:
            self.resize(before)

    def resize(self, size: "ViewportSize") -> None:
        """Another size, in which nothing stands out at the side."""
        self.page.set_viewport_size(size)
        self.page.wait_for_function(f"document.documentElement.scrollWidth <= {size['width']}")

    def faults_of_accessibility(self, *, dark: bool = True) -> list[str]:
        """Return axe-core's moderate and worse findings, each with its first place; in dark mode, contrasts only.

        `dark`: looks at it in dark, too. All pages of a kind have their colours from one style sheet.
        """
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - see `browser`

        found = []
        for scheme in ("dark", "light") if dark else ("light",):
            self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            rules = ["color-contrast"] if scheme == "dark" else None
            # To preload the styles of a board, axe-core would add one, which the policy of pages forbids.
            options = {"resultTypes": ["violations"], "preload": False} | ({"runOnly": rules} if rules else {})
            result: dict[str, Any] = Axe().run(self.page, options=options).response
            assert result["passes"], "axe-core looked at nothing"
            found += [
                f"{scheme}: {rule['id']}: {rule['nodes'][0]['html'][:200]}"
                for rule in result["violations"]
                if rule["impact"] in ("moderate", "serious", "critical")
            ]
        return found
