"""The program of a remote bot: how it starts a bot, and what it says at the end of a match."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec import Raw

from arena.commands.main import main
from bots.remote.memory import Summary
from bots.remote.relay import _keys, command_of, read_endpoint
from protocol.messages import Closed, Faulted, NoAction, Opened, Over, Rejected, ServerMessage, Submit
from protocol.refusals import Fault, Refusal
from protocol.words import Outcome
from referee.wire.keys import new_pair, write_pair
from tests.builders.messages import closed, opened, welcome

ROOT = Path(__file__).parents[2]


def bot(folder: Path, text: str) -> Path:
    (folder / "bot.toml").write_text(text)
    return folder


def test_a_bot_is_started_by_its_bot_toml(tmp_path: Path) -> None:
    folder = bot(tmp_path, 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py", "-x"]\n')
    assert [sys.executable, "bot.py", "-x"] == command_of(folder)


def test_a_program_in_its_folder_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    folder = bot(tmp_path, 'name = "b"\nversion = "1"\ncommand = ["run"]\n')
    assert [str(tmp_path / "run")] == command_of(folder)


def test_one_that_speaks_by_lines_stands_behind_the_bridge(tmp_path: Path) -> None:
    folder = bot(tmp_path, 'name = "b"\nversion = "1"\ncommand = ["node", "b.js"]\ntransport = "stdio"\n')
    bridge = [sys.executable, "-P", "-m", "bots.stdio_bridge", "b", "1", "--", "node", "b.js"]
    assert bridge == command_of(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "bot.toml: "),
        ('name = "b"\nversion = "1"\n', "'command' is missing"),
        ('name = "b"\nversion = "1"\ncommand = []\n', "bot.toml: "),
        ('name = "b"\nversion = "1"\ncommand = 3\n', "bot.toml: "),
    ],
)
def test_fields_missing_in_bot_toml_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        command_of(bot(tmp_path, text))


@pytest.mark.parametrize("text", ["tcp://192.0.2.1:5555", "tcp://[::1]:5555"])
def test_a_host_is_an_address_in_numbers(text: str) -> None:
    assert text == read_endpoint(text)


@pytest.mark.parametrize("text", ["", "192.0.2.1:5555", "tcp://host:5555", "tcp://192.0.2.1", "ipc:///run/x:1"])
def test_names_are_not_looked_up(text: str) -> None:
    with pytest.raises(SystemExit, match="a numeric address"):
        read_endpoint(text)


def test_a_key_that_cannot_be_used_is_one_line_and_no_bot_is_started(tmp_path: Path) -> None:
    public, secret = write_pair(tmp_path / "k", new_pair())
    folder = bot(tmp_path, 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\n')
    for host_key, key, said in (
        (public, public, "has no secret key"),
        (public, tmp_path / "nothing", "nothing: "),
        (tmp_path / "nothing", secret, "nothing: "),
    ):
        command = [sys.executable, "-m", "bots.remote", "tcp://127.0.0.1:1", str(folder)]
        command += ["--host-key", str(host_key), "--key", str(key)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)  # noqa: S603 - our own program
        assert (1, 1, True) == (done.returncode, done.stderr.count("\n"), said in done.stderr)
        refused = CliRunner().invoke(main, ["remote", "join", *command[3:]])
        assert (2, f"arena: {done.stderr}") == (refused.exit_code, refused.stderr)


@pytest.mark.parametrize(
    ("bot", "said"),
    [
        ("mist_huntr", "mist_huntr: no folder and no sample bot is called that; did you mean mist_hunter"),
        ("bots/mist_huntr", "bots/mist_huntr: there is no such folder"),
    ],
)
def test_the_command_says_which_bot_is_not_there(bot: str, said: str) -> None:
    refused = CliRunner().invoke(
        main, ["remote", "join", "tcp://127.0.0.1:1", bot, "--host-key", "x", "--key", "y"]
    )
    assert 2 == refused.exit_code
    assert refused.stderr.startswith(f"arena: {said}")


def test_a_path_that_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bot.toml")
    with pytest.raises(SystemExit, match=r"bot\.toml: is not a regular file"):
        command_of(tmp_path)
    os.mkfifo(tmp_path / "key")
    with pytest.raises(SystemExit, match="key: is not a regular file"):
        _keys(str(tmp_path / "key"))


WELCOME = welcome(match="cup-7")
LOST = Outcome(ranking=((0,), (1,)), winners=(0,), eliminated=None, scores={"0": 9, "1": 4}, reason="full")


def heard(*messages: ServerMessage | Submit) -> list[str]:
    summary = Summary()
    for message in messages:
        if isinstance(message, Submit):
            summary.say(message)
        else:
            summary.hear(message)
    return summary.lines()


def window(number: int, *, by_default: bool = False, charged_ms: int = 5) -> tuple[Opened, Closed]:
    return opened(number), closed(number, by_default=by_default, charged_ms=charged_ms)


def test_a_match_without_mishaps_has_its_place_and_its_times() -> None:
    assert [
        "match cup-7, seat 1: place 2 of 2, score 4, full",
        "2 windows, 0 decided by default; the longest took 60 ms",
    ] == heard(WELCOME, *window(0), *window(1, charged_ms=60), Over(LOST))


def test_defaults_late_answers_and_refusals_are_counted_with_their_texts() -> None:
    begin, end = window(1, by_default=True)
    refused = Rejected(1, Refusal.ILLEGAL, "unknown cell J9")
    messages = (begin, refused, refused, Submit(1, Raw(b"null"), final=True), end)
    late = Rejected(0, Refusal.LATE, "too late")
    others = [Rejected(1, Refusal.ILLEGAL, f"unknown cell {number}") for number in range(4)]
    kinds = "illegal: unknown cell J9 (twice); illegal: unknown cell 0 (once); illegal: unknown cell 1 (once)"
    assert [
        "2 windows, 2 decided by default; the longest took 406 ms",
        "1 answer came too late",
        "the bot chose the default once",
        f"6 messages refused: {kinds}; others (twice)",
    ] == heard(WELCOME, *window(0, by_default=True, charged_ms=406), late, *messages, *others, Over(LOST))[1:]


def test_windows_without_a_decision_are_counted_by_their_cause() -> None:
    causes: tuple[NoAction, ...] = ("returned-nothing", "raised", "returned-nothing")
    messages: list[ServerMessage | Submit] = []
    for number, because in enumerate(causes):
        begin, end = window(number, by_default=True)
        messages += [begin, Submit(number, Raw(b"null"), final=True, because=because), end]
    assert [
        "3 windows, 3 decided by default; the longest took 5 ms",
        "decide returned nothing twice",
        "decide raised an error once",
    ] == heard(WELCOME, *messages, Over(LOST))[1:]


def test_a_bot_that_was_hung_up_on_has_the_reason_and_it_does_nothing_to_a_terminal() -> None:
    (first, _) = heard(WELCOME, Faulted(Fault.MISBEHAVED, "too \x1b[2J many"))
    assert r"match cup-7, seat 1: the host ended the match for this bot: misbehaved: too \x1b[2J many" == first


def test_before_the_match_there_is_nothing_to_say() -> None:
    assert [] == heard()
    assert heard(WELCOME)[0].endswith("not over when the bot's program ended")
