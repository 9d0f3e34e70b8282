"""`arena check` with bots in processes: what is wrong is said, and a bot that hangs costs its start-up time."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.commands.main import main
from arena.errors import DONE, NO

MANIFEST = 'name = "m"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
PROGRAMS = {
    "syntax": "def x(:\n",
    "hangs": "import time\ntime.sleep(100)\n",
    "illegal": "from bots.kit import run\nrun(lambda window: {'cells': ['J9']})\n",
}


def test_each_bot_is_told_what_is_wrong_with_it(tmp_path: Path) -> None:
    for name, program in PROGRAMS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(MANIFEST)
        (tmp_path / name / "bot.py").write_text(program)
    file = tmp_path / "cup.toml"
    bots = json.dumps(["mist_random", *PROGRAMS])
    file.write_text(f'game = "mist"\nbots = {bots}\nisolation = "none"\npolicy.startup_ms = 2000\n')
    ended = CliRunner().invoke(main, ["check", str(file), "--results", str(tmp_path / "check"), "--json"])
    found = {each["bot"]: each for each in json.loads(ended.stdout)["bots"]}
    assert NO == ended.exit_code
    assert [True, False, False, False] == [each["well"] for each in found.values()]
    assert "SyntaxError: invalid syntax (bot.py:1)" in found["syntax"]["broken"]
    assert found["hangs"]["broken"].startswith("never started: no hello in 2 s")
    illegal = found["illegal"]
    assert None is illegal["broken"]
    assert illegal["windows"] == illegal["lost"] == illegal["asked_default"] > 0
    assert Path(found["syntax"]["logs"][0]).read_text().endswith("SyntaxError: invalid syntax\n")


@pytest.mark.slow
def test_of_a_season_all_bots_are_checked_under_the_terms_of_its_first_stage(tmp_path: Path) -> None:
    file = tmp_path / "league.toml"
    file.write_text(
        'game = "mist"\nbots = ["mist_random", "mist_hunter"]\nisolation = "none"\n'
        '[[stages]]\nname = "all"\n[[stages]]\nname = "final"\ntop = 2\n'
    )
    ended = CliRunner().invoke(main, ["check", str(file), "--results", str(tmp_path / "check"), "--json"])
    assert DONE == ended.exit_code, ended.stderr
    found = json.loads(ended.stdout)
    assert ["mist_random", "mist_hunter"] == [each["bot"] for each in found["bots"]]
    assert found["starts"]
    assert found["forecast"] is found["design"] is None
