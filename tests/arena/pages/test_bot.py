"""A bot's page: team, versions, form, best and worst match, and marks by which a script filters its matches."""

import re
from pathlib import Path
from typing import Any

import msgspec

from arena.pages import Competition, Website
from protocol.refusals import Conduct
from tests.arena.pages.folders import body_of, folder_of
from tests.arena.simulated import result


def won(block: int, winner: int, loser: int, **other: Any) -> list[Any]:
    """Two matches from one deal, both won by the same bot."""
    return [
        result(block, 0, (winner, loser), [[0], [1]], **other),
        result(block, 1, (loser, winner), [[1], [0]], **other),
    ]


def cup(folder: Path, **terms: Any) -> Website:
    """Anna beats ben, ben beats carl twice as often, carl beats anna once: anna is the strongest."""
    played = [*won(0, 0, 1), *won(1, 1, 2), *won(2, 0, 2), *won(3, 2, 0)]
    folder_of(folder / "cup", ["anna", "ben", "carl"], played, blocks=4, **terms)
    return Website([Competition("cup", folder / "cup")], live=False)


def page(website: Website, path: str) -> str:
    return body_of(website, path).decode()


def test_form_is_said_in_marks_and_in_words(tmp_path: Path) -> None:
    text = page(cup(tmp_path), "cup/bot/0.html")
    assert ["W", "W", "W", "W", "L", "L"] == re.findall(
        r'<span aria-hidden="true">(\w)</span><span class="hidden">', text
    )
    assert '<span class="hidden">4b: lost against carl</span>' in text
    assert 'href="../match/4b.html" title="4b: lost against carl"' in text


def test_best_and_worst_match_are_those_against_the_strongest_and_the_weakest(tmp_path: Path) -> None:
    text = page(cup(tmp_path), "cup/bot/1.html")
    best, worst = re.findall(r'<dt><a href="../match/(\w+)\.html">(?:best|worst) match</a>', text)
    assert ("2a", "1a") == (best, worst)
    assert "Of its last 4 matches" in text


def test_a_bot_whose_results_are_all_alike_has_no_best_match(tmp_path: Path) -> None:
    played = [*won(0, 0, 1), *won(1, 0, 1)]
    folder_of(tmp_path / "cup", ["anna", "ben"], played, blocks=2)
    website = Website([Competition("cup", tmp_path / "cup")], live=False)
    assert "best match" not in page(website, "cup/bot/0.html")


def test_a_team_of_the_face_is_named(tmp_path: Path) -> None:
    website = cup(tmp_path)
    face = {"teams": [{"name": "<Gold>", "bots": ["anna"], "members": ["Ida"]}]}
    (tmp_path / "cup" / "face.json").write_bytes(msgspec.json.encode(face))
    assert "&lt;Gold&gt;" in page(website, "cup/bot/0.html")
    assert "Ida" in page(website, "cup/bot/0.html")
    assert "Gold" not in page(website, "cup/bot/1.html")


def test_rows_have_marks_for_the_filter(tmp_path: Path) -> None:
    played = [*won(0, 0, 1), *won(1, 1, 0, conduct=(Conduct.NEVER_STARTED, Conduct.OK))]
    folder_of(tmp_path / "cup", ["anna", "<b>"], played, blocks=2)
    text = page(Website([Competition("cup", tmp_path / "cup")], live=False), "cup/matches.html")
    assert '<tr data-seats="0 1" data-ends="played">' in text
    assert '<tr data-seats="1 0" data-ends="played never-started">' in text
    assert '<option value="1">&lt;b&gt;</option>' in text
    assert '<option value="never-started">never started</option>' in text
