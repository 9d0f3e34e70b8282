"""`arena check` at the command line, with stand-ins for matches."""

import json
import re
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from arena.commands import main
from arena.errors import CANNOT, DONE, NO, WRONG_USE
from arena.workers.api import Worker
from referee.bot_folder import BUILT_IN, content_hash
from referee.games import GAMES
from referee.host import AttemptResult, Plan
from referee.match import SeatReport
from tests.arena.checks.bots import WHY, Field
from tests.arena.stand_in import outcome
from tests.builders.tournaments import write_tournament


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def arena(monkeypatch: pytest.MonkeyPatch, play: Field, *words: str) -> Result:
    workers = [Worker(play=play, slots=2)]
    monkeypatch.setattr("arena.workers.placement.open_pool", lambda _slots, **_: nullcontext(workers))
    return CliRunner().invoke(main.main, words)


def test_a_bot_plays_each_of_its_games_in_one_seat_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Field()
    ended = arena(monkeypatch, play, "check", "any_random", "--matches", "2", "--json")
    found = json.loads(ended.stdout)
    assert (DONE, True) == (ended.exit_code, found["well"])
    games = {each["game"]: each["matches"] for each in found["games"]}
    assert dict.fromkeys(GAMES, 2) == games
    mist = [names for plan, names in zip(play.played, play.seatings, strict=True) if plan.game == "mist"]
    assert [("any_random", "mist_random"), ("mist_random", "any_random")] == mist


def test_a_bot_that_never_starts_plays_one_match_and_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Field(broken=["mist_hunter"])
    ended = arena(monkeypatch, play, "check", "mist_hunter")
    assert (NO, 1) == (ended.exit_code, len(play.played))
    assert f"mist: {WHY}\n" in ended.stdout
    assert "0 of 1" in ended.stdout


def test_in_a_game_of_many_seats_points_are_means_over_the_field(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third of five bots has no win, and half the points."""
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
    assert "This check cuts fight-for-a-name's windows to 60 s; --main-ms changes that\n" == main_times()[1]
    assert ({90_000}, "") == main_times("--main-ms", "90000")
    assert {2_000} == main_times("--main-ms", "2000", "--reserve-ms", "50")[0]


def test_a_bot_that_is_a_link_is_followed_and_it_is_said_where_to(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("in@2026").mkdir()
    for link in ("mine", "mine@home", "in@2026/mine"):
        Path(link).symlink_to(BUILT_IN / "mist_hunter")
        ended = arena(monkeypatch, Field(), "check", link, "--matches", "1")
        assert DONE == ended.exit_code
        assert f"{link}: is a symbolic link to {BUILT_IN / 'mist_hunter'}\n" in ended.stderr


def test_a_check_from_the_bots_own_folder_writes_nothing_into_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each check would make another bot of it: the content hash covers all files."""
    shutil.copytree(BUILT_IN / "mist_hunter", "my_bot")
    before = content_hash(Path("my_bot"))
    monkeypatch.chdir("my_bot")
    ended = arena(monkeypatch, Field(broken=["."]), "check", ".", "--matches", "1")
    assert (NO, before) == (ended.exit_code, content_hash(Path()))
    assert "arena: my_bot failed in mist; the line above says why\n" in ended.stderr
    [results] = Path("../runs/check").iterdir()
    assert results.name.startswith("my_bot-")
    assert f"transcripts and logs: {results}\n" in ended.stdout


def test_results_that_are_to_go_into_a_bots_folder_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(BUILT_IN / "mist_hunter", "my_bot")
    write_tournament(Path("my_bot/cup.toml"), [".", "mist_random"], 'results = "runs"')
    place = f"lies in the folder of a bot, {Path('my_bot').resolve()}: "
    for words, said in (
        (("check", "my_bot", "--results", "my_bot/runs"), f"--results: my_bot/runs {place}"),
        (
            ("match", "mist", "my_bot", "mist_random", "--transcripts", "my_bot/t"),
            f"--transcripts: my_bot/t {place}",
        ),
        (("tournament", "my_bot/cup.toml"), f"my_bot/cup.toml: results: my_bot/runs {place}"),
    ):
        ended = arena(monkeypatch, play := Field(), *words)
        assert (WRONG_USE, []) == (ended.exit_code, play.played)
        assert said in ended.stderr
    assert not Path("my_bot/runs").exists()


def test_the_seed_counts_on(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Field()
    arena(monkeypatch, play, "check", "mist_hunter", "--matches", "3", "--seed", "0")
    assert [0, 1, 2] == sorted(plan.seed for plan in play.played)


def test_a_field_has_a_row_for_each_bot_a_design_and_a_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tournament(Path("cup.toml"), ["mist_random", "mist_hunter"], "blocks = 30")
    ended = arena(monkeypatch, Field(), "check", "cup.toml")
    assert DONE == ended.exit_code
    assert "30 blocks: each bot plays 30" in ended.stdout
    assert "for 60 matches, " in ended.stdout
    assert not Path("runs/cup").exists()


def test_a_field_with_a_bot_that_cannot_start_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tournament(Path("cup.toml"), ["mist_random", "mist_hunter"])
    ended = arena(monkeypatch, Field(broken=["mist_hunter"]), "check", "cup.toml", "--json")
    found = json.loads(ended.stdout)
    assert (NO, False) == (ended.exit_code, found["starts"])
    assert [None, f"never started: {WHY}"] == [each["broken"] for each in found["bots"]]
    assert "arena: 1 bot cannot start: cup.toml:2: bots[1] (mist_hunter)\n" == ended.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("any_random", "--variant", "gauntlet"), "--variant: applies to one game; choose it with --game: mist"),
        (("mist_hunter", "--game", "pointing"), "mist_hunter does not play pointing"),
        (("mist_hunter", "--against", "pointing_loyal"), "--against: pointing_loyal does not play mist"),
        (
            ("cup.toml", "--against", "mist_random"),
            "--against: applies to a bot only; a tournament's file sets it",
        ),
        (("cup.toml", "--matches", "3"), "--matches: applies to a bot only; a tournament's file sets it"),
        (("cup.toml",), "cup.toml:1: broken: 'perhaps': Invalid enum value 'perhaps'; there are stop, leave-out"),
    ],
)
def test_impossible_requests_are_refused(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
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
    assert f"arena: rejected: head (mist_hunter) never started: {WHY}; logs: runs/regress/" in ended.stderr
    assert f"rejected: head (mist_hunter) never started: {WHY}" in Path("s.md").read_text()


def test_a_base_that_never_starts_is_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Field(broken=["mist_cautious"])
    ended = arena(monkeypatch, play, "regress", "mist", "--base", "mist_cautious", "--head", "mist_hunter")
    assert (WRONG_USE, []) == (ended.exit_code, play.counted)
    assert f"arena: --base: mist_cautious: never started: {WHY}; logs: " in ended.stderr


def test_the_mean_has_an_interval_and_it_is_said_what_so_few_matches_cannot_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ("check", "any_random", "--game", "hive-mind", "--matches", "10", "--seed", "3")
    [found] = json.loads(arena(monkeypatch, Field(), *words, "--json").stdout)["games"]
    low, high = found["interval"]
    assert 0 < low < found["mean_points"] < 0.5 < high < 1
    assert "hive_mind_random" == found["against"]
    shown = arena(monkeypatch, Field(), *words).stdout
    assert "95 % interval" in shown
    cannot = "hive-mind: 10 matches cannot show whether any_random is better or worse than hive_mind_random"
    assert f"{cannot} (mean points {found['mean_points']:.3f}, 95 % interval {low:.2f} to {high:.2f}" in shown
    assert re.search(r"; --matches \d+0 would show a difference as large as this\n", shown)


class OneSided(Field):
    """Plays at once; one bot wins all its matches of two seats."""

    def __init__(self, winner: str) -> None:
        super().__init__()
        self._winner = winner

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        """See `referee.host.one_match.play`."""
        done = await super().__call__(plan, players, transcript=transcript)
        seat = self.seatings[-1].index(self._winner)
        return replace(done, outcome=outcome((seat,), (1 - seat,)))


@pytest.mark.parametrize(("winner", "word"), [("mist_hunter", "better"), ("mist_random", "worse")])
def test_a_clear_difference_is_reported_as_such(monkeypatch: pytest.MonkeyPatch, winner: str, word: str) -> None:
    shown = arena(monkeypatch, OneSided(winner), "check", "mist_hunter", "--matches", "30").stdout
    [line] = [line for line in shown.splitlines() if line.startswith("mist: ")]
    assert line.startswith(f"mist: mist_hunter is {word} than mist_random (")


def test_another_bot_may_take_the_other_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Field()
    ended = arena(monkeypatch, play, "check", "mist_hunter", "--against", "mist_cautious", "--matches", "2")
    assert DONE == ended.exit_code
    assert {("mist_hunter", "mist_cautious"), ("mist_cautious", "mist_hunter")} == set(play.seatings)
    assert " mist_cautious (mean points " in ended.stdout


def test_an_opponent_that_never_starts_is_not_beaten(monkeypatch: pytest.MonkeyPatch) -> None:
    play = Field(broken=["mist_cautious"])
    ended = arena(monkeypatch, play, "check", "mist_hunter", "--against", "mist_cautious")
    assert WRONG_USE == ended.exit_code
    said = "--against: mist_cautious never started in mist; check it first: arena check mist_cautious"
    assert said in ended.stderr


class OutOfFiles(Field):
    """All its matches are void."""

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        done = await super().__call__(plan, players, transcript=transcript)
        return replace(done, outcome=None, void="the machine has run out of something: Too many open files")


def test_a_shortage_of_the_machine_is_no_finding_about_the_bot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = arena(monkeypatch, OutOfFiles(), "check", "mist_hunter", "--matches", "2")
    assert CANNOT == ended.exit_code
    assert (
        "arena: mist_hunter: the match is void: the machine has run out of something: Too many open"
        in ended.stderr
    )
    ended = arena(monkeypatch, OutOfFiles(broken=["mist_hunter"]), "check", "mist_hunter", "--matches", "2")
    assert CANNOT == ended.exit_code, "what a void match says of a bot is not known"


class ReturnsNothing(Field):
    """A bot whose `decide` has no `return`, in so many of its windows."""

    def __init__(self, windows: int, nothing: int) -> None:
        super().__init__()
        self._counts = windows, nothing

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        done = await super().__call__(plan, players, transcript=transcript)
        windows, nothing = self._counts
        reports = tuple(SeatReport(returned_nothing=nothing) for _ in players)
        return replace(done, windows=(windows,) * len(players), reports=reports)


@pytest.mark.parametrize(("nothing", "code"), [(21, NO), (10, DONE), (0, DONE)])
def test_a_bot_that_returns_nothing_in_most_windows_fails(
    monkeypatch: pytest.MonkeyPatch, nothing: int, code: int
) -> None:
    ended = arena(monkeypatch, ReturnsNothing(21, nothing), "check", "mist_hunter", "--matches", "2")
    assert code == ended.exit_code
    said = f"mist: decide returned nothing in {2 * nothing} of 42 windows"
    assert bool(nothing) == (said in ended.stdout)
    assert (code == NO) == ("mist_hunter failed in mist; the line above says why" in ended.stderr)
