"""Pages of a season: on the server, in a site, as one file; every link leads somewhere, and words stay words."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import trio
from click.testing import CliRunner
from httpx import ASGITransport

from arena.commands.main import main
from arena.errors import WRONG_USE
from arena.pages import Website
from arena.tournament import held
from arena.tournament.ledger import Ledger
from arena.tournament.results_folder import LEDGER
from arena.web.cache import ServedCompetition
from arena.web.catalog import competitions_in, seasons_in
from arena.web.events import Streams
from arena.web.server import Application, Site
from referee.log import SILENT
from tests.arena.pages.folders import body_of
from tests.arena.pages.test_pages import MOST_BYTES, Reader, all_pages, words
from tests.arena.season.seasons import league, playing, table_of
from tests.arena.web.test_competition_watcher import followed

BOTS = "abcdefgh"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A season that was played to the end of its second stage of three."""
    file = league(tmp_path_factory.mktemp("season"))
    playing(file, last="final")
    return file


def website(place: Path) -> Website:
    competitions = competitions_in([place])
    return Website(competitions, live=True, seasons=seasons_in(competitions))


def test_the_seasons_page_has_all_stages_and_says_who_goes_on(file: Path) -> None:
    found = playing(file, last="final")
    for place in (file, file.parent / "runs/league", file.parent / "runs"):
        text = words(website(place), "league/index.html")
        assert "2 of 3 stages finished" in text
        for part in ("groups-a", "groups-b"):
            first, second, third, *_ = table_of(found, part)
            assert f"{part} finished: 12 matches" in text
            assert all(f"{place} {bot} final 0" in text or f"{place} {bot} final 1" in text
                       for place, bot in ((1, first), (2, second)))  # fmt: skip
            assert f"3 {third} - 0." in text
        assert "Semi-finals" in text
        assert "Still to come: plate" in text
        assert "the top two of each group" in text


def test_a_seasons_projector_shows_the_stage_that_is_played(file: Path) -> None:
    site = website(file.parent / "runs")
    page = site.page("league/kiosk.html")
    assert page is not None
    assert b'data-events="../league-final/live/events"' in page.body
    text = words(site, "league/kiosk.html")
    first = table_of(playing(file, last="final"), "final")[0]
    assert "league : final" in text
    assert f"won by {first}" in text
    assert "Semi-finals" in text
    assert "kiosk.html" in Reader(site.page("league/index.html").body).links  # type: ignore[union-attr]
    with held(file.parent / "runs/league/groups-b"):
        assert "league : groups-b" in words(website(file.parent / "runs"), "league/kiosk.html")


def test_the_projector_of_a_finished_season_shows_its_final_and_not_the_plate(tmp_path: Path) -> None:
    file = league(tmp_path)
    found = playing(file)
    text = words(website(file.parent / "runs"), "league/kiosk.html")
    assert "league : final" in text
    assert f"1 {table_of(found, 'final')[0]}" in text


def test_a_seasons_stages_are_in_its_card_and_not_beside_it(file: Path) -> None:
    text = words(website(file.parent / "runs"), "index.html")
    first = table_of(playing(file, last="final"), "final")[0]
    assert "Mist, contractual-obligation, 8 bots; a season: groups , then final , then plate 2 of 3 stages" in text
    assert f"finished final won by {first} last result" in text
    assert "groups-a" not in text


@pytest.mark.slow
def test_every_link_of_a_season_leads_to_a_page_that_is_there_and_no_page_says_the_seed(file: Path) -> None:
    site = website(file.parent / "runs")
    pages = {path: body for slug in SLUGS for path, body in all_pages(site, slug)}
    book = json.loads((file.parent / "runs/league/season.json").read_text())
    with closing(Ledger(file.parent / "runs/league/final" / LEDGER)) as ledger:
        seed = ledger.terms()["seed"]
    assert 4 == book["seed"]
    for path, body in pages.items():
        assert len(body) < MOST_BYTES
        assert str(seed).encode() not in body
        for link in Reader(body).links:
            if link.startswith(("data:", "#")) or not path.endswith(".html"):
                continue
            parts = path.split("/")[:-1]
            for step in link.partition("#")[0].split("/"):
                parts = parts[:-1] if step == ".." else [*parts, step]
            assert site.page("/".join(parts)) is not None or "live.html" in link, (path, link)


SLUGS = ("league-groups-a", "league-groups-b", "league-final")


def test_a_stages_own_pages_lead_back_to_the_season(file: Path) -> None:
    page = body_of(website(file), "league-final/index.html")
    assert "../league/index.html" in Reader(page).links
    text = words(website(file), "league-final/index.html")
    assert "league: final" in text
    assert "stage the top two of each group" in text
    assert "stage.field" not in text


def test_the_server_answers_with_the_season_and_follows_its_stages(file: Path) -> None:
    competitions = {slug: ServedCompetition(slug, file.parent / "runs/league" / slug[7:]) for slug in SLUGS}
    application = Application(Site(competitions), Streams(), lambda _: None, SILENT)

    async def ask() -> list[int]:
        client = httpx.AsyncClient(transport=ASGITransport(application), base_url="http://arena.example")
        return [(await client.get(path)).status_code for path in ("/league", "/league/", "/league/bots.html")]

    assert [308, 200, 404] == trio.run(ask)

    async def follow() -> bool:
        async with followed(file.parent / "runs/league") as there:
            before = there.version("league/events")
            with closing(sqlite3.connect(file.parent / "runs/league/final" / LEDGER)) as book:
                book.execute("CREATE TABLE other (x)")
                book.execute("DROP TABLE other")
                book.commit()
            there.watcher._competitions[file.parent / "runs/league/final"]._until = 0.0
            await there.watcher.look()
            return bool(before != there.version("league/events"))

    assert trio.run(follow)


def test_a_site_has_the_season_and_is_not_written_again(file: Path, tmp_path: Path) -> None:
    def site() -> dict[str, object]:
        done = CliRunner().invoke(main, ["site", str(tmp_path / "public"), str(file), "--no-replays", "--json"])
        found: dict[str, object] = json.loads(done.stdout)
        return found

    site()
    assert "league: final" in (tmp_path / "public/league-final/index.html").read_text()
    assert "Still to come" in (tmp_path / "public/league/index.html").read_text()
    assert 0 == site()["written"]


def test_the_report_of_a_season_is_a_table_json_and_one_file(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "league.html"
    shown = CliRunner().invoke(main, ["report", str(file), "--html", str(page)])
    assert "stage 2 of 3: final: the top two of each group" in shown.stdout
    assert "not begun yet" in shown.stdout
    assert "groups-b" in page.read_text()
    assert not {"script", "link"} & Reader(page.read_bytes()).tags
    found = json.loads(CliRunner().invoke(main, ["report", str(file.parent / "runs/league"), "--json"]).stdout)
    assert ["groups", "final", "plate"] == [stage["stage"] for stage in found["stages"]]
    assert [["plate"], False] == [found["stages"][2]["to_come"], found["finished"]]
    assert "bracket" in found["stages"][1]["parts"][0]
    refused = CliRunner().invoke(main, ["report", str(file), "--csv", str(page)])
    assert WRONG_USE == refused.exit_code
    assert "--csv: is for one tournament: give the results folder of a stage in" in refused.stderr


def test_words_of_others_stay_words(tmp_path: Path) -> None:
    """A ledger and a book may come from anybody."""
    file = league(tmp_path)
    playing(file)
    folder = tmp_path / "runs/league"
    book = folder / "season.json"
    evil = "<script>alert(1)</script>\\u001b[2J"
    book.write_text(book.read_text().replace("the others of groups", evil))
    for part in ("groups-a", "final"):
        with closing(sqlite3.connect(folder / part / LEDGER)) as ledger:
            cut = '["<b>x</b>"]' if part == "groups-a" else '[["<i>", 1, 2]]'
            ledger.execute("UPDATE terms SET value = ? WHERE key = 'stage.field'", (cut,))
            ledger.execute("INSERT OR REPLACE INTO terms VALUES ('stage.cut', '[\"<b>cut</b>\"]')")
            ledger.commit()
    page = body_of(website(folder), "league/index.html")
    assert not {"b", "i"} & Reader(page).tags
    assert b"alert(1)</script>" not in page
    assert "<b>cut</b>" in words(website(folder), "league/index.html")
    shown = CliRunner().invoke(main, ["report", str(folder)])
    assert 0 == shown.exit_code
    assert "\x1b" not in shown.stdout


def test_a_stage_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    file = league(tmp_path)
    playing(file, last="final")
    (tmp_path / "runs/league/groups-b" / LEDGER).write_text("no ledger")
    text = words(website(tmp_path / "runs"), "league/index.html")
    assert "cannot be shown: file is not a database" in text
    assert str(tmp_path) not in text
    assert "Semi-finals" in text
    (tmp_path / "runs/league/season.json").write_text("{}")
    assert "cannot be shown: season.json: not as an arena writes it" in words(
        website(tmp_path / "runs"), "index.html"
    )
