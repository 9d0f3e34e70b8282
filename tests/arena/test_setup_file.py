"""A host's secrets: printed, edited, given; and what is wrong with them told in one line."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from arena.commands import main
from arena.errors import DONE, WRONG_USE, WrongUse
from arena.game_options import drawn_setup, read_setup
from protocol.words import Setup
from referee.games.registry import GAMES
from referee.rules.contract import AnyGame
from referee.rules.rng import Luck
from referee.rules.table import Deal, Table
from tests.arena.stand_in import result

HAS_SECRETS = {"hive-mind", "fight-for-a-name"}
EACH_VARIANT = [(game, variant.name) for game in HAS_SECRETS for variant in GAMES[game].variants]


def arena(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main.main, [str(argument) for argument in arguments])


def options(game: AnyGame, variant: str) -> Any:
    return game.read_options(variant, None)


def complaint(path: Path, game: str = "hive-mind", variant: str = "gauntlet") -> str:
    """What is said of a file, without its path, which comes first."""
    with pytest.raises(WrongUse) as caught:
        read_setup(path, GAMES[game], variant, options(GAMES[game], variant))
    said = caught.value.format_message()
    assert "\n" not in said
    assert said.startswith(f"{path}:")
    return said.removeprefix(f"{path}:")


@pytest.mark.parametrize(("name", "variant"), sorted(EACH_VARIANT))
def test_what_is_printed_is_the_setup_of_that_seed_and_can_be_given_back_unchanged(
    name: str, variant: str, tmp_path: Path
) -> None:
    printed = arena("games", name, "--setup", "--variant", variant, "--seed", "7")
    file = tmp_path / "secrets.json"
    file.write_text(printed.stdout)
    given = read_setup(file, GAMES[name], variant, options(GAMES[name], variant))
    assert (DONE, "") == (printed.exit_code, printed.stderr)
    assert Table(GAMES[name], Deal(variant, 7)).setup == Table(GAMES[name], Deal(variant, 8, None, given)).setup
    assert len(printed.stdout.splitlines()) > 3


def test_games_without_secrets_say_so() -> None:
    for name, game in GAMES.items():
        variant = game.variants[0].name
        form = type(game.read_setup(variant, options(game, variant), None, Luck(1)))
        assert (name in HAS_SECRETS) == (form is not Setup)
        if name not in HAS_SECRETS:
            refused = arena("games", name, "--setup", "--seed", "1")
            said = f"arena: {name}: has no setup: its host has no secrets to give\n"
            assert (WRONG_USE, "", said) == (refused.exit_code, refused.stdout, refused.stderr)


def test_a_seed_that_is_left_out_is_drawn_and_told_beside_the_setup() -> None:
    printed = arena("games", "hive-mind", "--setup")
    seed = int(printed.stderr.removeprefix("seed "))
    assert printed.stdout == drawn_setup(GAMES["hive-mind"], "recharged", seed) + "\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--setup",), "--setup: of which game? There are mist, "),
        (("hive-mind", "--seed", "1"), "--seed: has no effect without --setup"),
        (("hive-mind", "--variant", "gauntlet"), "--variant: has no effect without --setup"),
        (
            ("hive-mind", "--setup", "--variant", "x"),
            "--variant: hive-mind has no 'x'; the variants are recharged",
        ),
    ],
)
def test_a_setup_that_cannot_be_printed_is_refused_by_what_is_wrong(arguments: tuple[str, ...], said: str) -> None:
    refused = arena("games", *arguments)
    assert (WRONG_USE, "") == (refused.exit_code, refused.stdout)
    assert refused.stderr.startswith(f"arena: {said}")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b'{"hives": {"1": "112332112213", "2": "322221133112"}}',
            " setup.hives.2: 4 hexes of value 1; there must be 5",
        ),
        (
            b'{"hives": {"1": "112332112213", "2": "32222113311x"}}',
            " setup.hives.2: the value of L is 'x'; it",
        ),
        (b'{"hives": {"1": "112332112213"}}', " setup.hives.2: is missing; its Hives are 1, 2"),
        (b'{"hive": {}}', " setup: Object contains unknown field `hive`"),
        (b'{"hives":\n {"1": "112332112213",\n  "1": ""}}', ' the key "1" stands twice in one object'),
        (b'{"hives":\n {"1" "112332112213"}}', "2: JSON is malformed: expected ':'"),
        (b'{"hives":\n\n {"1":\n', "3: Input data was truncated"),
        (b'{"hives":\n "\xff"}', "2: is not UTF-8 text"),
        (b"", "1: Input data was truncated"),
        (b"[" * 100_000, " nested too deeply"),
    ],
)
def test_a_setup_that_breaks_a_rule_is_told_with_its_file_and_what_is_off(
    content: bytes, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "secrets.json"
    file.write_bytes(content)
    assert said == complaint(file)[: len(said)]


def test_counts_of_the_fight_are_told_with_the_file_too(tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    setup = json.loads(drawn_setup(GAMES["fight-for-a-name"], "guardians", 1))
    setup["colours"] = dict.fromkeys(setup["colours"], "red")
    file.write_text(json.dumps(setup))
    assert " setup.colours: red has 36 hexes; each has 6" == complaint(file, "fight-for-a-name", "guardians")


def test_a_match_is_played_with_the_setup_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that is wrong is refused before anything is played."""
    plans = []

    def play_match(plan: Any, players: Any, transcripts: Path, **_: object) -> Any:
        plans.append(plan)
        return result(plan, ("a", "b", "c", "d", "e"), transcripts)

    monkeypatch.setattr("arena.commands.match.play_match", play_match)
    monkeypatch.setattr("arena.commands.match.show_match", lambda *_, **__: None)
    bot = tmp_path / "bot"
    bot.mkdir()
    (bot / "bot.py").touch()
    (bot / "bot.toml").write_text('name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n')
    file = tmp_path / "secrets.json"
    file.write_text('{"hives": {"1": "112332112213", "2": "322221133111"}}')
    words: tuple[str | Path, ...] = ("match", "hive-mind", *[bot] * 5, "--variant", "gauntlet", "--setup", file)
    played = arena(*words)
    assert DONE == played.exit_code, played.stderr
    assert [file.read_bytes()] == [bytes(plan.setup) for plan in plans]
    file.write_text("{")
    refused = arena(*words)
    assert (WRONG_USE, f"arena: {file}:1: Input data was truncated\n") == (refused.exit_code, refused.stderr)
    assert 1 == len(plans)
