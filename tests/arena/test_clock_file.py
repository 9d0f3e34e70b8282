"""`[clock]` tables as people write them: printed, given back, and wrong ones named by file, line and field."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.commands.main import main
from arena.config.tournament_file import read_tournament
from arena.errors import WrongUse
from arena.game_options import clock_text, read_clock
from arena.tournament.provenance import terms_of
from referee.games.registry import GAMES
from referee.match.terms import ClockTable, Policy, table_of

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
"""That take a table of their own."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "times.toml"


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_what_is_printed_can_be_given_back(game: str, variant: str, file: Path) -> None:
    printed = CliRunner().invoke(main, ["games", game, "--clock", "--variant", variant])
    assert clock_text(GAMES[game], variant) == printed.stdout
    file.write_text(printed.stdout)
    assert table_of(GAMES[game].variant(variant).time) == read_clock(file, GAMES[game], variant, Policy())


def test_the_table_of_mist_has_its_minute_and_its_reserve() -> None:
    """mist.md R11."""
    text = '[clock]\nkind = "wall"\nreserve_ms = 300000\n\n[clock.main_ms]\nfirst = 60000\nturn = 60000\n'
    assert text == clock_text(MIST, HEAVEN).partition("\n")[2]


def test_as_json_it_is_the_same_table() -> None:
    printed = CliRunner().invoke(main, ["games", "mist", "--clock", "--variant", HEAVEN, "--json"])
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
def test_what_cannot_be_printed_is_refused(arguments: tuple[str, ...], said: str) -> None:
    printed = CliRunner().invoke(main, ["games", *arguments])
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
    refused = CliRunner().invoke(main, [*command, "--clock", str(file), *arguments])
    assert (2, f"arena: {said.format(file=file)}\n") == (refused.exit_code, refused.stderr)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_matchs_table_that_is_not_there_is_named(command: tuple[str, ...], file: Path) -> None:
    refused = CliRunner().invoke(main, [*command, "--clock", str(file)])
    assert (2, f"arena: {file}: cannot be read: No such file or directory\n") == (
        refused.exit_code,
        refused.stderr,
    )
