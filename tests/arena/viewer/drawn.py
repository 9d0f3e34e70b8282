"""Boards that the drawings of games make of views, in Chromium and without the rest of the page."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from playwright.sync_api import Page

from arena.viewer import drawing_script
from tests.arena.in_browser import Opened

SCRIPT = """
function shown(game, view, ctx) {
  const drawn = drawings[game].board(view, { at: 0, eyes: "host", last: false, runes: {}, reveal: null, ...ctx });
  const root = document.getElementById("root");
  root.replaceChildren(drawn.node, ...(drawn.more ?? []));
  const all = (what, read) => [...root.querySelectorAll(what)].map(read);
  return { heading: drawn.heading, pictures: all("svg[role=img]", (each) => each.getAttribute("aria-label")),
    titles: all("title", (each) => each.textContent), ids: all("[data-id]", (each) => each.dataset.id),
    text: root.textContent };
}
function scored(game, view, ctx) { return drawings[game].scores(view, ctx)?.of ?? null; }
"""


class Drawings:
    """The drawings of all games in one page."""

    def __init__(self, opened: Opened, folder: Path) -> None:
        path = folder / "drawings.html"
        style = files("arena.viewer").joinpath("assets", "viewer.css").read_text()
        body = f'<style>{style}</style><body data-ready><div id="root"></div>'
        path.write_text(f"<!doctype html>{body}<script>{drawing_script()}{SCRIPT}</script>")
        self.page: Page = opened.open(path)

    def board(self, game: str, view: Any, names: Sequence[str], **ctx: Any) -> dict[str, Any]:
        """Return heading, words of pictures, titles, `data-id`s and all text of a board."""
        context = {"names": list(names), "seats": len(names), **ctx}
        drawn: dict[str, Any] = self.page.evaluate(
            "([game, view, ctx]) => shown(game, view, ctx)", [game, _plain(view), _plain(context)]
        )
        assert len(drawn["ids"]) == len(set(drawn["ids"])), "each node that moves has an id of its own"
        return drawn

    def scores(self, game: str, view: Any, names: Sequence[str]) -> list[int | None] | None:
        """Return each seat's score as the page shows it."""
        scores: list[int | None] | None = self.page.evaluate(
            "([game, view, ctx]) => scored(game, view, ctx)", [game, _plain(view), {"names": list(names)}]
        )
        return scores


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value, str_keys=True)
