"""Shell completion, asked as shells ask."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.commands.main import COMMANDS, main
from referee.bot_folder.manifest import built_in
from referee.games import GAMES

ARENA = Path(sys.executable).with_name("arena")


def offered(*words: str) -> list[str]:
    """Return the words that bash would offer for the last word."""
    asked = {"COMP_WORDS": " ".join(["arena", *words]), "COMP_CWORD": str(len(words))}
    answer = CliRunner().invoke(main, env={"_ARENA_COMPLETE": "bash_complete", **asked})
    assert not answer.stderr
    return answer.stdout.split()


def _run(program: Path, more: dict[str, str], *arguments: str) -> str:
    said = subprocess.run(  # noqa: S603 - our own program
        [program, *arguments], env=os.environ | more, capture_output=True, text=True, check=True, timeout=60
    )
    assert not said.stderr
    return said.stdout


def plain(*names: str) -> list[str]:
    return [f"plain,{name}" for name in names]


def test_a_command_is_completed() -> None:
    assert plain(*(name for name in COMMANDS if name.startswith("re"))) == offered("re")


def test_an_option_and_its_choice_are_completed() -> None:
    assert plain("--isolation") == offered("match", "--isol")
    assert plain("strict", "standard") == offered("match", "--isolation", "st")


@pytest.mark.parametrize(
    "words", [["match"], ["host"], ["regress"], ["games"], ["new-bot", "x", "--game"]], ids=str
)
def test_a_game_is_completed(words: list[str]) -> None:
    assert plain(*(name for name in GAMES if name.startswith("m"))) == offered(*words, "m")


@pytest.mark.parametrize("words", [["match", "mist", "mist_random"], ["regress", "mist", "--head"]], ids=str)
def test_a_bot_is_completed_by_its_name_or_its_folder(words: list[str]) -> None:
    named = [name for name in built_in() if name.startswith("mist_")]
    assert ["dir,mist_", *plain(*named)] == offered(*words, "mist_")


def test_a_variant_is_one_of_the_game_that_is_named() -> None:
    assert plain(*(variant.name for variant in GAMES["mist"].variants)) == [
        word for word in offered("match", "mist", "a", "b", "--variant", "") if word.startswith("plain")
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_given_its_script(shell: str) -> None:
    assert f"_ARENA_COMPLETE={shell}_complete" in _run(ARENA, {"_ARENA_COMPLETE": f"{shell}_source"})


def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash, "the scripts of this project need it, too"
    typed = (
        f'PATH={ARENA.parent}:$PATH; eval "$(_ARENA_COMPLETE=bash_source arena)"; complete -p arena;'
        " COMP_WORDS=(arena doc); COMP_CWORD=1; _arena_completion arena; echo ${COMPREPLY[@]}"
    )
    said = subprocess.run(  # noqa: S603 - bash, and our text
        [bash, "-c", typed], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert ["complete -o nosort -F _arena_completion arena", "doctor"] == said.stdout.splitlines()
