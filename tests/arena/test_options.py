"""Options of commands: their types and defaults, files of clocks and setups, and folders for results."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner
from msgspec import Meta, Struct

from arena.config import called, read_tournament, short_name
from arena.errors import DONE, WRONG_USE, WrongUse
from arena.options import (
    Seconds,
    bot_folder_around,
    clock_text,
    default_folder,
    drawn_setup,
    option,
    options,
    read_clock,
    read_setup,
    refuse_in_bot,
)
from arena.tournament.provenance import terms_of
from protocol.words import Setup
from referee.bot_folder import BUILT_IN, cache_folder
from referee.games import GAMES
from referee.match.terms import ClockTable, Policy, table_of
from referee.rules.contract import AnyGame
from referee.rules.rng import MatchRandom
from referee.rules.table import Deal, Table
from tests.arena.stand_in import result
from tests.builders.command_line import arena
from tests.builders.tournaments import write_tournament


class Inner(Struct, frozen=True, kw_only=True):
    level: Annotated[Annotated[int, Meta(ge=1, le=3)] | None, option("Level of it.")] = None
    warm: Annotated[bool, option("Kind of start.", "--warm/--cold", show_default=True)] = True


class Outer(Struct, frozen=True, kw_only=True):
    bot: Annotated[str, option("A bot.", required=True, metavar="BOT")]
    pacing: Annotated[Literal["prompt", "fixed"], option("Pacing.")] = "prompt"
    inner: Inner = Inner()
    share: Annotated[Annotated[float, Meta(ge=0, le=1)], option("A share.")] = 0.5
    games: Annotated[tuple[str, ...], option("A game.", "--game")] = ()
    out: Annotated[Path | None, option("A file.")] = None
    as_json: Annotated[bool, option("As JSON.", "--json")] = False
    patience: Annotated[float, option("A time.", type=Seconds(), default="10m")] = 600
    plan: str = "not an option"


class Other(Struct, frozen=True, kw_only=True):
    last: Annotated[int | None, option("The last.")] = None


RECEIVED: list[Any] = []


@click.command()
@click.argument("file")
@options(Outer)
@options(Other, "other")
@click.option("--plain", is_flag=True)
def command(file: str, *, asked: Outer, other: Other, plain: bool) -> None:
    """Do nothing."""
    RECEIVED[:] = [file, asked, other, plain]


def received(*words: str) -> list[Any]:
    result = CliRunner().invoke(command, ["x", "--bot", "anna", *words])
    assert result.exit_code == 0, result.output
    return RECEIVED


def test_without_options_a_command_receives_the_defaults() -> None:
    assert ["x", Outer(bot="anna"), Other(), False] == received()


def test_each_option_fills_its_field() -> None:
    words = ["--pacing", "fixed", "--share", "1", "--game", "a", "--game", "b", "--out", "f", "--json"]
    expected = Outer(bot="anna", pacing="fixed", share=1.0, games=("a", "b"), out=Path("f"), as_json=True)
    assert ["x", expected, Other(last=4), True] == received(*words, "--last", "4", "--plain")


def test_a_group_is_a_struct_within_the_other() -> None:
    assert Inner(level=3, warm=False) == received("--level", "3", "--cold")[1].inner


def test_a_field_that_is_no_option_keeps_its_default() -> None:
    assert received()[1].plan == "not an option"
    assert CliRunner().invoke(command, ["x", "--bot", "anna", "--plan", "y"]).exit_code == 2


def test_settings_take_the_place_of_what_the_field_says() -> None:
    assert 600 == received()[1].patience
    assert 7200 == received("--patience", "2h")[1].patience


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--level", "4"), "4 is not in the range 1<=x<=3"),
        (("--share", "1.5"), "1.5 is not in the range 0<=x<=1"),
        (("--pacing", "slow"), "'slow' is not one of 'prompt', 'fixed'"),
        (("--patience", "soon"), "'soon' is not a time"),
    ],
)
def test_values_are_checked_against_the_field(words: tuple[str, ...], what: str) -> None:
    result = CliRunner().invoke(command, ["x", "--bot", "anna", *words])
    assert result.exit_code == 2
    assert what in result.output


def test_a_required_option_is_demanded() -> None:
    assert "Missing option '--bot'" in CliRunner().invoke(command, ["x"]).output


def test_help_lists_options_in_the_order_of_fields_with_groups_in_their_place() -> None:
    lines = CliRunner().invoke(command, ["--help"]).output.split("Options:\n")[1].splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  --")]
    order = ["--bot", "--pacing", "--level", "--warm", "--share", "--game", "--out", "--json", "--patience"]
    assert [*order, "--last", "--plain", "--help"] == named


HEAVEN = "heaven-and-hell"
MIST = GAMES["mist"]
VARIANTS = [(game, variant.name) for game in GAMES for variant in GAMES[game].variants]
TOURNAMENT = """\
game = "mist"
bots = ["mist_random", "mist_cautious"]
"""
COMMANDS = [
    ("match", "mist", "mist_random", "mist_random"),
    ("regress", "mist", "--base", "mist_random", "--head", "mist_cautious"),
]
"""Commands that take a table of their own."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "times.toml"


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_printed_options_can_be_passed_again(game: str, variant: str, file: Path) -> None:
    printed = arena("games", game, "--clock", "--variant", variant)
    assert clock_text(GAMES[game], variant) == printed.stdout
    file.write_text(printed.stdout)
    assert table_of(GAMES[game].variant(variant).time) == read_clock(file, GAMES[game], variant, Policy())


def test_the_table_of_mist_has_its_minute_and_its_reserve() -> None:
    """mist.md R11."""
    text = '[clock]\nkind = "wall"\nreserve_ms = 300000\n\n[clock.main_ms]\nfirst = 60000\nturn = 60000\n'
    assert text == clock_text(MIST, HEAVEN).partition("\n")[2]


def test_as_json_it_is_the_same_table() -> None:
    printed = arena("games", "mist", "--clock", "--variant", HEAVEN, "--json")
    table = json.loads(printed.stdout)["clock"]
    assert ({"first": 60_000, "turn": 60_000}, 300_000) == (table["main_ms"], table["reserve_ms"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--clock",), "--clock: of which game? There are mist, "),
        (("mist", "--clock", "--setup"), "--setup, --clock, --rules: give one of them"),
        (("mist", "--clock", "--seed", "1"), "--seed: has no effect without --setup"),
        (("mist", "--variant", HEAVEN), "--variant: has no effect without --setup or --clock"),
        (("mist", "--clock", "--variant", "hell"), "--variant: mist has no 'hell'"),
    ],
)
def test_options_that_cannot_be_printed_are_refused(arguments: tuple[str, ...], said: str) -> None:
    printed = arena("games", *arguments)
    assert (2, f"arena: {said}") == (printed.exit_code, printed.stderr[: len(said) + 7])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1: clock: is missing"),
        ("clock = 60", "1: clock: 60: Expected `object`, got `int`"),
        ("[clock]", "1: clock: needs main_ms, the time of a window, or budget_ms, the time of a match"),
        ('[clock]\nkind = "sand"', "2: clock.kind: 'sand': Invalid enum value 'sand'"),
        (
            "[clock]\nmain = 1",
            "2: clock.main: is not a known field; did you mean main_ms?",
        ),
        ("[clock]\nmain_ms = -1", "2: clock.main_ms: -1: Expected `int` >= 0"),
        ("[clock]\nmain_ms = 1.5", "2: clock.main_ms: 1.5: Expected `int | object | null`, got `float`"),
        ("[clock]\nbudget_ms = 0", "2: clock.budget_ms: 0: Expected `int` >= 1"),
        ("[clock]\nbudget_ms = 99999999999999", "2: clock.budget_ms: 99999999999999: Expected `int` <= 1000000"),
        ("[clock]\nkind = 'cpu'\nmain_ms = 1\nwall_factor = 0", "4: clock.wall_factor: 0: Expected `int` >= 1"),
        ("[clock]\nmain_ms = 1\n\nwall_factor = 2", '4: clock.wall_factor: is for kind = "cpu"'),
        ("[clock]\nbudget_ms = 1\nmain_ms = 1", "3: clock.main_ms: budget_ms stands in place of main time and "),
        ("[clock]\nbudget_ms = 1\ndelay = 'bronstein'", "3: clock.delay: how long? delay_ms is missing"),
        (
            "[clock.main_ms]\nfirst = 1\nturn = 1\ntrun = 1",
            "4: clock.main_ms.trun: there is no such window; there ",
        ),
        ("[clock.main_ms]\nfirst = 1", "1: clock.main_ms: turn is missing; the windows are first, turn"),
        ("[clock]\nmain_ms = { first = 1, turn = 0 }", "2: clock.main_ms.turn: no time at all for turn"),
        ("[clock]\nmain_ms = ", "2: Invalid value"),
    ],
)
def test_a_wrong_table_is_named_by_line_and_field(text: str, said: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(WrongUse) as caught:
        read_clock(file, MIST, HEAVEN, Policy())
    assert f"{file}:{said}" == caught.value.format_message()[: len(f"{file}:{said}")]


def test_a_table_in_a_tournaments_file_is_every_matchs_and_one_of_its_terms(file: Path) -> None:
    file.write_text(f"{TOURNAMENT}[clock]\nbudget_ms = 10000\nincrement_ms = 100\n")
    tournament = read_tournament(file)
    assert ClockTable(budget_ms=10_000, increment_ms=100) == tournament.plan().clock
    assert 10_000 == terms_of(tournament, 1)["clock.budget_ms"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[clock]\nbudget = 1", "4: clock.budget: is not a known field; did you mean budget_ms?"),
        ("[clock]\nbudget_ms = 1\nmain_ms = 1", "5: clock.main_ms: budget_ms stands in place of"),
        ("[policy]\nmain_ms = 1\n[clock]\nmain_ms = 1", "4: policy.main_ms: the [clock] table says the times"),
        ("[policy]\npacing = 'fixed'\n[clock]\nbudget_ms = 1", "4: policy.pacing: a window without main time"),
    ],
)
def test_a_wrong_table_in_a_tournaments_file_is_named_too(text: str, said: str, file: Path) -> None:
    file.write_text(f"{TOURNAMENT}{text}\n")
    with pytest.raises(WrongUse) as caught:
        read_tournament(file)
    assert f"{file}:{said}" == caught.value.format_message()[: len(f"{file}:{said}")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--main-ms", "50"), "--main-ms: the [clock] table says the times: {file}"),
        (("--pacing", "fixed"), "--pacing: a window without main time has no fixed length: {file}"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_match_is_refused_an_option_that_contradicts_its_table(
    command: tuple[str, ...], arguments: tuple[str, ...], said: str, file: Path
) -> None:
    file.write_text("[clock]\nbudget_ms = 1000\n")
    refused = arena(*command, "--clock", file, *arguments)
    assert (2, f"arena: {said.format(file=file)}\n") == (refused.exit_code, refused.stderr)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_matchs_table_that_is_not_there_is_named(command: tuple[str, ...], file: Path) -> None:
    refused = arena(*command, "--clock", file)
    assert (2, f"arena: {file}: cannot be read: No such file or directory\n") == (
        refused.exit_code,
        refused.stderr,
    )


HAS_SECRETS = {"hive-mind", "fight-for-a-name"}
EACH_VARIANT = [(game, variant.name) for game in HAS_SECRETS for variant in GAMES[game].variants]


def options_of(game: AnyGame, variant: str) -> Any:
    return game.read_options(variant, None)


def complaint(path: Path, game: str = "hive-mind", variant: str = "gauntlet") -> str:
    """Return the complaint about a file, without its path, which comes first."""
    with pytest.raises(WrongUse) as caught:
        read_setup(path, GAMES[game], variant, options_of(GAMES[game], variant))
    said = caught.value.format_message()
    assert "\n" not in said
    assert said.startswith(f"{path}:")
    return said.removeprefix(f"{path}:")


@pytest.mark.parametrize(("name", "variant"), sorted(EACH_VARIANT))
def test_the_printed_setup_is_that_of_the_seed_and_can_be_passed_again_unchanged(
    name: str, variant: str, tmp_path: Path
) -> None:
    printed = arena("games", name, "--setup", "--variant", variant, "--seed", "7")
    file = tmp_path / "secrets.json"
    file.write_text(printed.stdout)
    given = read_setup(file, GAMES[name], variant, options_of(GAMES[name], variant))
    assert (DONE, "") == (printed.exit_code, printed.stderr)
    assert Table(GAMES[name], Deal(variant, 7)).setup == Table(GAMES[name], Deal(variant, 8, None, given)).setup
    assert len(printed.stdout.splitlines()) > 3


def test_games_without_secrets_say_so() -> None:
    for name, game in GAMES.items():
        variant = game.variants[0].name
        form = type(game.read_setup(variant, options_of(game, variant), None, MatchRandom(1)))
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


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot's folder, which is the current one."""
    folder = tmp_path / "my_bot"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "bot.toml").write_text((BUILT_IN / "mist_random" / "bot.toml").read_text())
    (folder / "bot.py").write_text("")
    monkeypatch.chdir(folder)
    return folder


def test_by_default_results_go_to_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Path("runs/check") == default_folder("runs/check")
    assert Path("cups/runs") == default_folder("runs", Path("cups"))


def test_in_a_bots_folder_they_go_beside_it(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Path("../runs/check") == default_folder("runs/check")
    monkeypatch.chdir("src/deep")
    assert Path("../../../runs/check") == default_folder("runs/check")
    assert bot == bot_folder_around(Path())


def test_through_a_link_too(bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(bot)
    monkeypatch.chdir(tmp_path)
    assert Path("runs") == default_folder("runs", Path("link"))
    with pytest.raises(WrongUse, match=r"--results: link/runs lies in the folder of a bot, .*/my_bot: "):
        refuse_in_bot(Path("link/runs"), "--results")


def test_a_bot_inside_of_a_bot_is_a_part_of_it(bot: Path) -> None:
    (bot / "src" / "bot.toml").touch()
    assert bot == bot_folder_around(Path("src/deep/not_there"))
    assert Path("../runs") == default_folder("runs", Path("src"))


def test_results_beside_a_read_only_folder_go_to_the_cache(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, _mode: path != bot.parent)
    assert cache_folder() / "runs" == default_folder("runs")


def test_a_tournament_whose_file_lies_in_a_bots_folder_keeps_its_results_beside_that(bot: Path) -> None:
    tournament = read_tournament(write_tournament(Path("cup.toml"), [".", "mist_random"]))
    assert (Path("../runs/cup"), ("my_bot", "mist_random")) == (tournament.results, tournament.labels)
    assert bot.parent == Path("..").resolve()


@pytest.mark.parametrize(
    ("name", "label"),
    [(".", "my_bot"), ("./", "my_bot"), ("..", "PARENT"), ("src/..", "my_bot"), (".@HEAD~1", "my_bot@HEAD~1")],
)
def test_a_dot_is_called_as_the_folder_that_it_stands_for(bot: Path, name: str, label: str) -> None:
    expected = label.replace("PARENT", bot.parent.name)
    assert (expected, expected) == (short_name(name), called(name))


@pytest.mark.parametrize("name", ["../my_bot", "/in/my_bot", "my_bot@HEAD", "mist_random", "@x", "remote:a.key"])
def test_other_names_are_shown_as_they_were_given(name: str) -> None:
    assert name == called(name)
