"""`play`: the same match as the referee's, without processes; what bots do wrong is said with seat and window."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import trio
from click.testing import CliRunner

from arena import BotError, IllegalActionError, play, play_many
from arena.commands.main import main as arena
from arena.simulation import BotGiven, messages_to_seats
from arena.simulation.bots import defensive_copy
from arena.simulation.match import PlayedResult
from bots.kit import Bot, Window
from protocol.codec import encode
from protocol.messages import Opened
from referee.games import GAMES
from tests.arena.simulation.bots import Hasty, Scribbler, broken, illegal, plain, quick
from tests.bots.in_process import BOTS
from tests.games import with_variants

VARIANTS = with_variants(GAMES)


def field(game: str, variant: str) -> list[BotGiven]:
    """Return a random bot for each seat."""
    rules = GAMES[game]
    make = next(iter(BOTS[game].values()))
    return [make() for _ in range(rules.seats(rules.read_options(variant, None)))]


def compared(quick: PlayedResult, refereed: PlayedResult) -> None:
    """Check that both are of the same match."""
    for name in ("outcome", "windows", "defaults", "illegal", "seed"):
        assert getattr(refereed, name) == getattr(quick, name), name
    for seat in (None, *range(len(quick.windows))):
        assert refereed.match.view(seat) == quick.match.view(seat)
        assert refereed.match.events(seat) == quick.match.events(seat)


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_a_match_is_the_one_that_the_referee_has_with_the_same_seed_and_bots(
    game: str, variant: str, tmp_path: Path
) -> None:
    file = tmp_path / "match.jsonl"
    refereed = play(game, field(game, variant), variant=variant, seed=7, transcript=file)
    compared(play(game, field(game, variant), variant=variant, seed=7), refereed)
    assert str(file) == refereed.transcript
    replayed = CliRunner().invoke(arena, ["replay", str(file)])
    assert 0 == replayed.exit_code, replayed.output
    assert "the rules reproduce every line" in replayed.output


@pytest.mark.parametrize(
    ("bots", "on_illegal"),
    [((Hasty, plain), "default"), ((quick, illegal), "default"), ((Hasty, Hasty), "default")],
)
def test_wrong_and_early_submissions_come_to_the_same_as_at_the_referee(
    bots: Sequence[BotGiven], on_illegal: Any, tmp_path: Path
) -> None:
    refereed = play("mist", bots, seed=3, on_illegal=on_illegal, transcript=tmp_path / "match.jsonl")
    result = play("mist", bots, seed=3, on_illegal=on_illegal)
    compared(result, refereed)
    assert sum(result.illegal) > 0
    assert any("rejected" in note for notes in result.notes for note in notes)


def test_views_of_the_games_own_type_are_what_the_wire_would_bring() -> None:
    for game, rules in GAMES.items():
        variant = rules.variants[0].name
        messages = messages_to_seats(game, field(game, variant), variant=variant, seed=5)
        views = [
            msgspec.json.decode(each, type=Opened).view for each in messages[0] if b'"type":"window"' in each[:20]
        ]
        assert views
        for view in views:
            typed = msgspec.convert(view, rules.view_type)
            assert typed == defensive_copy(typed)
            assert json.loads(encode(defensive_copy(typed))) == view


def test_a_bot_can_spoil_its_own_copy_of_what_it_is_given_and_nothing_else() -> None:
    bots = Scribbler(), Scribbler()
    spoilt, clean = play("mist", bots, seed=11), play("mist", [quick, quick], seed=11)
    assert bots[0].heard > 10
    assert spoilt.outcome == clean.outcome
    assert [spoilt.match.events(seat) for seat in (0, 1)] == [clean.match.events(seat) for seat in (0, 1)]


def test_a_function_without_annotation_gets_plain_values() -> None:
    assert play("mist", [quick, quick], seed=2).outcome == play("mist", [plain, plain], seed=2).outcome


@pytest.mark.parametrize("think_ms", [None, lambda *_: 0])
def test_an_illegal_action_is_raised_with_seat_window_and_reason(think_ms: Any) -> None:
    with pytest.raises(IllegalActionError, match=r"seat 1, window 'turn': .*Z9") as raised:
        play("mist", [quick, illegal], seed=1, think_ms=think_ms)
    assert (1, "turn") == (raised.value.seat, raised.value.window)


@pytest.mark.parametrize("think_ms", [None, lambda *_: 0])
class TestBotsThatRaise:
    def test_their_exception_is_raised_with_seat_and_window(self, think_ms: Any) -> None:
        with pytest.raises(BotError, match=r"seat 1 raised, window 'turn': RuntimeError: out of ideas") as raised:
            play("mist", [quick, broken], seed=1, think_ms=think_ms)
        assert isinstance(raised.value.__cause__, RuntimeError)

    def test_their_windows_take_the_default_if_so_asked(self, think_ms: Any) -> None:
        result = play("mist", [quick, broken], seed=1, on_error="default", think_ms=think_ms)
        assert result.defaults[0] == 0 < result.defaults[1] < result.windows[1]
        assert "RuntimeError: out of ideas" in result.notes[1][0]

    def test_they_forfeit_if_so_asked(self, think_ms: Any) -> None:
        result = play("mist", [quick, broken], seed=1, on_error="forfeit", think_ms=think_ms)
        assert (((0,), (1,)), "forfeit") == (result.ranking, result.reason)

    def test_an_error_that_cannot_say_what_it_is_counts_as_any_other(self, think_ms: Any) -> None:
        class SilentError(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        def fails(_: object) -> None:
            raise SilentError

        with pytest.raises(BotError, match="SilentError, and it cannot say what"):
            play("mist", [fails, quick], seed=1, think_ms=think_ms)
        result = play("mist", [fails, quick], seed=1, on_error="forfeit", think_ms=think_ms)
        assert ((1,), (0,)) == result.ranking
        survived = play("mist", [fails, quick], seed=1, on_error="default", think_ms=think_ms)
        assert survived.windows[0] == survived.defaults[0]

    @pytest.mark.parametrize("odd", [object(), "\ud800", {(1, 2): 3}, iter(())])
    def test_an_action_that_cannot_be_encoded_counts_as_an_error(self, odd: Any, think_ms: Any) -> None:
        class Odd(Bot[Any, Any]):
            def decide(self, window: Window[Any]) -> Any:
                return odd if window.id else {"cells": ["Z9"]}

            def rejected(self, _: Any) -> Any:
                return odd

        result = play("mist", [Odd, quick], seed=1, on_error="default", on_illegal="default", think_ms=think_ms)
        assert result.windows[0] == result.defaults[0]
        assert any("raised" in note for note in result.notes[0])
        with pytest.raises(BotError, match="seat 0"):
            play("mist", [Odd, quick], seed=1, on_illegal="default", think_ms=think_ms)

    def test_among_many_the_others_play_on(self, think_ms: Any) -> None:
        def leaves(window: Window[Any]) -> Any:
            raise SystemExit(3)

        bots: list[BotGiven] = [leaves, *[BOTS["hive-mind"]["random"]() for _ in range(4)]]
        result = play("hive-mind", bots, seed=1, on_error="forfeit", think_ms=think_ms)
        assert 0 in result.ranking[-1]
        assert result.outcome.scores


class TestVirtualTime:
    def test_a_bot_that_thinks_too_long_gets_the_default(self) -> None:
        result = play("mist", [quick, quick], seed=1, think_ms=lambda seat, _: 70_000 if seat else 59_999)
        assert (0, result.windows[1]) == result.defaults

    def test_a_budget_is_used_up_and_an_increment_gives_some_back(self) -> None:
        budget = {"budget_ms": 10_000}
        spent = play("mist", [quick, quick], seed=1, clock=budget, think_ms=lambda *_: 1_000)
        assert 9 == spent.windows[0] - spent.defaults[0]  # The tenth comes when all is used up.
        given = {**budget, "increment_ms": 1_000}
        assert (0, 0) == play("mist", [quick, quick], seed=1, clock=given, think_ms=lambda *_: 999).defaults

    @pytest.mark.parametrize(
        ("clock", "complaint"),
        [
            ({"kind": "cpu", "main_ms": 5}, "kind"),
            ({"mian_ms": 5}, "mian_ms"),
            ({"main_ms": {"turn": 5}}, "first"),
        ],
    )
    def test_a_clock_that_is_none_is_refused_by_its_field(self, clock: dict[str, Any], complaint: str) -> None:
        with pytest.raises(ValueError, match=rf"clock.*{complaint}"):
            play("mist", [quick, quick], clock=clock)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"game": "chess"}, "game: there is no 'chess'; the games are mist, "),
        ({"variant": "x"}, "variant: mist has no 'x'; the variants are "),
        ({"options": {"max_turns": 0}}, "options: .*max_turns"),
        ({"game": ["mist"]}, "game: there is no "),
        ({"options": {"first": print}}, "options: cannot be written as JSON: "),
        ({"setup": {(1, 2): 3}}, "setup: cannot be written as JSON: "),
        ({"seed": True}, "seed: True is no whole number"),
        ({"seed": float("nan")}, "seed: nan is no whole number"),
        ({"seed": "1"}, "seed: '1' is no whole number"),
        ({"seed": 1 << 20_000}, "seed: it has 20,001 bits; at most 1,024"),
        ({"on_illegal": "Default"}, "on_illegal: there is no 'Default'; there are raise, default"),
        ({"on_error": "forfiet"}, "on_error: there is no 'forfiet'; there are raise, default, forfeit"),
        ({"clock": 5}, "clock: 5 is not a table of fields"),
        ({"think_ms": lambda *_: float("nan")}, "think_ms: it gave nan; expected milliseconds"),
        ({"think_ms": lambda *_: None}, "think_ms: it gave None; expected milliseconds"),
        ({"bots": [quick]}, "bots: 1 for the 2 seats of mist"),
        ({"bots": [quick, "hive_mind_random"]}, "hive_mind_random: does not play mist"),
        ({"bots": [quick, "no_such_bot"]}, "no_such_bot"),
        ({"bots": [quick, "docs/examples/bots/c"]}, "only a Python bot"),
        ({"bots": [quick, "any_random"]}, r"any_random: bot.py .* bots.kit.run.*: KeyError\('ARENA_ENDPOINT'\)"),
    ],
)
def test_wrong_use_is_named(words: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        play(**{"game": "mist", "bots": [quick, quick], **words})


def test_a_bot_that_thinks_without_end_gets_the_default() -> None:
    result = play("mist", [quick, quick], seed=1, think_ms=lambda *_: float("inf"), options={"max_turns": 4})
    assert result.windows == result.defaults


def test_a_transcript_of_odd_names_and_seeds_holds(tmp_path: Path) -> None:
    class Odd:
        __name__ = 5

        def __call__(self, _: Any) -> None:
            """Take the default."""

    path = tmp_path / "odd.jsonl"
    play("mist", [Odd(), Odd()], seed=np.int64(-7), options={"max_turns": 4}, transcript=path)
    verified = CliRunner().invoke(arena, ["replay", str(path)])
    assert 0 == verified.exit_code
    assert "over (turn limit): 5, then 5" in verified.output
    assert -7 == json.loads(path.read_text().splitlines()[0])["seed"]


def test_one_object_cannot_sit_in_two_seats() -> None:
    bot = Scribbler()
    with pytest.raises(ValueError, match="one Bot object sits in two seats"):
        play("mist", [bot, bot])


def test_a_folders_bot_is_loaded_with_its_own_modules_and_is_fresh_in_each_match(tmp_path: Path) -> None:
    folders = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "mine.py").write_text(f"NAME = {name!r}\n")
        (folder / "bot.toml").write_text(
            f'name = "{name}"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
        )
        (folder / "bot.py").write_text(
            "from mine import NAME\nfrom bots.kit import Bot, run\nfrom tests.arena.simulation.bots import plain\n"
            "class Mine(Bot):\n    windows = 0\n    def decide(self, window):\n        self.windows += 1\n"
            "        assert self.windows == window.id + 1\n        return plain(window)\n"
            "run(Mine(), name=NAME)\n"
        )
        folders.append(folder)
    for _ in range(2):
        result = play("mist", folders, seed=2)
        assert (("one", "two"), play("mist", [plain, plain], seed=2).outcome) == (result.bots, result.outcome)


def folder_with(folder: Path, program: str, *words: str) -> Path:
    """Return a bot's folder with this program; `words` are added to its command."""
    folder.mkdir()
    command = json.dumps(["python", "bot.py", *words])
    (folder / "bot.toml").write_text(f'name = "mine"\nversion = "1"\ncommand = {command}\ngames = ["mist"]\n')
    (folder / "bot.py").write_text(program)
    return folder


def test_a_folders_bot_that_cannot_be_copied_is_named(tmp_path: Path) -> None:
    program = "from bots.kit import Bot, run\nb = Bot()\nb.at = (n for n in 'x')\nrun(b)"
    with pytest.raises(ValueError, match=r"mine: this bot cannot be copied for each match"):
        play("mist", [folder_with(tmp_path / "mine", program), quick], seed=1)


def test_a_folders_bot_runs_no_program_from_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text("raise AssertionError")
    mine = folder_with(tmp_path / "mine", "")
    (mine / "bot.toml").write_text((mine / "bot.toml").read_text().replace("bot.py", str(elsewhere)))
    with pytest.raises(ValueError, match=r"elsewhere\.py lies outside of the folder"):
        play("mist", [mine, quick])


@pytest.mark.parametrize("bots", [5, None, "mist_random"])
def test_bots_that_are_no_list_are_refused_as_such(bots: Any) -> None:
    with pytest.raises(TypeError, match=r"bots: .* is not a list; give one bot for each of the 2 seats of mist$"):
        play("mist", bots)
    with pytest.raises(TypeError, match=r"bots: .* is not a list; give one bot for each of the 2 seats of mist$"):
        play_many("mist", bots, matches=1, workers=1)


def test_a_folders_bot_may_exit_when_its_match_is_over(tmp_path: Path) -> None:
    program = (
        "from bots.kit import run\nfrom tests.arena.simulation.bots import quick\nraise SystemExit(run(quick))\n"
    )
    mine = folder_with(tmp_path / "mine", program)
    assert play("mist", [mine, quick], seed=1).outcome == play("mist", [quick, quick], seed=1).outcome


def test_a_folders_bot_gets_the_arguments_of_its_own_command_and_not_those_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "import sys\nfrom bots.kit import run\nfrom tests.arena.simulation.bots import plain\n"
        "assert sys.argv[1:] == ['--ms', '5']\nrun(plain)\nsys.exit()\n"
    )
    monkeypatch.setattr("sys.argv", mine := ["train.py", "--games", "8"])
    result = play("mist", [folder_with(tmp_path / "mine", program, "--ms", "5"), plain], seed=2)
    assert play("mist", [plain, plain], seed=2).outcome == result.outcome
    assert sys.argv is mine


def test_a_folders_bot_that_ends_before_it_plays_does_not_end_the_caller(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "mine", "import sys\nsys.exit('no model is set')\n")
    with pytest.raises(ValueError, match=r"mine: bot\.py .* bots\.kit\.run.*: SystemExit\('no model is set'\)"):
        play("mist", [folder, plain])


def test_it_is_plain_code_within_a_running_loop() -> None:
    async def within() -> PlayedResult:
        return play("mist", [quick, quick], seed=4)

    alone = play("mist", [quick, quick], seed=4).outcome
    assert [alone, alone] == [asyncio.run(within()).outcome, trio.run(within).outcome]


def test_a_transcript_is_written_within_a_running_loop_and_never_over_another(tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"

    async def within() -> PlayedResult:
        return play("mist", [quick, quick], seed=4, transcript=file)

    asyncio.run(within())
    assert 0 == CliRunner().invoke(arena, ["replay", "--html", str(tmp_path / "page.html"), str(file)]).exit_code
    with pytest.raises(Exception, match="is not written over"):
        trio.run(within)


def test_the_view_type_is_the_authors_own_where_it_is_another() -> None:
    class Mine(msgspec.Struct):
        turn: int
        forbidden: list[str]
        visible: dict[str, str] = {}

    def decide(window: "Window[Mine]") -> Any:
        assert isinstance(window.view.forbidden, list)
        return quick(window)  # type: ignore[arg-type]

    decide.__annotations__["window"] = Window[Mine]
    assert play("mist", [decide, decide], seed=6).outcome == play("mist", [quick, quick], seed=6).outcome
