"""The site of the pages: built without a warning, with nothing from the network, and with a whole reference."""

import html
import os
import re
import subprocess
from pathlib import Path
from typing import Any, get_args

import click
import pytest

from arena.commands.main import main as arena
from protocol.feed import FeedMessage
from protocol.messages import ClientMessage, ServerMessage
from protocol.refusals import Conduct, Fault, Refusal
from referee.games import GAMES
from tests.docs_pages import HOUSE, links, page

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]

ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built anew: a link that leads nowhere, or a page that is in no list, ends it."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(  # noqa: S603 - our own script
        [HOUSE / "scripts/docs", "--build", folder], capture_output=True, text=True, check=False, timeout=250
    )
    assert 0 == built.returncode, built.stderr
    return folder


def text(page: Path) -> str:
    """Return what a page shows."""
    return html.unescape(re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8")))


def rows(page: Path, heading: str) -> list[str]:
    """Return the rows of the tables below a heading, and before the next."""
    after = page.read_text(encoding="utf-8").partition(f'<section id="{heading}">')[2]
    return [html.unescape(re.sub(r"<[^>]*>", "", row)) for row in ROW.findall(after.partition("<section")[0])][1:]


def test_the_list_of_pages_is_that_of_docs_by_task(site: Path) -> None:
    index = page("docs/README.md")
    tasks = re.findall(r"^## (.*)$", index, re.MULTILINE)
    start = (site / "index.html").read_text(encoding="utf-8")
    captions = re.findall(r'<p class="caption"[^>]*><span class="caption-text">(.*?)</span>', start)
    assert [*tasks, "Reference"] == captions
    listed = set(re.findall(r'class="reference internal" href="([^"#]+)"', start))
    paths = {os.path.normpath(Path("docs", target)) for target in links(index)}
    pages = {path.replace(".github", "github").replace(".md", ".html") for path in paths}
    assert pages
    assert pages <= listed


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(?:https?:)?//"""
                       r"""|<link[^>]*rel=["']?(?:stylesheet|preload|icon|preconnect)[^>]*(?:https?:)?//"""
                       r"""|url\(["']?(?:https?:)?//|@import""")  # fmt: skip
    files = [file for kind in ("*.html", "*.css") for file in site.rglob(kind)]
    assert len(files) > 20
    assert [] == [file.name for file in files if loads.search(file.read_text(encoding="utf-8"))]


def test_the_search_knows_every_page(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for name in (*(file.stem for file in (HOUSE / "docs").rglob("*.md")), "commands", "messages"):
        assert re.search(rf'[/"]{re.escape(name)}"', index), name
    assert "pentanomi" in index, "words are indexed by their stems"


def test_every_command_is_there_with_its_options(site: Path) -> None:
    context = click.Context(arena)
    for name in arena.list_commands(context):
        command = arena.get_command(context, name)
        assert command is not None
        described = " ".join(rows(site / "reference/commands.html", name))
        options = [one for each in command.params if isinstance(each, click.Option) for one in each.opts]
        assert [] == [option for option in options if option not in described], name


@pytest.mark.parametrize("form", get_args(ClientMessage | ServerMessage | FeedMessage))
def test_every_message_is_there_with_its_fields_in_order(site: Path, form: Any) -> None:
    heading = f"{form.__struct_config__.tag}-{form.__name__}".lower()
    fields = [row.split()[0] for row in rows(site / "reference/messages.html", heading)]
    assert list(form.__struct_encode_fields__) == fields


@pytest.mark.parametrize("closed", [Refusal, Fault, Conduct])
def test_every_reason_is_there(site: Path, closed: Any) -> None:
    words = [row.split()[0] for row in rows(site / "reference/messages.html", closed.__name__.lower())]
    assert [word.value for word in closed] == words


@pytest.mark.parametrize("name", GAMES)
def test_every_word_of_a_game_is_there(site: Path, name: str) -> None:
    shown = text(site / f"reference/words_{name.replace('-', '_')}.html")
    game = GAMES[name]
    for form in (*game.actions.values(), *game.events, game.view_type, game.options):
        assert form.__name__ in shown
        assert [] == [field for field in form.__struct_encode_fields__ if field not in shown]


def test_typed_text_is_shown_unchanged(site: Path) -> None:
    shown = text(site / "reference/commands.html")
    assert "--fault restart" in shown
    assert not re.search(r"[\u2013\u2014]\w", shown)
