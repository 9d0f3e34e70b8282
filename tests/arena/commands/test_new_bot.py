"""`arena new-bot`: for each game and language a bot that answers what was recorded, in the words of the game."""

import importlib.util
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.commands.new_bot import KIT, LANGUAGES
from arena.config import random_bot
from bots.kit.testing import answers, program_answers
from protocol.messages import Opened
from referee.bot_folder import FILE
from referee.bot_folder.manifest import BotFile, built_in, find_bot, read_bot
from referee.bot_folder.strict_toml import read_toml
from referee.games import GAMES
from tests.builders.command_line import arena, refused

PROGRAMS = {name: (made.build or made.command)[0] for name, made in LANGUAGES.items() if name != "python"}


def made(folder: Path, game: str, language: str = "python") -> Path:
    assert arena("new-bot", folder, "--game", game, "--language", language).exit_code == 0
    assert (game,) == read_toml(folder / FILE, BotFile).games
    return folder


def check(game: str, answered: list[tuple[Opened, Any]]) -> None:
    assert answered
    forms = GAMES[game].actions
    for opened, action in answered:
        if action is not None:
            msgspec.convert(action, forms[opened.window])
    assert any(action is not None for _, action in answered)


def runs(program: str) -> bool:
    """Return whether a compiler runs here. Rustup's `rustc` is there without a toolchain, and only says so."""
    try:
        told = subprocess.run(  # noqa: S603 - a compiler's name
            [program, "version" if program == "go" else "--version"], capture_output=True, check=False
        )
    except OSError:
        return False
    return told.returncode == 0


def test_a_compiler_without_its_toolchain_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    shim = tmp_path / "rustc"
    shim.write_text("#!/bin/sh\necho 'error: rustup could not choose a version of rustc to run' >&2\nexit 1\n")
    shim.chmod(0o755)
    assert shutil.which("rustc") == str(shim)
    assert not runs("rustc")
    shim.write_text("#!/bin/sh\necho rustc 1.95.0\n")
    assert runs("rustc")
    assert not runs("no-such-compiler")


@pytest.mark.parametrize("game", GAMES)
def test_a_new_bot_answers_the_windows_of_every_variant(game: str, tmp_path: Path) -> None:
    folder = made(tmp_path / "mine", game)
    records = sorted((folder / "recorded").iterdir())
    assert sorted(variant.name for variant in GAMES[game].variants) == [record.stem for record in records]
    decide = runpy.run_path(str(folder / "bot.py"))["decide"]
    for record in records:
        check(game, list(answers(decide, record)))


@pytest.mark.parametrize("game", GAMES)
def test_it_imports_the_kit_and_what_the_pages_name(game: str, tmp_path: Path) -> None:
    """And no helper of a sample bot, about which its author finds nothing."""
    program = (made(tmp_path / "mine", game) / "bot.py").read_text()
    imported = re.findall(r"^(?:from|import) (bots\S*|protocol\S*)", program, re.MULTILINE)
    assert {"bots.kit"} == {module for module in imported if not module.startswith("protocol.")}


@pytest.mark.parametrize(
    ("language", "game"),
    [
        pytest.param(language, game, marks=[] if number == place else [pytest.mark.slow])
        for place, language in enumerate(PROGRAMS)
        for number, game in enumerate(GAMES)
    ],
)
def test_so_does_one_in_another_language(language: str, game: str, tmp_path: Path) -> None:
    if not runs(PROGRAMS[language]):
        pytest.skip(f"{PROGRAMS[language]} does not run on this machine")
    folder = made(tmp_path / "mine", game, language)
    record = next((folder / "recorded").iterdir())
    check(game, list(program_answers(folder, record)))


@pytest.mark.slow
def test_its_own_test_holds_and_fails_where_the_bot_is_wrong(tmp_path: Path) -> None:
    folder = made(tmp_path / "mine", "pointing")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_bot.py"]
    assert subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0  # noqa: S603 - ours
    bot = folder / "bot.py"
    bot.write_text(bot.read_text().replace("Point(target=", "Vote(seat="))
    assert subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 1  # noqa: S603 - ours


def test_a_language_that_has_no_template_for_a_game_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.commands.new_bot.TEMPLATES", tmp_path)
    told = refused("new-bot", tmp_path / "x", "--game", "mist", "--language", "go")
    assert "--language: there is no template for mist in go; there is one in python" == told
    assert not (tmp_path / "x").exists()


def test_a_compiler_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.commands.new_bot.PATH", str(tmp_path))
    told = arena("new-bot", tmp_path / "x", "--language", "go").stdout
    assert f"go is not in {tmp_path}: this machine cannot play it" in told.replace("\n", "")


SAMPLES = built_in()
FASTEST = {"mist_hunter", "pointing_loyal", "any_random"}
"""Samples that the quick suite copies."""
MESSAGES = 40
"""Of each recorded match that a copy of a sample answers: the first ten windows or so."""
each_sample = pytest.mark.parametrize(
    "sample", [pytest.param(name, marks=[] if name in FASTEST else [pytest.mark.slow]) for name in SAMPLES]
)


def copied(folder: Path, sample: str) -> Path:
    made = arena("new-bot", folder, "--from", sample)
    assert made.exit_code == 0, made.stderr
    return folder


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_copy_of_a_sample_needs_no_module_of_another_bot(sample: str, tmp_path: Path) -> None:
    folder = copied(tmp_path / "mine", sample)
    assert "mine" == read_toml(folder / FILE, BotFile).name
    assert find_bot(sample).games == read_bot(folder, given="mine").games
    for program in folder.glob("*.py"):
        text = program.read_text()
        imported = re.findall(r"^\s*from bots\.(\w+)[\w.]* import|^\s*import bots", text, re.MULTILINE)
        assert set(imported) <= set(KIT), program.name
        for module in re.findall(r"^from (\w+) import", text, re.MULTILINE):
            assert (folder / f"{module}.py").exists() or importlib.util.find_spec(module), module


@each_sample
def test_a_copy_of_a_sample_passes_its_own_test(sample: str, tmp_path: Path) -> None:
    folder = copied(tmp_path / "mine", sample)
    if sample in {"any_random", "chat"}:  # The one does not use the kit, the other asks a model.
        assert not (folder / "test_bot.py").exists()
        return
    for record in (folder / "recorded").iterdir():  # Planners think for long: the first windows are enough.
        record.write_text("".join(record.read_text().splitlines(keepends=True)[:MESSAGES]))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_bot.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert 0 == done.returncode, done.stdout


@pytest.mark.usefixtures("all_walls")
@each_sample
def test_a_copy_of_a_sample_plays_in_the_sandbox(sample: str, tmp_path: Path) -> None:
    """But for `chat`, which asks a model over a network that the sandbox does not have."""
    folder = copied(tmp_path / "mine", sample)
    tmp_path.chmod(0o755)
    game = (read_bot(folder, given="mine").games or ("mist",))[0]
    others = ("mist_random",) if game == "mist" else ("--fill", random_bot(game))
    done = arena("match", game, folder, *others, "--json", "--main-ms", "20000", "--transcripts", tmp_path / "t")
    told = json.loads(done.stdout)
    printed = "".join(log.read_text() for log in (tmp_path / "t").glob("*.seat-0.log"))
    if sample == "chat":
        assert "CHAT_URL" in printed
    else:
        chosen = told["reports"][0].get("asked_default", 0)
        assert "ok" == told["conduct"][0], printed
        if sample != "any_random":  # It also loses windows for which it draws nothing legal.
            assert chosen == told["defaults"][0], printed


def test_a_sample_that_cannot_be_copied_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    for words, said in (
        (("--from", "mist_huntr"), "--from: no sample bot is called mist_huntr; did you mean mist_hunter"),
        (("--from", "mist_hunter", "--game", "pointing"), "--game: mist_hunter does not play pointing"),
        (("--from", "mist_hunter", "--language", "go"), "--language: sample bots are in Python"),
    ):
        assert refused("new-bot", folder, *words).startswith(said)
    assert not folder.exists()


def test_a_copy_is_for_the_game_that_is_asked_for(tmp_path: Path) -> None:
    made = arena("new-bot", tmp_path / "mine", "--from", "any_random", "--game", "pointing")
    assert "match pointing" in made.stdout.replace("\n", "")
