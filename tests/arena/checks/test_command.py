"""`arena check` at the command line, with stand-ins for matches."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena.commands import main
from arena.errors import DONE, NO, WRONG_USE
from arena.workers.api import Worker
from referee.bot_folder import BUILT_IN
from tests.arena.checks.bots import WHY, Field


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def arena(monkeypatch: pytest.MonkeyPatch, play: Field, *words: str) -> Result:
    workers = [Worker(play=play, slots=2)]
    monkeypatch.setattr("arena.workers.venue.open_pool", lambda _slots, **_: nullcontext(workers))
    return CliRunner().invoke(main.main, words)


def test_a_bot_plays_each_of_its_games_in_one_seat_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Field()
    ended = arena(monkeypatch, play, "check", "any_random", "--matches", "2", "--json")
    found = json.loads(ended.stdout)
    assert (DONE, True) == (ended.exit_code, found["well"])
    games = {each["game"]: each["matches"] for each in found["games"]}
    assert dict.fromkeys(("mist", "hive-mind", "pointing", "fight-for-a-name", "runes-to-ruins"), 2) == games
    mist = [names for plan, names in zip(play.played, play.seatings, strict=True) if plan.game == "mist"]
    assert [("any_random", "mist_random"), ("mist_random", "any_random")] == mist


def test_a_bot_that_never_starts_plays_one_match_and_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Field(broken=["mist_hunter"])
    ended = arena(monkeypatch, play, "check", "mist_hunter")
    assert (NO, 1) == (ended.exit_code, len(play.played))
    assert f"mist: {WHY}\n" in ended.stdout
    assert "0 of 1" in ended.stdout


def test_in_a_game_of_many_seats_points_are_means_over_the_field(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is third of five has no win, and half the points."""
    words = ("check", "any_random", "--game", "hive-mind", "--matches", "2", "--seed", "3")
    [found] = json.loads(arena(monkeypatch, Field(), *words, "--json").stdout)["games"]
    assert (0, 0.438) == (found["wins"], found["mean_points"])
    shown = arena(monkeypatch, Field(), *words).stdout
    assert "mean points" in shown
    assert "0.438" in shown


def test_windows_are_short_unless_the_command_line_says_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that hangs would be waited for a day a window."""
    words = ("check", "any_random", "--game", "fight-for-a-name", "--game", "mist", "--matches", "1", "--json")

    def main_times(*more: str) -> tuple[set[int], str]:
        ended = arena(monkeypatch, Field(), *words, *more)
        games = json.loads(ended.stdout)["games"]
        return {each for game in games for each in game["main_ms"].values()}, ended.stderr

    assert {60_000} == main_times()[0]
    assert "a window has 60 s at most, where the rules give more (fight-for-a-name); --main-ms" in main_times()[1]
    assert ({90_000}, "") == main_times("--main-ms", "90000")
    assert {2_000} == main_times("--main-ms", "2000", "--reserve-ms", "50")[0]


def test_a_bot_that_is_a_link_is_followed_and_it_is_said_where_to(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mine").symlink_to(BUILT_IN / "mist_hunter")
    ended = arena(monkeypatch, Field(), "check", "mine", "--matches", "1")
    assert DONE == ended.exit_code
    assert f"mine: is a symbolic link to {BUILT_IN / 'mist_hunter'}\n" in ended.stderr


def test_the_seed_counts_on(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Field()
    arena(monkeypatch, play, "check", "mist_hunter", "--matches", "3", "--seed", "0")
    assert [0, 1, 2] == sorted(plan.seed for plan in play.played)


def test_a_field_has_a_row_for_each_bot_a_design_and_a_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cup.toml").write_text('game = "mist"\nbots = ["mist_random", "mist_hunter"]\nblocks = 30\n')
    ended = arena(monkeypatch, Field(), "check", "cup.toml")
    assert DONE == ended.exit_code
    assert "30 blocks: each bot plays 30" in ended.stdout
    assert "for 60 matches, " in ended.stdout
    assert not Path("runs/cup").exists()


def test_a_field_with_a_bot_that_cannot_start_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cup.toml").write_text('game = "mist"\nbots = ["mist_random", "mist_hunter"]\n')
    ended = arena(monkeypatch, Field(broken=["mist_hunter"]), "check", "cup.toml", "--json")
    found = json.loads(ended.stdout)
    assert (NO, False) == (ended.exit_code, found["starts"])
    assert [None, f"never started: {WHY}"] == [each["broken"] for each in found["bots"]]
    assert "arena: 1 bot cannot start: cup.toml:2: bots[1] (mist_hunter)\n" == ended.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("any_random", "--variant", "gauntlet"), "--variant: is for one game; choose with --game among mist"),
        (("mist_hunter", "--game", "pointing"), "mist_hunter does not play pointing"),
        (("cup.toml", "--matches", "3"), "--matches: is for a bot; a tournament's file says it itself"),
        (("cup.toml",), "cup.toml:1: broken: 'perhaps': Invalid enum value 'perhaps'; there are stop, leave-out"),
    ],
)
def test_what_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str) -> None:
    Path("cup.toml").write_text('broken = "perhaps"\ngame = "mist"\nbots = ["mist_random", "mist_hunter"]\n')
    play = Field()
    ended = arena(monkeypatch, play, "check", *words)
    assert (WRONG_USE, []) == (ended.exit_code, play.played)
    assert said in ended.stderr


def test_a_head_that_never_starts_is_rejected_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("regress", "mist", "--base", "mist_random", "--head", "mist_hunter", "--json", "--markdown", "s.md")
    play = Field(broken=["mist_hunter"])
    ended = arena(monkeypatch, play, *words)
    assert (NO, "rejected", []) == (ended.exit_code, json.loads(ended.stdout)["verdict"], play.counted)
    assert f"arena: rejected: head never started: {WHY}; logs: runs/regress/" in ended.stderr
    assert f"rejected: head never started: {WHY}" in Path("s.md").read_text()


def test_a_base_that_never_starts_is_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Field(broken=["mist_cautious"])
    ended = arena(monkeypatch, play, "regress", "mist", "--base", "mist_cautious", "--head", "mist_hunter")
    assert (WRONG_USE, []) == (ended.exit_code, play.counted)
    assert f"arena: --base: mist_cautious: never started: {WHY}; logs: " in ended.stderr
