"""Builds the site: lays the pages out beside those made from the code, and has Sphinx make of them what is served.

    python docs/site/build.py OUT

Pages keep their places, so that their links lead where they lead on GitHub. The tasks in the site's list are the
headings of docs/README.md, with the pages that it links to below each.
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import reference
from sphinx.cmd.build import build_main

from referee.games import GAMES

PROJECT = Path(__file__).resolve().parents[2]
PLACES = ("README.md", "CHANGELOG.md", "LICENSE", "docs", ".github")
NOT_SHOWN = ("ISSUE_TEMPLATE", "PULL_REQUEST_TEMPLATE.md", "workflows", "site", "node_modules", "__pycache__")
START = "index.md"
"""Where the README is on the site."""
INDEX = "docs/README.md"
"""The list of pages, by task."""
REFERENCE = "reference"


def main() -> None:
    """Builds into the folder that is named; any warning is an error, and ends with code 1."""
    (out,) = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        lay_out(source)
        where = ["-c", str(Path(__file__).parent), "-d", str(source / ".doctrees"), str(source), out]
        sys.exit(build_main(["-b", "html", "--quiet", "--fail-on-warning", "--nitpicky", *where]))


def lay_out(source: Path) -> None:
    """Writes all pages into an empty folder."""
    for place in PLACES:
        there = PROJECT / place
        if there.is_dir():
            shutil.copytree(there, source / shown(place), ignore=shutil.ignore_patterns(*NOT_SHOWN))
        else:
            shutil.copy(there, source / place)
    (source / "README.md").rename(source / START)
    for page in source.rglob("*.md"):
        page.write_text(with_links(page.read_text(encoding="utf-8"), page.parent, source), encoding="utf-8")
    for page in (source / INDEX, *(source / "docs/examples").rglob("*.md")):
        # The list of pages, and examples, which are found from the pages that are about them.
        page.write_text(f"---\norphan: true\n---\n{page.read_text(encoding='utf-8')}", encoding="utf-8")
    made = {
        "commands.md": reference.commands(),
        "messages.md": reference.protocol_words(),
        **{f"words_{reference.page(name)}": reference.game_words(name) for name in GAMES},
    }
    (source / REFERENCE).mkdir()
    for name, text in made.items():
        (source / REFERENCE / name).write_text(text, encoding="utf-8")
    readme = (source / START).read_text(encoding="utf-8")
    index = (source / INDEX).read_text(encoding="utf-8")
    tasks = {**tasks_of(index), "Reference": [f"{REFERENCE}/{name}" for name in made]}
    (source / START).write_text(readme + "".join(map(_list, tasks, tasks.values())), encoding="utf-8")


def shown(path: str) -> str:
    """A path on the site: web servers show no folder whose name begins with a dot."""
    return path.replace(".github", "github")


def with_links(text: str, folder: Path, source: Path) -> str:
    """A page's text with links that lead, on the site too, to the start, to contributors' pages and to folders."""

    def changed(link: re.Match[str]) -> str:
        target = shown(link[1])
        if (folder / target / "README.md").exists():
            target = f"{target}/README.md"
        elif (folder / target).resolve() == source.resolve() / "README.md":
            target = target.replace("README.md", START)
        return f"]({target}{link[2]})"

    return re.sub(r"\]\(([^)#:\s]+)(#[^)\s]*|)\)", changed, text)


def tasks_of(index: str) -> dict[str, list[str]]:
    """Return each task in the list of pages, and the paths of its pages from the top."""
    parts = re.split(r"^## (.*)$", index, flags=re.MULTILINE)[1:]
    folder = Path(INDEX).parent
    return {
        task: [os.path.normpath(folder / path) for path in re.findall(r"\]\(([^)#:]+\.md)\)", pages)]
        for task, pages in zip(parts[::2], parts[1::2], strict=True)
    }


def _list(task: str, pages: list[str]) -> str:
    """A part of the site's list of pages, as Sphinx reads it; the page itself does not show it."""
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {task}", *pages, "```", ""])


main()
