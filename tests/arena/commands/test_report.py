"""`arena report`, and what a tournament leaves beside its results."""

import csv
import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.errors import WRONG_USE, MachineCannot
from arena.tournament.results_folder import LEDGER, PAGE, TABLE, set_aside
from arena.workers.api import PlayMatch
from protocol.refusals import Conduct
from referee.host.plan import AttemptResult as Attempted
from referee.host.plan import Plan
from referee.match.seat_report import SeatReport
from tests.arena.cups import play_cup
from tests.arena.ledgers import OpenLedger
from tests.arena.pages.folders import folder_of
from tests.arena.simulated import result as simulated
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_run import TEXT
from tests.builders.command_line import arena

report = partial(arena, "report")

OF_MANY = """\
game = "hive-mind"
bots = ["hive_mind_counter", "hive_mind_random"]
fill = "hive_mind_random"
blocks = 6
seed = 77001
"""


def cup(folder: Path, text: str = TEXT, play: PlayMatch[str] | None = None) -> Path:
    file = folder / "cup.toml"
    file.write_text(text)
    play_cup(file, play)
    return file


class VoidOnce(AtOnce):
    """One attempt is void."""

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> Attempted:
        """See `referee.host.one_match.play`."""
        done = await super().__call__(plan, players, transcript=transcript)
        return done if len(self.played) != 4 else replace(done, outcome=None, void="the machine is busy")


class RefusedTwice(AtOnce):
    """Two messages of one bot are refused in each match."""

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> Attempted:
        """See `referee.host.one_match.play`."""
        done = await super().__call__(plan, players, transcript=transcript)
        return replace(done, refused=tuple(2 * (player == "mist_cautious") for player in players))


class RunsOutOfMemory(AtOnce):
    """One bot is killed in each match, and says what would be markup."""

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> Attempted:
        """See `referee.host.one_match.play`."""
        done = await super().__call__(plan, players, transcript=transcript)
        bad = SeatReport(loss="killed: memory over 256 MB", last_line="<b>[red]\x1b[2J", cpu_us=2_000_000)
        return replace(done, reports=tuple(bad if each == "mist_cautious" else SeatReport() for each in players))


def as_json(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report(place, "--json").stdout)
    return found


def test_a_tournament_leaves_its_page_and_its_table_beside_its_results(tmp_path: Path) -> None:
    cup(tmp_path)
    results = tmp_path / "runs/cup"
    assert (results / PAGE).read_text().startswith("<!doctype html>")
    rows = list(csv.DictReader((results / TABLE).read_text().splitlines()))
    assert {"mist_random", "mist_cautious", "mist_hunter"} == {row["bot"] for row in rows}
    assert [] == list(results.glob("*.part"))


def test_refused_messages_are_in_the_table_the_page_and_what_programs_get(tmp_path: Path) -> None:
    file = cup(tmp_path, play=RefusedTwice())
    assert {"mist_cautious": 16, "mist_hunter": 0, "mist_random": 0} == {
        bot["bot"]: bot["refused"] for bot in as_json(file)["bots"]
    }
    rows = csv.DictReader((tmp_path / "runs/cup" / TABLE).read_text().splitlines())
    assert {"mist_cautious": "16", "mist_hunter": "0", "mist_random": "0"} == {
        row["bot"]: row["refused"] for row in rows
    }
    assert "defaults  refused  time per move" in report(file).stdout
    assert '<th scope="col">refused</th>' in (tmp_path / "runs/cup" / PAGE).read_text()


def test_causes_of_losses_are_below_the_table_on_the_page_and_in_json(tmp_path: Path) -> None:
    file = cup(tmp_path, play=RunsOutOfMemory())
    cause = "killed: memory over 256 MB in 8 of 8 matches"
    (line,) = (line for line in report(file).stdout.splitlines() if cause in line)
    assert rf"mist_cautious: {cause}; its last line of output: <b>[red]\x1b[2J" == line
    assert "processor time" not in report(file).stdout
    assert "16 s" in report(file, "--usage").stdout.split("processor time")[1]
    page = (tmp_path / "runs/cup" / PAGE).read_text()
    assert rf"mist_cautious: {cause}; its last line of output: &lt;b&gt;[red]\x1b[2J; log: " in page
    assert {"mist_cautious": 8, "mist_hunter": 0, "mist_random": 0} == {
        name: bot["lost"] for name, bot in as_json(file)["reports"].items()
    }
    rows = csv.DictReader((tmp_path / "runs/cup" / TABLE).read_text().splitlines())
    assert {("mist_cautious", "8", "16000000"), ("mist_hunter", "0", ""), ("mist_random", "0", "")} == {
        (row["bot"], row["lost"], row["cpu_us"]) for row in rows
    }


def test_a_ledger_with_reports_of_other_seats_is_refused(tmp_path: Path) -> None:
    ledger = tmp_path / "runs/cup" / LEDGER
    file = cup(tmp_path, play=RunsOutOfMemory())
    for reports in ('[{"spread": {"9999": 1}}, {}]', "[{}]", '[{"loss": 1}, {}]', "[", "7"):
        with closing(sqlite3.connect(ledger)) as book, book:
            book.execute("UPDATE attempts SET reports = ?", (reports,))
        refused = report(file)
        assert (2, 1) == (refused.exit_code, refused.stderr.count("\n"))
        assert "not as an arena writes it" in refused.stderr


def test_void_attempts_are_told_with_the_matches_of_their_blocks(tmp_path: Path) -> None:
    file = cup(tmp_path, play=VoidOnce())
    found = as_json(file)
    assert 1 == found["void"]
    told = report(file).stdout
    assert "1 attempt was void and played again" in told
    assert "<dt>void attempts</dt><dd>1, played again</dd>" in (tmp_path / "runs/cup" / PAGE).read_text()


def test_a_fresh_beginning_puts_the_earlier_report_aside_too(tmp_path: Path) -> None:
    cup(tmp_path)
    aside = set_aside(tmp_path / "runs/cup")
    assert aside is not None
    assert {PAGE, TABLE} <= {each.name for each in aside.iterdir()}
    assert not (tmp_path / "runs/cup" / PAGE).exists()


def test_the_folder_the_file_and_the_ledger_give_the_same_report(tmp_path: Path) -> None:
    file = cup(tmp_path)
    results = tmp_path / "runs/cup"
    assert as_json(file) == as_json(results) == as_json(results / LEDGER)


def test_the_json_has_ratings_with_intervals_seats_conduct_and_time(tmp_path: Path) -> None:
    found = as_json(cup(tmp_path))
    assert ("mist", 12, 6) == (found["game"], found["matches"], found["blocks"])
    for bot in found["bots"]:
        assert {"elo", "elo_low", "elo_high", "superiority", "seats", "conduct", "against"} <= bot.keys()
        assert 8 == sum(bot["conduct"].values())
        assert 8 == sum(seat["played"] for seat in bot["seats"])
    assert found["bots"][0]["elo"] >= found["bots"][-1]["elo"]


def test_the_seed_is_in_no_report(tmp_path: Path) -> None:
    """Whoever knows it knows the deals that are still to be played."""
    file = cup(tmp_path, OF_MANY)
    told = report(file, "--html", tmp_path / "out.html", "--csv", tmp_path / "out.csv").stdout
    told += (
        report(file, "--json").stdout + (tmp_path / "out.html").read_text() + (tmp_path / "out.csv").read_text()
    )
    assert "77001" not in told


def test_the_house_is_last_and_marked(tmp_path: Path) -> None:
    found = as_json(cup(tmp_path, OF_MANY))
    assert [("1", False), ("2", False), ("h", True)] == [(bot["place"], bot["house"]) for bot in found["bots"]]
    assert 0 == pytest.approx(sum(bot["elo"] for bot in found["bots"][:2]), abs=0.02)


def test_the_tables_name_every_bot_and_its_interval(tmp_path: Path) -> None:
    shown = report(cup(tmp_path)).stdout
    assert shown.startswith("12 matches in 6 blocks, mist, ")
    assert "95 % interval" in shown
    assert 4 == shown.count("mist_hunter")


def test_the_csv_has_mean_points_by_seat_and_against_each_other(tmp_path: Path) -> None:
    file = cup(tmp_path)
    bots = {bot["bot"]: bot for bot in as_json(file)["bots"]}
    for row in csv.DictReader((tmp_path / "runs/cup" / TABLE).read_text().splitlines()):
        bot = bots[row["bot"]]
        assert [seat["mean_points"] for seat in bot["seats"]] == [float(row[f"seat {seat}"]) for seat in range(2)]
        for other in bots:
            score = bot["against"].get(other)
            assert row[f"against {other}"] == ("" if score is None else str(score["points"] / score["played"]))


def test_html_and_csv_go_where_they_are_asked_to(tmp_path: Path) -> None:
    file = cup(tmp_path)
    assert 0 == report(file, "--html", tmp_path / "a.html", "--csv", tmp_path / "b.csv").exit_code
    moved = (tmp_path / "a.html").read_text().replace('href="runs/cup/transcripts/', 'href="transcripts/')
    assert (tmp_path / "runs/cup" / PAGE).read_text() == moved
    assert 'href="transcripts/00001a-' in moved
    assert (tmp_path / "runs/cup" / TABLE).read_text() == (tmp_path / "b.csv").read_text()


def test_a_tournament_that_has_just_begun_has_a_report(tmp_path: Path, open_ledger: OpenLedger) -> None:
    ledger = open_ledger(tmp_path / LEDGER)
    ledger.begin({"game": "mist", "bots": ["a", "b"]})
    done = report(tmp_path)
    ledger.close()
    assert 0 == done.exit_code
    assert "0 matches in 0 blocks, mist" in done.stdout


def test_an_unfinished_tournament_says_of_how_many_matches_it_has_played(tmp_path: Path) -> None:
    class Stops(AtOnce):
        async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> Attempted:
            if len(self.played) == 5:
                raise MachineCannot("a full disk")
            return await super().__call__(plan, players, transcript=transcript)

    with pytest.RaisesGroup(MachineCannot, allow_unwrapped=True, flatten_subgroups=True):
        cup(tmp_path, play=Stops())
    file = tmp_path / "cup.toml"
    told = report(file, "--html", tmp_path / "out.html").stdout
    assert told.startswith("4 of 12 matches in 2 blocks, mist")
    assert "<dt>matches</dt><dd>4 of 12</dd>" in (tmp_path / "out.html").read_text()
    assert (4, 12) == (as_json(file)["matches"], as_json(file)["matches_in_all"])
    cup(tmp_path)
    assert report(file).stdout.startswith("12 matches in 6 blocks, mist")


@pytest.mark.parametrize(
    ("form", "order"),
    [
        ("", "By mean points."),
        ('format = "swiss"', "By points, byes counted, then Buchholz."),
        ('format = "ladder"\nrounds = 3', "By the ladder&#39;s rating."),
        ('format = "knockout"', "By the round that was reached, then mean points."),
    ],
)
def test_the_page_says_by_what_the_bots_are_placed(tmp_path: Path, form: str, order: str) -> None:
    cup(tmp_path, f"{form}\n{TEXT}")
    page = (tmp_path / "runs/cup" / PAGE).read_text()
    assert f'<h2>Standings</h2><p class="soft">{order}</p>' in page
    assert "Best first" not in page


def test_a_second_place_is_no_loss_with_more_than_two_seats(tmp_path: Path) -> None:
    cup(tmp_path, OF_MANY)
    page = (tmp_path / "runs/cup" / PAGE).read_text()
    assert re.search(r"<th[^>]*>wins</th>\s*<th[^>]*>shared wins</th>\s*<th[^>]*>faults</th>", page)
    assert ">lost<" not in page


class NeverStarts(AtOnce):
    """One bot never does: nothing is charged for windows in which nobody was asked."""

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> Attempted:
        done = await super().__call__(plan, players, transcript=transcript)
        seats = [player == "mist_cautious" for player in players]
        return replace(
            done,
            conduct=tuple(Conduct.NEVER_STARTED if never else Conduct.OK for never in seats),
            charged_us=tuple(0 if never else 700 for never in seats),
            windows=(5, 5),
        )


def test_a_bot_that_never_started_has_no_time_a_window(tmp_path: Path) -> None:
    file = cup(tmp_path, play=NeverStarts())
    times = {bot["bot"]: (bot["us_per_window"], bot["time_us_per_window"]) for bot in as_json(file)["bots"]}
    assert (None, None) == times.pop("mist_cautious")
    assert [140, 140] == [mean for mean, _ in times.values()]
    row = next(line for line in report(file).stdout.splitlines() if "mist_cautious" in line)
    assert row.endswith(" -")
    page = (tmp_path / "runs/cup" / PAGE).read_text()
    (plot,) = re.findall(r'aria-label="Average thinking time per move">.*?</section>', page, re.DOTALL)
    assert "mist_random" in plot
    assert "mist_cautious" not in plot


def test_in_every_table_of_the_page_words_are_to_the_left_and_numbers_to_the_right(tmp_path: Path) -> None:
    cup(tmp_path, 'format = "swiss"\n' + TEXT, NeverStarts())
    page = (tmp_path / "runs/cup" / PAGE).read_text()
    tables = [each for each in re.findall(r"<table data-sort>.*?</table>", page, re.DOTALL) if ">bot<" in each]
    assert 4 == len(tables)
    for table in tables:
        assert ["bot"] == re.findall(r'<th scope="col" class="words stick">(.*?)</th>', table)
        assert {"mist_random", "mist_cautious", "mist_hunter"} == set(
            re.findall(r'<th scope="row" class="words stick"><span class="name">(.*?)</span></th>', table)
        )


def test_a_place_without_results_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    done = report(tmp_path)
    assert (
        2,
        f"arena: {tmp_path / LEDGER}: there is no such ledger; give a tournament's results folder, or its file\n",
    ) == (
        done.exit_code,
        done.stderr,
    )
    assert [] == list(tmp_path.iterdir())


def test_a_page_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    done = report(cup(tmp_path), "--html", tmp_path / "nowhere/out.html")
    assert 2 == done.exit_code
    assert "nowhere/out.html: cannot be written: No such file or directory" in done.stderr


def test_a_ledger_with_one_match_of_others_than_the_bots_or_of_another_number_is_refused(tmp_path: Path) -> None:
    usual = simulated(0, 0, (0, 1), [[0], [1]])
    others = (simulated(0, 1, (0, 9), [[0], [1]]), simulated(0, 1, (0, 1, 2), [[0], [1], [2]]))
    for number, strange in enumerate(others):
        done = report(folder_of(tmp_path / f"{number}", ("a", "b", "c"), [usual, strange]))
        assert WRONG_USE == done.exit_code
        assert "holds a result that does not fit a match among its 3 bots" in done.stderr


def test_a_tournament_of_which_one_match_counts_has_its_table(tmp_path: Path) -> None:
    found = as_json(folder_of(tmp_path / "cup", ("a", "b", "c"), [simulated(0, 0, (0, 1), [[0], [1]])]))
    assert {"a": 1, "b": 1, "c": 0} == {bot["bot"]: bot["played"] for bot in found["bots"]}
