"""One competition that a check refused keeps no other from being shown, and is shown as not begun."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.checks import REFUSED, FieldCheck, exclude_broken_bots
from arena.checks.field import MOST_BYTES, read_refusal, write_refusal
from arena.config.season_file import read_season
from arena.config.tournament_file import read_tournament
from arena.errors import DONE, WRONG_USE, WrongUse
from arena.pages import Website
from arena.pages.report import write_beside
from arena.regression import HeadBrokenError, RegressionOptions, RegressionRun, regression_of
from arena.season.run import all_bots
from arena.tournament import LEDGER, Ledger, TournamentRun, checks_folder
from arena.tournament.results_folder import held
from arena.web.catalog import competitions_in, folders_in, seasons_in
from referee.match import Policy
from tests.arena.checks.bots import WHY, Field
from tests.arena.commands.test_report import cup
from tests.arena.pages.folders import body_of
from tests.builders.command_line import arena

GINA = "mist_cautious"
STATE = f"not begun: {GINA} cannot start"
TEXT = f'game = "mist"\nbots = ["mist_random", "mist_hunter", "{GINA}"]\nseed = 4\n'
SEASON = f"""\
game = "mist"
bots = ["mist_random", "mist_hunter", "{GINA}"]
[[stages]]
name = "all"
[[stages]]
name = "final"
top = 2
"""


def play(file: Path, *broken: str) -> None:
    field = Field(broken=broken)
    tournament = read_tournament(file)
    TournamentRun(
        tournament,
        tournament.labels,
        field.open_workers,
        write_reports=write_beside,
        check=FieldCheck("opponent", field.open_workers, {}),
    ).play(fresh=False)


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    """A tournament's file whose check refused a bot; another tournament beside it was played."""
    cup(tmp_path)
    file = tmp_path / "refused.toml"
    file.write_text(TEXT)
    with pytest.raises(WrongUse, match=f"{GINA}: never started"):
        play(file, GINA)
    return file


def refuse_season(tmp_path: Path) -> Path:
    file = tmp_path / "league.toml"
    file.write_text(SEASON)
    season = read_season(file)
    tournament, field = all_bots(season), Field(broken=[GINA])
    with pytest.raises(WrongUse, match=f"{GINA}: never started"):
        exclude_broken_bots(
            tournament,
            tournament.labels,
            FieldCheck("opponent", field.open_workers, {}),
            folder=checks_folder(season.results),
            begun=None,
        )
    return file


def test_a_site_shows_it_beside_the_others(refused: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = arena("site", out, tmp_path / "runs", "--no-transcripts", "--no-replays")
    assert (DONE, "") == (done.exit_code, done.stderr)
    text = (out / "index.html").read_text()
    assert STATE in text
    assert "cannot be shown" not in text
    assert "won by" in text
    assert {"index.html"} == {path.name for path in (out / "refused").iterdir()}
    assert STATE in (out / "refused/index.html").read_text()
    assert (out / "cup/bots.html").exists()
    again = arena("site", out, tmp_path / "runs", "--no-transcripts", "--no-replays")
    assert (DONE, True) == (again.exit_code, ": 0 files written" in again.stdout)


def test_a_report_says_which_bots_cannot_start_and_why(refused: Path, tmp_path: Path) -> None:
    results = tmp_path / "runs/refused"
    logs = next(path for path in (results / "checks").iterdir() if path.is_dir())
    for place in (refused, results):
        said = arena("report", place)
        assert (DONE, "") == (said.exit_code, said.stderr)
        lines = [f"{results}: {STATE}", f"{GINA}: never started: {WHY}", f"logs: {logs}"]
        assert lines == said.stdout.splitlines()
    told = json.loads(arena("report", refused, "--json", "--html", tmp_path / "page.html").stdout)
    assert [{"bot": GINA, "why": f"never started: {WHY}"}] == told["cannot_start"]
    assert (STATE, str(logs)) == (told["not_begun"], told["logs"])
    page = (tmp_path / "page.html").read_text()
    assert STATE in page
    assert str(tmp_path) not in page
    asked = arena("report", refused, "--csv", tmp_path / "table.csv")
    assert (WRONG_USE, f"arena: --csv: {results}: {STATE} (see {logs})\n") == (asked.exit_code, asked.stderr)


def test_its_list_of_matches_is_empty(refused: Path, tmp_path: Path) -> None:
    said = arena("results", refused)
    assert (DONE, f"{tmp_path}/runs/refused: {STATE}") == (said.exit_code, said.stdout.splitlines()[0])
    as_json, as_csv = arena("results", refused, "--json"), arena("results", refused, "--csv")
    assert (DONE, []) == (as_json.exit_code, json.loads(as_json.stdout))
    assert (DONE, 1) == (as_csv.exit_code, len(as_csv.stdout.splitlines()))
    assert as_csv.stdout.startswith("match,block,")
    assert STATE in as_json.stderr


def test_who_would_change_its_field_is_told_that_it_has_not_begun(refused: Path) -> None:
    for words in (("list", refused), ("withdraw", refused, GINA)):
        said = arena("entry", *words)
        assert WRONG_USE == said.exit_code
        assert f"refused: {STATE} (see " in said.stderr


def test_the_server_has_the_same_page_in_place_of_each_of_its_pages(refused: Path, tmp_path: Path) -> None:
    website = Website(competitions_in([tmp_path / "runs"]), live=True)
    for path in ("", "index.html", "bots.html", "matches.html", "schedule.html", "live.html", "kiosk.html"):
        page = body_of(website, f"refused/{path}")
        assert STATE in page.decode()
    assert website.page("refused/bots.json") is None
    card = body_of(website, "index.html")
    assert STATE in card.decode()


def test_once_it_has_begun_nothing_is_left_of_that(refused: Path, tmp_path: Path) -> None:
    play(refused)
    assert [] == list((tmp_path / "runs/refused/checks").glob(REFUSED))
    said = arena("report", refused)
    assert (DONE, False) == (said.exit_code, "not begun" in said.stdout)


def test_while_its_bots_are_checked_that_is_said(refused: Path, tmp_path: Path) -> None:
    with held(tmp_path / "runs/refused"):
        said = arena("report", refused)
    assert f"{tmp_path}/runs/refused: not begun: its bots are being checked\n" == said.stdout


def test_of_a_ledger_that_nobody_went_on_with_it_is_said_that_it_has_not_begun(tmp_path: Path) -> None:
    with held(tmp_path / "runs/new"):
        Ledger(tmp_path / "runs/new" / LEDGER).close()
    assert f"{tmp_path}/runs/new: not begun\n" == arena("report", tmp_path / "runs/new").stdout


def test_a_regression_test_whose_head_cannot_start_is_one(tmp_path: Path) -> None:
    asked = RegressionOptions(game="mist", base="mist_random", head=GINA, policy=Policy())
    regression = regression_of(asked)
    results = tmp_path / "runs/regress"
    regression = replace(regression, arena=replace(regression.arena, results=results))
    field = Field(broken=["head"])
    check = FieldCheck("opponent", field.open_workers, {})
    with pytest.raises(HeadBrokenError, match="never started"):
        of_test = regression.arena
        run = RegressionRun(of_test, of_test.labels, field.open_workers, check=check, regression=regression)
        run.play(fresh=False)
    said = arena("report", results)
    assert (DONE, f"{results}: not begun: head ({GINA}) cannot start") == (
        said.exit_code,
        said.stdout.splitlines()[0],
    )
    out = tmp_path / "out"
    assert DONE == arena("site", out, tmp_path / "runs").exit_code
    assert f"not begun: head ({GINA}) cannot start" in (out / "index.html").read_text()


def test_a_season_whose_first_check_refused_is_one(tmp_path: Path) -> None:
    cup(tmp_path)
    file = refuse_season(tmp_path)
    for place in (file, tmp_path / "runs/league"):
        said = arena("report", place)
        assert (DONE, f"{tmp_path}/runs/league: {STATE}") == (said.exit_code, said.stdout.splitlines()[0])
    for number, places in enumerate(([tmp_path / "runs"], [tmp_path / "cup.toml", file])):
        out = tmp_path / f"out-{number}"
        done = arena("site", out, *places)
        assert (DONE, "") == (done.exit_code, done.stderr)
        assert STATE in (out / "index.html").read_text()
        assert "won by" in (out / "index.html").read_text()


def test_a_stage_whose_check_refused_is_shown_in_its_season(tmp_path: Path) -> None:
    file = refuse_season(tmp_path)
    season = read_season(file)
    book = {"schema": 1, "seed": 7, "stages": [{"name": "all", "rule": "all bots", "parts": ["all"]}]}
    (season.results / "season.json").write_text(json.dumps(book))
    with held(season.folder("all")):
        Ledger(season.folder("all") / LEDGER).close()
    write_refusal(checks_folder(season.folder("all")), {GINA: WHY})
    said = arena("report", file)
    assert (DONE, True) == (said.exit_code, f"\nall: {STATE}\n" in said.stdout)
    (stage,) = json.loads(arena("report", file, "--json").stdout)["stages"]
    assert ({"all": STATE}, ["all"]) == (stage["not_begun"], stage["to_come"])
    competitions = competitions_in([tmp_path / "runs"])
    (pages,) = seasons_in(competitions)
    page = Website(competitions, live=False, seasons=[pages]).page(f"{pages.slug}/index.html")
    assert page is not None
    assert STATE in page.body.decode()
    assert "cannot be shown" not in page.body.decode()
    kiosk = body_of(Website(competitions, live=True, seasons=[pages]), f"{pages.slug}/kiosk.html")
    assert STATE in kiosk.decode()


def test_a_file_whose_competition_nobody_has_started_keeps_no_other_from_being_shown(tmp_path: Path) -> None:
    file = tmp_path / "later.toml"
    file.write_text(TEXT)
    out = tmp_path / "out"
    done = arena("site", out, cup(tmp_path), file)
    assert (DONE, "") == (done.exit_code, done.stderr)
    assert re.search(r"later</a>.*?not begun<", (out / "index.html").read_text(), re.DOTALL)
    assert not (tmp_path / "runs/later").exists()
    assert [tmp_path / "runs/later"] == folders_in([file])


def test_of_many_the_first_are_named(tmp_path: Path) -> None:
    for count, text in (
        (1, "bot-0 cannot start"),
        (2, "bot-0 and bot-1 cannot start"),
        (3, "bot-0, bot-1 and bot-2 cannot start"),
        (400, "bot-0, bot-1, bot-2 and 397 others cannot start"),
    ):
        write_refusal(tmp_path / "checks/1", {f"bot-{number}": "x" * 2_000 for number in range(count)})
        found = read_refusal(tmp_path / "checks")
        assert found is not None
        assert (text, min(count, 100)) == (found.text, len(found.lines))
    assert (tmp_path / "checks" / REFUSED).stat().st_size < MOST_BYTES


@pytest.mark.parametrize(
    "content", ["", "{", '{"cannot_start":{},"count":1,"logs":""}', "[" * 5_000, "x" * MOST_BYTES]
)
def test_what_no_arena_wrote_says_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / REFUSED).write_text(content)
    assert read_refusal(tmp_path) is None
