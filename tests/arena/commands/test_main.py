"""The command line: exit codes, one line for what is wrong, results on standard output and nothing else there."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner

from arena import __main__ as program
from arena.commands import main
from arena.commands.main import COMMANDS, INTERRUPTED
from arena.errors import CANNOT, DONE, NO, WRONG_USE, AnswerIsNo, MachineCannot, Stopped, WrongUse
from arena.installation import rules_page
from arena.workers.api import Worker
from protocol.messages import Hello, Submit
from referee.games import GAMES
from tests.arena.stand_in import AtOnce
from tests.builders.command_line import arena, refused
from tests.builders.tournaments import write_tournament

ROOT = Path(__file__).parents[3]
SCENARIO = b'{"game":"mist","options":{"first":0},"steps":[{"0":{"cells":["a1"]}}]}'


def test_help_names_every_command_with_its_line() -> None:
    result = arena("--help")
    assert DONE == result.exit_code
    assert set(COMMANDS) <= set(result.stdout.split())


def test_a_command_line_without_a_command_is_wrong_use_and_shows_the_help() -> None:
    result = arena()
    assert (WRONG_USE, "") == (result.exit_code, result.stdout)
    assert result.stderr.startswith("Usage: arena [OPTIONS] COMMAND [ARGS]...\n")


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_has_help_of_its_own(command: str) -> None:
    result = arena(command, "--help")
    assert DONE == result.exit_code
    assert f"Usage: arena {command}" in result.stdout


def test_wrong_use_is_one_line_and_code_2() -> None:
    assert "No such command 'duel'." == refused("duel")
    assert "No such command 'macht'. Did you mean 'match'?" == refused("macht")
    assert "No such command 'widthraw'. Did you mean 'withdraw'?" == refused("entry", "widthraw")
    assert "No such option '--quickly'." == refused("games", "--quickly")
    assert "No such option '--varient'. Did you mean '--variant'?" == refused("games", "--varient")
    assert "GAME: there is no 'mits'; did you mean mist?" == refused("games", "mits")
    assert "Missing argument 'FILE'." == refused("tournament")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (AnswerIsNo("it does not hold"), NO, "it does not hold"),
        (WrongUse("x.toml:3: blocks: 0"), WRONG_USE, "x.toml:3: blocks: 0"),
        (MachineCannot("no sandbox"), CANNOT, "no sandbox"),
        (ExceptionGroup("", [ValueError(), ExceptionGroup("", [MachineCannot("full")])]), CANNOT, "full"),
        (OSError(errno.ENOSPC, "No space left on device", "/t/x"), CANNOT, "/t/x: No space left on device"),
        (KeyboardInterrupt(), INTERRUPTED, "stopped"),
        (Stopped(signal.SIGTERM, "stopped; there is more"), 143, "stopped; there is more"),
        (BaseExceptionGroup("", [KeyboardInterrupt()]), INTERRUPTED, "stopped"),
        (
            ZeroDivisionError("a\nb"),
            CANNOT,
            "a fault of the arena itself: ZeroDivisionError: a b (set ARENA_TRACEBACK=1 to see where)",
        ),
    ],
)
def test_however_a_command_ends_it_says_so_in_one_line(error: BaseException, code: int, said: str) -> None:
    @click.command(cls=main.Arena, invoke_without_command=True)
    def failing() -> None:
        raise error

    result = CliRunner().invoke(failing, [])
    # After a Ctrl-C, click first ends the line on which the terminal shows it.
    assert (code, f"arena: {said}\n", "") == (result.exit_code, result.stderr.lstrip("\n"), result.stdout)


def test_games_lists_all_and_describes_one() -> None:
    assert "contractual-obligation" in arena("games").stdout
    assert {"game", "seats", "variants", "options", "windows", "events"} == set(
        json.loads(arena("games", "mist", "--json").stdout)
    )
    assert list(GAMES) == [game["game"] for game in json.loads(arena("games", "--json").stdout)]
    assert "max_turns" in arena("games", "mist").stdout
    assert f"GAME: there is no 'chess'; the games are {', '.join(GAMES)}" == refused("games", "chess")


@pytest.mark.parametrize("game", [name for name in GAMES if rules_page(name) is not None])
def test_the_rules_of_a_game_are_its_page(game: str) -> None:
    said = arena("games", game, "--rules").stdout
    page = (ROOT / "docs" / "games" / f"{game.replace('-', '_')}.md").read_text(encoding="utf-8")
    headings = [line for line in page.splitlines() if line.startswith("#")]
    assert headings == [line for line in said.splitlines() if line.startswith("#")]
    assert "](" not in said
    assert said == json.loads(arena("games", game, "--rules", "--json").stdout)["rules"]


def test_the_rules_at_a_terminal_are_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.terminal.Screen.is_terminal", True)
    said = arena("games", "mist", "--rules").stdout
    assert "##" not in said
    assert "The board" in said
    assert 100 >= max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", said).splitlines()))


def test_rules_are_of_a_game_and_asked_for_alone() -> None:
    assert f"--rules: of which game? The games are {', '.join(GAMES)}" == refused("games", "--rules")
    assert "--setup, --clock, --rules: give one of them" == refused("games", "mist", "--rules", "--clock")


def test_the_help_says_where_the_pages_are() -> None:
    assert f"\n  Documentation: {ROOT}/README.md\n" in arena("--help").stdout


def test_the_schema_describes_what_is_said_and_heard_and_every_word_of_every_game() -> None:
    schema = json.loads(arena("schema").stdout)
    words = schema["$defs"]
    assert {"Hello", "Submit", "Welcome", "Opened", "Over", "MistView", "Turn", "PointingView"} <= set(words)
    assert set(GAMES) == set(schema["games"])
    for name, game in GAMES.items():
        assert set(game.actions) == set(schema["games"][name]["actions"])
    assert set(msgspec.json.schema_components([Hello, Submit])[1]) <= set(words)


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    text = arena("schema").stdout
    words = json.loads(text)["$defs"]
    references = {part.split('"')[0] for part in text.split('"#/$defs/')[1:]}
    assert references
    assert references <= set(words)


def test_adjudicate_reads_lines_and_goes_on_after_an_error() -> None:
    result = arena("adjudicate", "-", stdin=SCENARIO + b"\n{}\n" + SCENARIO + b"\n")
    first, second, third = result.stdout.splitlines()
    assert DONE == result.exit_code
    assert {"error": "steps: missing"} == json.loads(second)
    assert first == third
    assert {"0": {"cells": ["A1"]}} == json.loads(first)["steps"][0]["taken"]


def test_adjudicate_reads_a_file_of_one_scenario_over_many_lines(tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    file.write_bytes(msgspec.json.format(SCENARIO, indent=2))
    assert arena("adjudicate", "-", stdin=SCENARIO).stdout == arena("adjudicate", file).stdout


def test_adjudicate_reads_a_file_of_many_scenarios(tmp_path: Path) -> None:
    file = tmp_path / "scenarios.jsonl"
    file.write_bytes(SCENARIO + b"\n" + SCENARIO + b"\n")
    assert 2 * arena("adjudicate", "-", stdin=SCENARIO).stdout == arena("adjudicate", file).stdout


def test_adjudicate_names_the_file_and_the_place_of_an_error(tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    file.write_bytes(SCENARIO.replace(b'"first":0', b'"first":7'))
    assert refused("adjudicate", file).startswith(f"{file}: options: Invalid enum value 7")
    assert f"{tmp_path}/none: cannot be read: No such file or directory" == refused(
        "adjudicate", tmp_path / "none"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chess", "mist_random"), f"GAME: there is no 'chess'; the games are {', '.join(GAMES)}"),
        (("mist", "mist_random"), "BOT: mist has 2 seats, and 1 bot is named; --fill BOT gives one to the others"),
        (
            ("mist", "mist_random", "nobody"),
            "nobody: no folder and no sample bot is called that; the bots are ",
        ),
        (("mist", "console", "console"), "console: there is one terminal, for one person"),
        (
            ("mist", "a", "b", "--variant", "hell"),
            "--variant: mist has no 'hell'; the variants are contractual-obligation, h",
        ),
        (("mist", "a", "b", "--options", "{"), "--options: Input data was truncated"),
        (("mist", "a", "b", "--options", '{"depth":1}'), "--options: 'depth' is not an option; the options are "),
        (("mist", "a", "b", "--options", '{"first":"\udcff"}'), r'{"first":"\udcff"}: is not UTF-8'),
        (("mist", "a", "b", "--main-ms", "0"), "Invalid value for '--main-ms': 0 is not in the range x>=1."),
        (
            ("mist", "a", "b", "--pacing", "slow"),
            "Invalid value for '--pacing': 'slow' is not one of 'prompt', 'f",
        ),
        (
            ("mist", "mist_random", "mist_random", "--watch", "2"),
            "--watch: '2' is neither spectator nor host nor a seat from 0 to 1",
        ),
        (("mist", "mist_random", "mist_random", "--delay", "1"), "--delay: has no effect without --watch"),
        (("mist", "mist_random", "mist_random", "--watch", "--delay", "nan"), "--delay: give a number of seconds"),
        (("mist", "a", "b", "--delay", "-1"), "Invalid value for '--delay': -1.0 is not in the range 0<=x<=60."),
    ],
)
def test_a_match_that_cannot_be_is_refused_by_what_is_wrong(arguments: tuple[str, ...], said: str) -> None:
    assert said == refused("match", *arguments)[: len(said)]


def test_a_new_bot_is_a_folder_that_can_be_read_and_is_not_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "my bot"
    result = arena("new-bot", folder)
    assert DONE == result.exit_code
    assert f"It plays already. Try it: arena match mist '{folder}' mist_random\n" in result.stdout
    assert f"{folder} exists and is not empty; choose another name" == refused("new-bot", folder)
    unknown = refused("new-bot", tmp_path / "x", "--game", "chess")
    assert f"--game: there is no 'chess'; the games are {', '.join(GAMES)}" == unknown


def test_a_new_bot_is_not_put_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert f"{tmp_path}/file/bot: cannot be written: Not a directory" == refused("new-bot", tmp_path / "file/bot")


def test_a_tournaments_isolation_can_be_given_and_is_one_of_its_terms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file says nothing of it: strict."""
    stand_in = AtOnce()
    workers = [Worker(play=stand_in, slots=2)]
    monkeypatch.setattr("arena.workers.placement.open_pool", lambda _slots, **_: nullcontext(workers))
    file = write_tournament(tmp_path / "cup.toml", ["mist_random", "mist_cautious"])
    played = arena("tournament", file, "--isolation", "none", "--no-check", "--json")
    assert ["none", "none"] == [plan.isolation for plan in stand_in.played]
    assert (DONE, "none") == (played.exit_code, json.loads(played.stdout)["isolation"])
    assert "2 matches, isolation none\n" in played.stderr
    assert "were begun: isolation was none, is strict." in refused("tournament", file)


@pytest.mark.parametrize(("told", "threads"), [(None, "1"), ("4", "4")])
def test_a_command_computes_in_one_thread_unless_its_environment_says_otherwise(
    told: str | None, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that wait for each other in loops would take the processor from the matches."""
    monkeypatch.setattr("arena.__main__.ignore_pause_signals", lambda: None)
    monkeypatch.setattr(main, "main", lambda: None)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", told or "")
    if told is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    program.main()
    assert threads == os.environ["OPENBLAS_NUM_THREADS"]


def test_a_reader_that_closes_the_pipe_ends_the_command_by_its_signal() -> None:
    """Exit code 1 would say that a transcript does not hold."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "arena", "games"]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)  # noqa: S603 - our own
    os.close(writer)
    assert (128 + signal.SIGPIPE, b"") == (ended.returncode, ended.stderr)
