"""First pages of competitions: the face from the file, podium, latest upset, and each game in one minute."""

import json
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from arena.config import Face, Team
from arena.config.face import FACE
from arena.pages import Competition, Website
from arena.pages.face import markdown
from arena.statistics import digest_of, latest_upset
from arena.viewer import Minute, Position, minute_of
from protocol.codec import encode
from protocol.games import entries
from referee.games import GAMES
from referee.rules import Deal, Table
from tests.arena.pages.folders import body_of, folder_of
from tests.arena.pages.test_pages import words
from tests.arena.simulated import result, tournament

LABELS = ["anna", "bob", "carl", "dora"]
OURS = [name for name, entry in entries().items() if entry.rules.startswith("referee.")]
FEWEST, MOST = 150, 260
"""Words of a game's text."""
MOST_OF_PAGE = 300_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A finished competition of four bots, in order of strength."""
    played = tournament(np.random.default_rng(1), np.linspace(2, -2, 4), 2, 10, alike=0.3, ties=0.0)
    return folder_of(tmp_path / "cup", LABELS, played, blocks=10)


def website(folder: Path, **face: object) -> Website:
    """The pages of a competition with a face."""
    (folder / FACE).write_bytes(msgspec.json.encode(face))
    return Website([Competition("cup", folder)], live=False)


def test_the_first_page_shows_the_face(folder: Path) -> None:
    site = website(
        folder,
        title="Autumn Cup",
        about="For *everybody*.",
        host="Chair of Games",
        rules="No cake.",
        link="https://example.org/",
        teams=[{"name": "The Foghorns", "bots": ["anna"], "colour": "#c0392b", "members": ["Ada"]}],
    )
    text = words(site, "cup/index.html")
    for each in ("Autumn Cup", "everybody", "Run by Chair of Games", "No cake.", "The Foghorns", "Ada"):
        assert each in text
    page = body_of(site, "cup/index.html").decode()
    assert '<a href="../game/mist.html">Mist in one minute</a>' in page
    assert 'fill="#c0392b"' in page
    assert "Autumn Cup" in words(site, "index.html")


def test_a_face_that_changes_is_shown_anew(folder: Path) -> None:
    site = website(folder, title="Autumn Cup")
    assert "Autumn Cup" in words(site, "cup/index.html")
    (folder / FACE).write_text('{"title": "Winter Cup, the new one"}')
    assert "Winter Cup, the new one" in words(site, "cup/index.html")
    (folder / FACE).unlink()
    assert words(site, "cup/index.html").startswith("cup")


def test_the_image_is_at_its_name_and_nowhere_else(folder: Path) -> None:
    (folder / "face.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    site = website(folder, image="face.png")
    page = site.page("cup/face.png")
    assert page is not None
    assert (page.kind, page.body) == ("image/png", b"\x89PNG\r\n\x1a\nrest")
    assert site.page("cup/face.jpg") is None
    assert "cup/face.png" in set(site.paths("cup"))
    assert website(folder, title="Cup").page("cup/face.png") is None


def test_an_image_that_links_to_a_file_elsewhere_is_not_shown(folder: Path) -> None:
    secret = folder.parent / "secret.png"
    secret.write_bytes(b"\x89PNG\r\n\x1a\nsecret")
    (folder / "face.png").symlink_to(secret)
    assert website(folder, image="face.png").page("cup/face.png") is None


def test_a_file_that_is_no_image_is_not_shown_as_one(folder: Path) -> None:
    (folder / "face.png").write_bytes(b"the seed is 42")
    assert website(folder, image="face.png").page("cup/face.png") is None


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "late.json"])
def test_a_face_from_elsewhere_links_to_websites_only(folder: Path, link: str) -> None:
    site = website(folder, link=link, host="Chair", teams=[{"name": "Foghorns", "bots": ["anna"], "link": link}])
    page = body_of(site, "cup/index.html")
    assert f'href="{link}"'.encode() not in page
    assert b"Chair" in page
    assert 3 == page.count(b"Foghorns"), "it is on the podium, in the standings and among the teams"


def test_the_team_of_a_bot_is_named_wherever_the_bot_is(folder: Path) -> None:
    site = website(folder, teams=[{"name": "Foghorns", "bots": ["anna", "none such"], "colour": "#c0392b"}])
    kiosk, standings = (body_of(site, f"cup/{path}.html").decode() for path in ("kiosk", "index"))
    assert 'data-teams="{&#34;anna&#34;:[&#34;Foghorns&#34;,&#34;#c0392b&#34;]}"' in kiosk
    assert re.search(r">anna</a></th>\n<td class=\"words\">.*Foghorns", standings)
    for path in ("cup/match/1a.html", "cup/bot/0.html"):
        assert re.search('fill="#c0392b"/></svg><span class="name">Foghorns', body_of(site, path).decode()), path


def test_a_page_has_a_bound_whatever_the_face_holds(folder: Path) -> None:
    teams = [{"name": f"team {at}", "bots": [f"{at} {bot:090}" for bot in range(30)]} for at in range(1_000)]
    table = "|".join("a" * 60) + "\n" + "|".join("-" * 60) + "\n" + "x\n" * 4_800
    site = website(folder, about=table, rules=table, teams=teams)
    page = body_of(site, "cup/index.html")
    assert len(page) < MOST_OF_PAGE
    assert b"team 1<" in page
    assert re.search(rb"and 9\d\d more", page)


def test_the_podium_has_the_first_three_with_their_teams(folder: Path) -> None:
    page = body_of(website(folder, teams=[{"name": "Foghorns", "bots": ["bob"]}]), "cup/index.html").decode()
    places = re.findall(r'<li class="place(\d)">.*?<a class="name strong"[^>]*>(\w+)</a>', page)
    assert places == [("1", "anna"), ("2", "bob"), ("3", "carl")]
    assert re.search(r'bob</a> <span class="soft"><span class="name">Foghorns', page)
    assert "The winners" in page


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# Big", "<h2>Big</h2>\n"),
        ("### Big\n#### Small", "<h2>Big</h2>\n<h3>Small</h3>\n"),
        ("###### Small", "<h2>Small</h2>\n"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("[x](https://a.b)", '<p><a href="https://a.b" rel="nofollow noopener noreferrer">x</a></p>\n'),
        ("a\u202eb", "<p>a\\u202eb</p>\n"),
        ("one\ntwo\n\n- three", "<p>one\ntwo</p>\n<ul>\n<li>three</li>\n</ul>\n"),
    ],
)
def test_a_strangers_markdown_holds_no_markup_of_its_own(text: str, html: str) -> None:
    assert markdown(text) == html


def test_a_strangers_markdown_fetches_no_image() -> None:
    assert "<img" not in markdown("![x](https://a.b/c.png)")


def test_the_latest_upset_is_a_win_over_a_bot_that_is_rated_much_higher() -> None:
    usual = [result(block, 0, (0, 1), [[0], [1]]) for block in range(20)]
    surprise = result(20, 0, (0, 1), [[1], [0]])
    played = [*usual, surprise, result(21, 0, (0, 1), [[0], [1]])]
    upset = latest_upset(digest_of(["a", "b"], played), played)
    assert upset is not None
    assert (upset.block, upset.winner, upset.loser) == (20, 1, 0)
    assert upset.gap > 100
    assert latest_upset(digest_of(["a", "b"], usual), usual) is None
    even = [*usual, result(20, 0, (0, 1), [[0, 1]])]
    assert latest_upset(digest_of(["a", "b"], even), even) is None


def test_a_house_bot_brings_no_upset() -> None:
    usual = [result(block, 0, (0, 1), [[0], [1]]) for block in range(20)]
    played = [*usual, result(20, 0, (0, 1), [[1], [0]])]
    assert latest_upset(digest_of(["a", "b (house)"], played, 1), played) is None


def minute(game: str) -> Minute:
    """The minute of a game of ours, which must be there."""
    found = minute_of(game)
    assert found is not None
    return found


@pytest.mark.parametrize("game", OURS)
def test_each_game_is_told_in_about_two_hundred_words_and_pictures(game: str) -> None:
    told = minute(game)
    assert FEWEST <= len(told.text.split()) <= MOST
    assert len(told.pictures) > 1
    shown = f"{told.tagline} {told.wins} {told.hidden} {told.text}"
    assert re.search(r"\b(seats?|windows?)\b", shown) is None


@pytest.mark.parametrize(("game", "position"), [(game, each) for game in OURS for each in minute(game).pictures])
def test_each_picture_is_a_view_of_the_game(game: str, position: Position) -> None:
    rules = GAMES[game]
    table = Table(rules, Deal(rules.variants[0].name, 1))
    view = rules.host_view(table.state)
    if position.eyes.isdigit():
        view = rules.view(table.state, int(position.eyes))
    for spelled in filter(None, (position.view, position.before)):
        read = msgspec.convert(json.loads(spelled), type(view), strict=False)
        assert json.loads(encode(read)) == json.loads(spelled)
    assert len(position.names) == table.seats


def test_a_page_of_a_game_is_there_for_each_game_and_for_no_other(folder: Path) -> None:
    site = Website([Competition("cup", folder)], live=True)
    for game in OURS:
        page = body_of(site, f"game/{game}.html").decode()
        assert minute(game).tagline in page
        assert f"game/{game}.html" in set(site.shared_paths())
        assert "data-live" not in page
    assert site.page("game/chess.html") is None
    assert site.page("game/../mist.html") is None


def test_a_team_is_that_of_its_bots() -> None:
    team = Team(name="Foghorns", bots=("anna", "bob"))
    face = Face(teams=(team,))
    assert face.team_of("bob") is team
    assert face.team_of("carl") is None


def test_games_that_are_asked_for_and_do_not_exist_take_no_memory(folder: Path) -> None:
    site = Website([Competition("cup", folder)], live=True)
    for number in range(200):
        assert site.page(f"game/none-{number}.html") is None
    assert minute_of.cache_info().currsize < 100
