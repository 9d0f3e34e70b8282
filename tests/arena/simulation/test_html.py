"""`html`: the page of a match in this process is the one that its transcript makes; frames in notebooks."""

import html as escaping
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from arena import Match, play, play_many
from arena.replay import recording_of
from arena.simulation import html as pages
from arena.viewer import page_of
from bots.kit import Window
from protocol.games.mist import MistView
from referee.games import GAMES
from tests.arena.simulation.bots import quick
from tests.bots.in_process import BOTS
from tests.games import with_variants

VARIANTS = with_variants(GAMES)
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e'\"&\ud800" + "x" * 10_000


def field(game: str, variant: str) -> list[Any]:
    rules = GAMES[game]
    return [BOTS[game]["random"]() for _ in range(rules.seats(rules.read_options(variant, None)))]


class Elements(HTMLParser):
    """The elements of a page, and where they lead or load from."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links |= {str(value) for name, value in attrs if name in ("src", "href")}


def raising(number: int) -> Any:
    """Return a bot that raises in the window of this number."""

    def raises(window: Window[MistView]) -> Any:
        if window.id == number:
            raise KeyError("a lost key")
        return quick(window)

    return raises


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_the_page_is_the_one_that_a_transcript_of_the_match_makes(game: str, variant: str, tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    written = play(game, field(game, variant), variant=variant, seed=5, transcript=file)
    quickly = play(game, field(game, variant), variant=variant, seed=5)
    # Pages are compared as a whole: to show where two differ takes minutes.
    assert 1 == len({page_of(recording_of(file)), written.html(), quickly.html()})


@pytest.mark.parametrize("number", [0, 3])
def test_a_bot_that_forfeited_forfeits_in_the_page(number: int, tmp_path: Path) -> None:
    bots = [quick, raising(number)]
    file = tmp_path / "match.jsonl"
    play("mist", bots, seed=5, on_error="forfeit", transcript=file)
    quickly = play("mist", bots, seed=5, on_error="forfeit")
    assert 1 == len({page_of(recording_of(file)), quickly.html()})


def test_a_match_is_shown_as_far_as_it_was_played() -> None:
    match = Match("mist", seed=1, options={"first": 0})
    before = match.html()
    match.submit(0, {"cells": ["C3"]})
    match.submit(1, None)
    other = match.copy()
    assert len(before) < len(match.html()) == len(other.html())
    assert "seat 0" in before
    assert "anna" in match.html(["anna", "bob"])
    assert 2 == match.view(1).turn - 1, "the match itself stands where it stood"


def test_the_page_loads_nothing_and_holds_names_as_text() -> None:
    def bot(window: Window[MistView]) -> Any:
        return quick(window)

    bot.__name__ = HOSTILE
    result = play("mist", [bot, bot], seed=1)
    page = result.html()
    elements = Elements()
    elements.feed(page)
    assert {"script", "style"} <= elements.tags
    assert "img" not in elements.tags
    assert {"#"} >= {link[:1] for link in elements.links}
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert "x" * 101 not in page

    shown = result._repr_html_()
    (inner,) = re.findall(r'<iframe sandbox="allow-scripts" srcdoc="([^"]*)" ', shown)
    assert {page} == {escaping.unescape(inner)}
    around = Elements()
    around.feed(shown)
    assert {"pre", "iframe"} <= around.tags <= {"pre", "span", "iframe"}


def test_a_page_too_large_for_a_notebook_is_not_put_into_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result = play("mist", [quick, quick], seed=1)
    monkeypatch.setattr(pages, "LARGEST_FRAME", len(result.html()) - 1)
    assert "<iframe" not in result._repr_html_()
    assert "html() has the replay" in result._repr_html_()


def test_a_match_that_was_not_kept_has_no_page() -> None:
    (result,) = play_many("mist", [quick, quick], matches=1, workers=1, seed=1)
    with pytest.raises(ValueError, match="play_many keeps no matches"):
        result.html()
    assert "<iframe" not in result._repr_html_()
