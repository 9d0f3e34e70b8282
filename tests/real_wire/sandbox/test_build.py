"""The build step: commands make a bot's program once for each content, walled in as the bot itself will be."""

import os
import socket
from pathlib import Path
from textwrap import dedent

import pytest

from referee import bot_build
from referee.bot_build import built, built_folder
from referee.bot_folder import BotFolder, BotFolderError, find_bot
from referee.plan import Isolation

both = pytest.mark.parametrize("isolation", ["strict", "none"])
pytestmark = pytest.mark.usefixtures("sandboxed", "cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what is built is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def bot(tmp_path: Path, script: str, *, limits: str = "", command: str = '["./made"]') -> BotFolder:
    """A bot whose program is made by a shell script."""
    folder = tmp_path / "bot"
    folder.mkdir(exist_ok=True)
    (folder / "build.sh").write_text(dedent(script))
    (folder / "bot.toml").write_text(
        f'name = "b"\nversion = "1"\ncommand = {command}\nbuild = [["sh", "build.sh"]]\ngames = "*"\n'
        f"[build_limits]\n{limits}\n"
    )
    return find_bot(str(folder))


MAKES = "echo '#!/bin/sh' >made; chmod +x made\n"


@both
def test_the_bots_folder_is_then_the_one_that_the_commands_left(tmp_path: Path, isolation: Isolation) -> None:
    made = built(bot(tmp_path, MAKES), isolation)
    assert {"bot.toml", "build.sh", "made"} == {path.name for path in made.folder.iterdir()}
    assert "#!/bin/sh\n" == (made.folder / "made").read_text()
    assert os.access(made.folder / "made", os.X_OK)
    assert {"bot.toml", "build.sh"} == {path.name for path in (tmp_path / "bot").iterdir()}


@both
def test_a_content_is_built_once_and_a_changed_one_again(tmp_path: Path, isolation: Isolation) -> None:
    script = f"{MAKES}date +%N >when\n"
    first, again = (built(bot(tmp_path, script), isolation) for _ in range(2))
    assert first.folder == again.folder
    changed = built(bot(tmp_path, f"{script}# changed\n"), isolation)
    assert first.folder != changed.folder
    assert first.content != changed.content


@both
def test_a_command_that_fails_is_reported_with_its_last_words(tmp_path: Path, isolation: Isolation) -> None:
    wrong = bot(tmp_path, "echo first; echo no such header >&2; exit 4\n")
    with pytest.raises(BotFolderError, match=r"bot: build: exit code 4: first \| no such header"):
        built(wrong, isolation)
    assert not built_folder(wrong).exists()
    assert [] == list(built_folder(wrong).parent.iterdir())


@both
def test_its_last_words_do_nothing_to_the_terminal(tmp_path: Path, isolation: Isolation) -> None:
    wrong = bot(tmp_path, r"printf 'gone\033[2J\007\n'; exit 4" + "\n")
    with pytest.raises(BotFolderError, match=r"exit code 4: gone\\x1b\[2J\\x07$"):
        built(wrong, isolation)


@both
def test_a_program_that_was_not_made_is_reported(tmp_path: Path, isolation: Isolation) -> None:
    with pytest.raises(BotFolderError, match=r"build: \./made was not made"):
        built(bot(tmp_path, "true\n"), isolation)


def test_it_has_no_network_and_sees_no_secrets(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("seed 42")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        made = built(
            bot(
                tmp_path,
                f"""\
                {MAKES}
                cat {secret} >found 2>/dev/null
                python3 -c "import socket; socket.create_connection(('127.0.0.1', {port}), 2)" 2>&1 |
                    grep -qE 'refused|unreachable|not supported' || echo in >>found
                id -u >user
                true
                """,
            ),
            "strict",
        )
    assert "" == (made.folder / "found").read_text()
    assert "0\n" != (made.folder / "user").read_text()


@pytest.mark.parametrize("leaves", ["ln -s /etc/passwd out", "mkfifo pipe", "ln -s ../../../x out"])
def test_what_leads_out_of_the_folder_or_is_no_file_is_not_kept(tmp_path: Path, leaves: str) -> None:
    with pytest.raises(BotFolderError, match="build: what it made cannot be kept"):
        built(bot(tmp_path, f"{MAKES}{leaves}\n"), "strict")


def test_what_it_may_make_is_bounded(tmp_path: Path) -> None:
    script = f"{MAKES}head -c 8000000 /dev/zero >big\n"
    with pytest.raises(BotFolderError, match=r"build: (exit code|ended by|makes more)"):
        built(bot(tmp_path, script, limits="scratch_mb = 4"), "strict")


@both
def test_it_is_ended_when_its_time_is_up(
    tmp_path: Path, isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_build, "BUILD_SECONDS", 0.5)
    with pytest.raises(BotFolderError, match=r"build: takes more than 0\.5 seconds"):
        built(bot(tmp_path, "sleep 600\n"), isolation)
