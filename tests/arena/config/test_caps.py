"""Caps on requests of bots: a larger request is refused with file, line, field, value and cap."""

from pathlib import Path

import pytest
from msgspec import to_builtins

from arena.config.entries import BotCaps, Caps, over, read_caps
from arena.config.tournament_file import read_tournament
from arena.errors import WRONG_USE, WrongUse
from referee.bot_folder.manifest import Limits, built_in, find_bot
from tests.builders.command_line import arena
from tests.builders.tournaments import write_tournament

BOT = 'name = "anna"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
GREEDY = f"{BOT}[limits]\nprocesses = 16\nmemory_mb = 8192\n"
CUP = Path(__file__).parents[3] / "docs/examples/competition/cup.toml"
HERE = "the most that may be asked for here"


@pytest.fixture
def anna(tmp_path: Path) -> Path:
    folder = tmp_path / "anna"
    folder.mkdir()
    (folder / "bot.py").touch()
    (folder / "bot.toml").write_text(GREEDY)
    return folder


def said(folder: Path, toml: str, *caps: str) -> str | None:
    """Return the complaint about a bot, without the path of its bot.toml."""
    (folder / "bot.toml").write_text(toml)
    told = over(find_bot(str(folder)), read_caps(caps))
    return None if told is None else told.removeprefix(f"{folder}/bot.toml:")


def test_there_is_a_cap_for_each_limit() -> None:
    assert Limits.__struct_fields__ == Caps.__struct_fields__


def test_without_caps_a_bot_may_ask_for_all_that_its_file_may_say(anna: Path) -> None:
    assert said(anna, GREEDY) is None


@pytest.mark.parametrize("table", ["limits", "build_limits"])
def test_scratch_is_capped_unless_the_host_allows_more(anna: Path, table: str) -> None:
    """It is memory, and who ends a bot waits until it is freed."""
    toml = f'{BOT}build = [["true"]]\n[{table}]\nscratch_mb = 1025\n'
    assert f"7: {table}.scratch_mb: 1025 is more than 1024, {HERE}" == said(anna, toml)
    assert said(anna, toml, f"{table}.scratch_mb=1025") is None
    assert said(anna, toml.replace("1025", "1024"), f"{table}.memory_mb=4096") is None


@pytest.mark.parametrize("field", Limits.__struct_fields__)
def test_as_much_as_the_cap_may_be_asked_for_and_no_more(anna: Path, field: str) -> None:
    toml = f"{BOT}[limits]\naddress_space_mb = 2048\ncpu_seconds = 9\n"
    value = to_builtins(Limits(address_space_mb=2048, cpu_seconds=9))[field]
    assert said(anna, toml, f"limits.{field}={value}") is None
    less = value / 2 if field == "cpus" else value - 1
    told = said(anna, toml, f"limits.{field}={less}")
    assert told is not None
    assert f"limits.{field}: {value:g}" in told
    assert told.endswith(f"is more than {less:g}, {HERE}")


@pytest.mark.parametrize(
    ("toml", "cap", "told"),
    [
        (GREEDY, "limits.memory_mb=2048", "7: limits.memory_mb: 8192 is more than 2048"),
        (f"{BOT}limits.cpus = 2.5\n", "limits.cpus=1.5", "5: limits.cpus: 2.5 is more than 1.5"),
        (BOT, "limits.memory_mb=512", "1: limits.memory_mb: 1024, the default, is more than 512"),
        (
            GREEDY,
            "limits.address_space_mb=2048",
            "5: limits.address_space_mb: left out, it is memory_mb, 8192, more than 2048",
        ),
        (
            GREEDY,
            "limits.cpu_seconds=60",
            "5: limits.cpu_seconds: left out, it has no limit, which is more than 60",
        ),
    ],
)
def test_the_line_the_field_its_value_and_the_cap_are_named(anna: Path, toml: str, cap: str, told: str) -> None:
    assert f"{told}, {HERE}" == said(anna, toml, cap)


def test_an_address_space_of_its_own_is_not_measured_by_its_memory(anna: Path) -> None:
    assert said(anna, f"{BOT}[limits]\naddress_space_mb = 512\n", "limits.address_space_mb=512") is None


def test_the_limits_of_a_build_are_capped_if_the_bot_has_a_build(anna: Path) -> None:
    cap = "build_limits.memory_mb=1024"
    assert said(anna, BOT, cap) is None
    built = f'{BOT}build = [["true"]]\n'
    assert f"1: build_limits.memory_mb: 4096, the default, is more than 1024, {HERE}" == said(anna, built, cap)
    assert said(anna, f"{built}build_limits.memory_mb = 1024\n", cap) is None


@pytest.mark.parametrize("name", built_in())
def test_the_caps_of_the_competition_let_every_bot_of_ours_in(name: str) -> None:
    cup = read_tournament(CUP).form
    assert cup.limits != Caps()
    assert over(find_bot(name), BotCaps(limits=cup.limits, build_limits=cup.build_limits)) is None


def tournament(folder: Path, caps: str) -> Path:
    return write_tournament(folder / "cup.toml", ["mist_random", "anna"], caps)


def test_a_tournaments_file_caps_what_its_bots_may_ask_for(anna: Path) -> None:
    file = tournament(anna.parent, "[limits]\nmemory_mb = 2048\n")
    with pytest.raises(WrongUse) as caught:
        read_tournament(file)
    place = f"{file}:2: bots[1]: {anna}/bot.toml:7: limits.memory_mb"
    assert f"{place}: 8192 is more than 2048, {HERE}" == caught.value.format_message()
    assert 8192 == read_tournament(tournament(anna.parent, "")).folders[1].limits.memory_mb


def test_the_size_of_a_bots_folder_is_capped(anna: Path) -> None:
    (anna / "net").write_bytes(bytes(1_500_000))
    assert said(anna, BOT, "entry.size_mb=2", "entry.files=3") is None
    assert (
        said(anna, BOT, "entry.files=2")
        == f"{anna}: entry.files: 3 is more than 2, the most that a bot may have here"
    )
    told = said(anna, BOT, "entry.size_mb=1")
    assert told is not None
    assert told.startswith(f"{anna}: entry.size_mb: 15")
    assert told.endswith(" bytes are more than 1 MB, the most that a bot may have here")
    with pytest.raises(WrongUse, match=r"cup\.toml:2: bots\[1\]: .*anna: entry\.files: 3 is more than 2"):
        read_tournament(tournament(anna.parent, "[entry]\nfiles = 2\n"))


def test_the_house_is_no_exception(anna: Path) -> None:
    bots = ["mist_random", "mist_hunter", "mist_tracker"]
    caps = "[limits]\nmemory_mb = 2048"
    file = write_tournament(anna.with_name("cup.toml"), bots, 'format = "swiss"', 'fill = "anna"', caps)
    with pytest.raises(WrongUse, match=r"cup\.toml:4: fill: .*limits\.memory_mb: 8192 is more than 2048"):
        read_tournament(file)


@pytest.mark.parametrize(
    ("caps", "told"),
    [
        ("[limits]\nmemory = 1\n", "4: limits.memory: is not a known field; did you mean memory_mb?"),
        ("[limits]\ncpus = 0\n", "4: limits.cpus: 0: Expected `float` > 0.0"),
        ("[build_limits]\nfiles = 1.5\n", "4: build_limits.files: 1.5: Expected `int | null`, got `float`"),
    ],
)
def test_a_cap_that_is_none_is_named_by_line_and_field(anna: Path, caps: str, told: str) -> None:
    file = tournament(anna.parent, caps)
    with pytest.raises(WrongUse) as caught:
        read_tournament(file)
    assert f"{file}:{told}" == caught.value.format_message()[: len(f"{file}:{told}")]


@pytest.mark.parametrize(
    "command",
    [
        ("match", "mist", "BUILT", "ANNA"),
        ("regress", "mist", "--base", "mist_random", "--head", "ANNA"),
        ("tournament", "CUP"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_that_would_run_it_plays_nothing_and_ends_with_exit_code_2(
    anna: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is another bot built that it would play with."""
    monkeypatch.chdir(anna.parent)
    built = anna.parent / "built"
    built.mkdir()
    (built / "bot.toml").write_text(f'{BOT}build = [["false"]]\n')
    tournament(anna.parent, "[limits]\nmemory_mb = 2048\n")
    words = [{"ANNA": str(anna), "BUILT": "built", "CUP": "cup.toml"}.get(word, word) for word in command]
    caps = [] if command[0] == "tournament" else ["--cap", "limits.memory_mb=2048", "--cap", "limits.files=4096"]
    ended = arena(*(words + caps))
    assert (WRONG_USE, "", 1) == (ended.exit_code, ended.stdout, ended.stderr.count("\n"))
    assert f"anna/bot.toml:7: limits.memory_mb: 8192 is more than 2048, {HERE}" in ended.stderr
    assert {"anna", "built", "cup.toml"} == {path.name for path in anna.parent.iterdir()}


@pytest.mark.parametrize(
    ("caps", "told"),
    [
        (
            ["memory_mb=1"],
            "--cap: memory_mb=1: Object contains unknown field `memory_mb`; use, for example, ",
        ),
        (["limits.memory_mb=2 GB"], "--cap: limits.memory_mb=2 GB: "),
        (["limits.memory_mb"], "--cap: limits.memory_mb: "),
        (["limits.files=0"], "--cap: limits.files=0: Expected `int` >= 1 - at `$.limits.files`; "),
        (["limits.files=90", "limits.files=80"], "--cap: one field is given twice"),
    ],
)
def test_a_cap_on_the_command_line_that_is_none_is_named(caps: list[str], told: str) -> None:
    options = [word for cap in caps for word in ("--cap", cap)]
    ended = arena("match", "mist", "mist_random", "mist_random", *options)
    assert WRONG_USE == ended.exit_code
    assert ended.stderr.startswith(f"arena: {told}")


def test_a_folder_that_is_too_large_is_not_copied_first(anna: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(anna.parent / "cache"))
    ended = arena("match", "mist", anna, "mist_random", "--cap", "entry.files=1")
    assert WRONG_USE == ended.exit_code
    assert f"{anna}: entry.files: 2 is more than 1" in ended.stderr
    assert not (anna.parent / "cache").exists()
