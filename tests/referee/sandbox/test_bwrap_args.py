"""What bubblewrap is told to mount, where the project lies elsewhere than in its checkout. Starts nothing."""

from pathlib import Path

import pytest

from referee.bot_folder.manifest import Limits, find_bot
from referee.sandbox import bwrap_args
from referee.sandbox.host_machine import Machine


def pairs(words: list[str], option: str) -> list[str]:
    """Return the words that follow each occurrence of an option."""
    return [words[at + 1] for at, word in enumerate(words) if word == option]


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments where the project is installed as packages among others."""
    packages = tmp_path / "site-packages"
    for room in ("protocol", "referee", "arena", "bots"):
        (packages / room).mkdir(parents=True)
    foreign = tmp_path / "base" / "lib" / "site-packages"
    foreign.mkdir(parents=True)
    machine = Machine(
        interpreter=tmp_path / "base" / "bin" / "python3",
        base=tmp_path / "base",
        packages=(packages,),
        foreign=(foreign,),
    )
    monkeypatch.setattr(bwrap_args, "PROJECT", packages)
    monkeypatch.setattr(bwrap_args, "this_machine", lambda: machine)
    bot = find_bot("mist_random")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return bwrap_args.arguments(bot, tmp_path / "line" / "s", 9, None, 0)


def test_among_packages_the_judge_and_other_bots_are_hidden(words: list[str]) -> None:
    assert {f"/arena/packages/0/{room}" for room in ("referee", "arena", "bots")} < set(pairs(words, "--tmpfs"))


def test_foreign_packages_within_the_interpreters_folder_are_hidden(words: list[str], tmp_path: Path) -> None:
    assert str(tmp_path / "base" / "lib" / "site-packages") in pairs(words, "--tmpfs")


def test_python_is_run_from_its_own_place(words: list[str], tmp_path: Path) -> None:
    assert [str(tmp_path / "base" / "bin" / "python3"), "bot.py"] == words[-2:]


def test_every_folder_is_bound_read_only(words: list[str]) -> None:
    assert not {"--bind", "--bind-try", "--dev-bind"} & set(words)


def test_the_scratch_has_the_size_that_bot_toml_gives_it(words: list[str]) -> None:
    sizes = {words[at + 5]: words[at + 1] for at, word in enumerate(words) if word == "--size"}
    assert str(Limits().scratch_mb * 2**20) == sizes["/tmp"]  # noqa: S108 - the bot's own
