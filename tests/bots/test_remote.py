"""The author's end: how it starts a bot, and what it says of what it cannot use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.commands.main import main
from bots.remote.relay import _keys, command_of, read_endpoint
from referee.wire.keys import new_pair, write_pair

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
def test_what_bot_toml_does_not_say_is_said(tmp_path: Path, text: str, said: str) -> None:
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


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bot.toml")
    with pytest.raises(SystemExit, match=r"bot\.toml: is not a regular file"):
        command_of(tmp_path)
    os.mkfifo(tmp_path / "key")
    with pytest.raises(SystemExit, match="key: is not a regular file"):
        _keys(str(tmp_path / "key"))
