"""Files that an editor began with a UTF-8 byte order mark: read as without it, with the same lines named."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.config.season_file import is_season, read_season
from arena.config.tournament_file import entry_place, read_tournament
from arena.errors import WrongUse
from arena.options import clock_text, drawn_setup, read_clock, read_setup
from bots.kit.program import _identity
from bots.kit.testing import _lines
from bots.remote.relay import command_of
from protocol.codec import Refused, decode_client_message
from referee.bot_folder.manifest import BotFolderError, find_bot
from referee.games import GAMES
from referee.match.terms import Policy
from referee.proofs.fuzzing.script import read_script
from referee.transcript.chain import Broken
from referee.transcript.reader import read_transcript
from referee.wire.keys import new_pair, read_public, write_pair

MARK = b"\xef\xbb\xbf"
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CUP = """\
game = "mist"
bots = ["mist_random", "mist_cautious"]
blocks = 3
"""
BOT = 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
SCRIPT = b'{"seats":1,"windows":[{"kind":"turn","seats":[0]}],"main_ms":10,"hello":[0]}'


def marked(file: Path, text: str) -> Path:
    file.write_bytes(MARK + text.encode())
    return file


def complaint(read: Callable[[], object]) -> str:
    with pytest.raises((WrongUse, BotFolderError)) as caught:
        read()
    return str(caught.value)


def test_a_bots_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marked(tmp_path / "bot.toml", BOT)
    (tmp_path / "bot.py").touch()
    assert ("b", ("python", "bot.py")) == ((bot := find_bot(str(tmp_path))).name, bot.command)
    assert "bot.py" == command_of(tmp_path)[-1]
    monkeypatch.chdir(tmp_path)
    assert ("b", "1") == _identity(None, None)


def test_errors_in_a_bots_manifest_name_the_line(tmp_path: Path) -> None:
    (tmp_path / "bot.py").touch()
    marked(tmp_path / "bot.toml", BOT.replace('"python"', '"pythn"'))
    assert "bot.toml:3: command: " in complaint(lambda: find_bot(str(tmp_path)))
    marked(tmp_path / "bot.toml", BOT.replace("version", "virsion"))
    assert "bot.toml:2: virsion: " in complaint(lambda: find_bot(str(tmp_path)))


def test_a_tournaments_file(tmp_path: Path) -> None:
    cup = read_tournament(marked(tmp_path / "cup.toml", CUP))
    assert (("mist_random", "mist_cautious"), 3) == (cup.labels, cup.form.blocks)
    assert f"{tmp_path / 'cup.toml'}:2: bots[1]" == entry_place(cup, 1)
    wrong = marked(tmp_path / "wrong.toml", CUP.replace("mist_cautious", "nobody"))
    assert f"{wrong}:2: bots[1]: " in complaint(lambda: read_tournament(wrong))


def test_a_seasons_file(tmp_path: Path) -> None:
    (file,) = (EXAMPLES / "season").glob("*.toml")
    copy = marked(tmp_path / "season.toml", file.read_text())
    assert is_season(copy)
    assert [stage.name for stage in read_season(file).stages] == [stage.name for stage in read_season(copy).stages]


def test_a_clocks_file(tmp_path: Path) -> None:
    mist = GAMES["mist"]
    text = clock_text(mist, "heaven-and-hell")
    file = marked(tmp_path / "clock.toml", text)
    assert 300_000 == read_clock(file, mist, "heaven-and-hell", Policy()).reserve_ms
    wrong = marked(tmp_path / "wrong.toml", text.replace("reserve_ms", "delay_ms = 5\nreserve_ms"))
    line = text.splitlines().index("reserve_ms = 300000") + 1
    assert f"{wrong}:{line}: " in complaint(lambda: read_clock(wrong, mist, "heaven-and-hell", Policy()))


def test_a_hosts_secrets(tmp_path: Path) -> None:
    game = GAMES["hive-mind"]
    text, options = drawn_setup(game, "gauntlet", 7), game.read_options("gauntlet", None)
    given = read_setup(marked(tmp_path / "setup.json", text), game, "gauntlet", options)
    assert text.encode() == bytes(given)


def test_a_stress_script() -> None:
    assert read_script(SCRIPT) == read_script(MARK + SCRIPT)


def test_a_key(tmp_path: Path) -> None:
    public, _ = write_pair(tmp_path / "anna", new_pair())
    key = read_public(public)
    public.write_bytes(MARK + public.read_bytes())
    assert key == read_public(public)
    only = [line for line in public.read_text().splitlines() if "public-key" in line]
    assert key == read_public(marked(tmp_path / "short.key", only[0].strip() + "\n"))


def test_a_bots_record_of_messages(tmp_path: Path) -> None:
    assert [b"{}", b"[]"] == _lines(marked(tmp_path / "record.jsonl", "{}\n[]\n"))


def test_in_a_transcript_it_is_named_for_it_is_a_change(tmp_path: Path) -> None:
    copy = marked(tmp_path / "match.jsonl", (EXAMPLES / "three-turns.jsonl").read_text())
    with pytest.raises(Broken, match="line 1 begins with a byte order mark"):
        list(read_transcript(copy))


def test_in_a_message_it_is_named() -> None:
    with pytest.raises(Refused, match="begins with a byte order mark"):
        decode_client_message(MARK + b'{"type":"pause"}')


def test_toml_itself_knows_none() -> None:
    """Else this file would prove nothing."""
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads((MARK + CUP.encode()).decode())
