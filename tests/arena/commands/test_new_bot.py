"""`arena new-bot`: for each game and language a bot that answers what was recorded, in the words of the game."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.commands.new_bot import LANGUAGES
from bots.kit_testing import answers, program_answers
from protocol.messages import Opened
from referee.bot_folder.manifest import FILE, BotFile
from referee.bot_folder.strict_toml import read_toml
from referee.games.registry import GAMES
from tests.arena.commands.test_main import arena, refused

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
    if shutil.which(PROGRAMS[language]) is None:
        pytest.skip(f"{PROGRAMS[language]} is not on this machine")
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
