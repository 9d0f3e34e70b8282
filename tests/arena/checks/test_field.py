"""A tournament's bots are checked before its first match."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import trio
from msgspec import Raw

from arena.checks.field import FieldCheck
from arena.checks.trials import Trial, _play_all, order, players_at
from arena.config.tournament_file import read_tournament
from arena.errors import WrongUse
from arena.pages.report import write_beside
from arena.reports.tournament import attempts_text, results_json
from arena.tournament.run import FinalResults, TournamentRun
from arena.workers.api import Roster, Worker, WorkerGoneError
from protocol.codec import encode
from protocol.messages import Accepted, Opened
from referee.host.plan import AttemptResult, Plan
from referee.match.records import Out
from tests.arena.checks.bots import WHY, Field
from tests.arena.ledgers import OpenLedger
from tests.builders.tournaments import write_tournament

TEXT = """\
game = "mist"
bots = ["mist_random", "mist_hunter",
  "mist_cautious"]
seed = 4
"""
LEAVE_OUT = TEXT + 'broken = "leave-out"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cup.toml"
    path.write_text(TEXT)
    return path


def playing(
    file: Path, play: Field, *, fresh: bool = False, unbuilt: dict[int, str] | None = None
) -> FinalResults:
    tournament = read_tournament(file)
    check = FieldCheck("opponent", play.open_workers, unbuilt or {})
    return TournamentRun(
        tournament, tournament.labels, play.open_workers, write_reports=write_beside, check=check
    ).play(fresh=fresh)


def test_every_bot_plays_the_random_bot_once_before_the_first_match(file: Path) -> None:
    play = Field()
    playing(file, play)
    checks = set(play.seatings[: len(play.seatings) - len(play.counted)])
    assert {("mist_random", "opponent"), ("opponent", "mist_hunter"), ("mist_cautious", "opponent")} == checks
    assert 6 == len(play.counted)


def test_a_bot_that_cannot_start_stops_the_tournament_before_it_begins(
    file: Path, open_ledger: OpenLedger
) -> None:
    play = Field(broken=["mist_cautious"])
    with pytest.raises(WrongUse) as caught:
        playing(file, play)
    wrong, _, way_on = caught.value.format_message().partition("; to play without")
    assert f"{file}:2: bots[2]: mist_cautious: never started: {WHY}" == wrong
    assert ' bots that cannot start: --broken leave-out, or broken = "leave-out" in the file' == way_on
    assert ([], {}) == (play.counted, open_ledger(file.parent / "runs/cup/ledger.sqlite").terms())
    assert 6 == len(playing(file, Field()).played)


def test_all_that_cannot_start_are_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(WrongUse):
        playing(file, Field(broken=["mist_cautious"]), unbuilt={0: "build: exit code 4"})
    assert f"{file}:2: bots[0]: mist_random: build: exit code 4\n" in capsys.readouterr().err


def test_one_is_left_out_as_if_the_file_did_not_name_it(file: Path) -> None:
    file.write_text(LEAVE_OUT)
    found = playing(file, Field(broken=["mist_hunter"]))
    file.write_text(TEXT.replace('"mist_hunter",', ""))
    shorter = playing(file, Field(), fresh=True)
    assert shorter.digest == found.digest
    assert [f"left out: mist_hunter: never started: {WHY}"] == attempts_text(found)
    told = results_json(found.tournament, found)
    assert [{"bot": "mist_hunter", "why": f"never started: {WHY}"}] == told["left_out"]
    assert ["mist_random", "mist_cautious"] == [each["bot"] for each in told["bots"]]


def test_bots_left_out_stay_out_and_no_bot_is_checked_again(file: Path) -> None:
    file.write_text(LEAVE_OUT)
    first = playing(file, Field(broken=["mist_hunter"]))
    again = Field()
    found = playing(file, again)
    assert [] == again.played
    assert (first.digest, first.terms) == (found.digest, found.terms)


def test_a_page_says_who_was_left_out(file: Path) -> None:
    file.write_text(LEAVE_OUT)
    playing(file, Field(broken=["mist_hunter"]))
    assert f"mist_hunter: never started: {WHY}" in (file.parent / "runs/cup/report.html").read_text()


def test_two_must_be_left(file: Path) -> None:
    file.write_text(LEAVE_OUT)
    with pytest.raises(WrongUse) as caught:
        playing(file, Field(broken=["mist_hunter", "mist_random"]))
    said = "without mist_random, mist_hunter: bots: a tournament needs at least two bots; it would have one"
    assert f"{file}: {said}" == caught.value.format_message()


def test_a_bot_after_the_heads_does_not_become_a_head(file: Path) -> None:
    file.write_text(LEAVE_OUT + 'format = "gauntlet"\n')
    with pytest.raises(WrongUse) as caught:
        playing(file, Field(broken=["mist_random"]))
    assert f"{file}: heads: none is left without mist_random" == caught.value.format_message()
    file.write_text(LEAVE_OUT + 'format = "gauntlet"\nheads = 2\n')
    assert 1 == playing(file, Field(broken=["mist_random"])).tournament.form.heads


def test_the_house_bot_is_not_left_out(tmp_path: Path) -> None:
    more = 'fill = "hive_mind_random"', 'broken = "leave-out"'
    file = write_tournament(tmp_path / "cup.toml", ["any_random", "hive_mind_counter"], *more, game="hive-mind")
    with pytest.raises(WrongUse) as caught:
        playing(file, Field(broken=["hive_mind_random (house)"]))
    assert caught.value.format_message().startswith(f"{file}:3: fill: the house's bot cannot be left out")


def test_fresh_leaves_earlier_results_in_place_if_a_bot_cannot_start(file: Path) -> None:
    playing(file, Field())
    with pytest.raises(WrongUse):
        playing(file, Field(broken=["mist_hunter"]), fresh=True)
    assert [] == list((file.parent / "runs/cup").glob("before-*"))


async def test_the_seat_and_the_window_are_named_that_a_match_waits_for(
    autojump_clock: object, tmp_path: Path
) -> None:
    """Once a window, however long it is."""
    said: list[str] = []
    opened = Out(at=1, seat=0, frame=Raw(encode(Opened(4, "turn", None, None, 60_000, 0))))
    accepted = Out(at=2, seat=1, frame=Raw(encode(Accepted(3, None))))
    (tmp_path / "slow.jsonl.part").write_bytes(b"\n".join([b"cut", encode(opened), encode(accepted), b'{"cut']))
    plan = Plan(match="", game="mist", variant="contractual-obligation", seed=0)
    play = [Worker(play=Field(endless=["slow"]), slots=2)]
    for seat in (0, 1):
        slow = order("slow", plan, players_at(seat, "slow", "other", 2), seat, label="slow", seconds=40)
        await _play_all([slow], play, tmp_path, {}, ended=lambda: None, tell=said.append)
    assert ["slow: waiting for seat 0, window 4 (turn) of 60 s"] == said


async def test_with_the_last_worker_gone_the_rest_is_not_checked_and_says_so(
    autojump_clock: object, tmp_path: Path
) -> None:
    """Nothing is known of bots on a cluster, and nothing counts against them."""

    async def lose(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        del plan, players
        roster.remove(0)
        raise WorkerGoneError(f"killed at {transcript.stem}")

    roster: Roster[Worker[str]] = Roster([Worker(play=lose, slots=1)])
    plan = Plan(match="", game="mist", variant="contractual-obligation", seed=0)
    orders = [order(name, plan, (name, "other"), 0, label=name) for name in ("first", "second")]
    trials = dict[int, Trial]()
    await _play_all(orders, roster, tmp_path, trials, ended=lambda: None, tell=lambda _: None)
    lost = "the match was lost with its referee process: killed at first"
    assert [lost, "no worker was left to play it"] == [trials[each].trouble for each in (0, 1)]
    assert all(trial.started for trial in trials.values())


async def test_a_match_without_an_end_is_stopped(autojump_clock: object, tmp_path: Path) -> None:
    play, trials, ends = Field(endless=["slow"]), dict[int, Trial](), []
    plan = Plan(match="", game="mist", variant="contractual-obligation", seed=0)
    orders = [order(name, plan, (name, "other"), 0, label=name, seconds=40) for name in ("slow", "quick")]
    await _play_all(
        orders,
        [Worker(play=play, slots=1)],
        tmp_path,
        trials,
        ended=lambda: ends.append(trio.current_time()),
        tell=lambda _: None,
    )
    assert "its match was stopped after 40 s" == trials[0].trouble
    assert (None, 40.0, True) == (trials[0].result, trials[0].seconds, trials[0].started)
    assert trials[1].result is not None
    assert 2 == len(ends)
