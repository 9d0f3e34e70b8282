"""Results never go into a bot's folder: not by default, and not where that is asked for."""

from pathlib import Path

import pytest

from arena.config import called, read_tournament, short_name
from arena.errors import WrongUse
from arena.output_folders import bot_folder_around, default_folder, refuse_in_bot
from referee.bot_folder import BUILT_IN, cache_folder


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


def test_where_nobody_may_write_beside_it_they_go_to_the_cache(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, _mode: path != bot.parent)
    assert cache_folder() / "runs" == default_folder("runs")


def test_a_tournament_whose_file_lies_in_a_bots_folder_keeps_its_results_beside_that(bot: Path) -> None:
    Path("cup.toml").write_text('game = "mist"\nbots = [".", "mist_random"]\n')
    tournament = read_tournament(Path("cup.toml"))
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
