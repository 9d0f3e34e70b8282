"""What lies around the code stays true: changelog, citation, hooks, workflows and pages for contributors."""

import re
import tomllib
from pathlib import Path
from typing import ClassVar

import pytest
import yaml  # type: ignore[import-untyped]  # it has no types

from tests.docs_pages import HOUSE, anchors, links, name, page, tables

CHECK = page("scripts/check")
HOOKS = yaml.safe_load(page(".pre-commit-config.yaml"))
WORKFLOWS = sorted((HOUSE / ".github/workflows").glob("*.yml"))
PAGES = [HOUSE / "CHANGELOG.md", *sorted((HOUSE / ".github").glob("*.md"))]
VERSION = tomllib.loads(page("pyproject.toml"))["project"]["version"]


@pytest.mark.parametrize("each", PAGES, ids=name)
def test_every_link_within_the_house_leads_somewhere(each: Path) -> None:
    for target in links(each.read_text()):
        if not target.startswith("https://"):
            path, _, anchor = target.partition("#")
            there = each.parent / path if path else each
            assert there.exists(), f"{target} is not there"
            assert not anchor or anchor in anchors(there.read_text()), f"{target}: there is no such heading"


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load(page("CITATION.cff"))
    assert VERSION == citation["version"]
    assert tomllib.loads(page("pyproject.toml"))["project"]["license"] == citation["license"]


def test_the_changelog_has_this_version_or_says_that_it_is_to_come() -> None:
    changelog = page("CHANGELOG.md")
    assert f"## [{VERSION}]" in changelog or f"will be {VERSION}." in changelog


def test_every_package_of_the_lock_has_one_version_and_hashes() -> None:
    packages = re.findall(r"(?m)^(\S.*(?:\n .*)*)", re.sub(r"(?m)^#.*\n", "", page("requirements.lock")))
    assert len(packages) > 100
    for package in packages:
        assert re.match(r"[a-z0-9._-]+(?:\[[a-z0-9,-]+\])?==[0-9][^ ]* ", package), package[:80]
        assert "--hash=sha256:" in package, package[:80]


def test_hooks_are_local_and_do_what_the_check_does() -> None:
    assert ["local"] == [source["repo"] for source in HOOKS["repos"]]
    commands = re.findall(r"(?m)^((?:scripts|\.venv/bin)/.*?)(?: \|\| .*| > .*)?$", CHECK)
    assert sorted(commands) == sorted(hook["entry"] for source in HOOKS["repos"] for hook in source["hooks"])


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=name)
def test_a_workflow_calls_scripts_that_are_there_on_the_oldest_python_and_the_newest(workflow: Path) -> None:
    oldest = tomllib.loads(page("pyproject.toml"))["project"]["requires-python"].removeprefix(">=")
    for job in yaml.safe_load(workflow.read_text())["jobs"].values():
        assert [oldest, "3.x"] == job["strategy"]["matrix"]["python"]
        *_, last = job["steps"]
        assert (HOUSE / last["run"].removesuffix(" --all").split()[-1]).exists()


def test_workflows_run_the_check_the_tests_and_all_of_it() -> None:
    called = set(re.findall(r"run: .*?(\S+(?: --all)?)$", "\n".join(map(Path.read_text, WORKFLOWS)), re.MULTILINE))
    assert {"scripts/check", "scripts/test", ".ci/run --all"} == called


class TestGlossary:
    ROWS: ClassVar = [row for table in tables(page("docs/glossary.md")) for row in table]

    def test_words_are_sorted_and_stand_once(self) -> None:
        words = [row[0].strip("*").casefold() for row in self.ROWS]
        assert sorted(set(words)) == words

    def test_each_word_has_one_sentence(self) -> None:
        for word, sentence, *_ in self.ROWS:
            assert re.fullmatch(r"[A-Z`*\[][^.]*(\.[^ ][^.]*)*\.", sentence), f"{word}: {sentence}"


class TestArchitecture:
    PAGE = page("docs/architecture.md")

    def test_every_place_that_it_names_is_there(self) -> None:
        places = re.findall(r"\b(?:protocol|referee|arena|tests)/[\w/]+(?:\.py|/)", self.PAGE)
        assert len(places) > 25
        assert [] == [place for place in places if "NAME" not in place and not (HOUSE / place).exists()]

    @pytest.mark.parametrize("package", ["referee", "arena"])
    def test_its_drawing_has_every_room(self, package: str) -> None:
        drawing = self.PAGE.split("```")[1]
        rooms = [door.parent.name for door in (HOUSE / package).glob("*/__init__.py")]
        assert [] == [room for room in rooms if not re.search(rf"\b{room}\b", drawing)]
