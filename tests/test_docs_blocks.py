"""Every block of code of every page is of a class that a test checks, here or where `CLASSES` says."""

import json
import re
import shlex
import subprocess
import tomllib
from configparser import ConfigParser
from importlib.util import find_spec
from pathlib import Path

import click
import msgspec
import pytest

from arena.commands.main import main as arena
from arena.config.tournament_file import read_tournament
from bots.language_model.player import RequestCost
from protocol.games.fight_for_a_name import FightSetup
from referee.bot_folder import FILE
from referee.bot_folder.manifest import BotFile
from referee.bot_folder.strict_toml import read_toml
from referee.proofs.fuzzing.script import read_script
from tests.docs_pages import HOUSE, Block, all_blocks, blocks, first_words, name, page, section

CLASSES = {
    r"python (runs|learns)": "run, those of a page as one program: test_docs_examples, arena/learning/test_page",
    r"python rules": "run: test_docs_examples",
    r"python (ten-line|class|early|rules) bot": "plays matches: test_docs_examples",
    r"python bare bot": "plays a match in the sandbox: real_wire/test_play",
    r"python subscriber": "run beside a feed: real_wire/test_feed",
    r"(python|diff) improves": "put into a new bot, which must win more: test_docs_examples",
    r"(python (file|line)|toml file|js file) \S+": "built, or put into a copy of the house: test_adding_a_game",
    r"(sh|json) sixth": "run where that is installed: test_adding_a_game",
    r"json (says|hears|feed|scenario|gives|line \d+|step \d+ told \d)": "decoded or played: test_docs_examples",
    r"json sections": "what a round leads to: referee/games/pointing/test_rounds",
    r"json (setup|scene|note|log)": "decoded by what reads it: here",
    r"toml (bot|season|tournament|clock)": "read as the file that it is: test_docs_examples",
    r"toml part of a (bot|tournament)": "read as a part of such a file: here",
    r"(sh|console)": "the shell's grammar, programs and options: here, and of scripts/arena test_docs_examples",
    r"yaml step": "held against the action's inputs: test_github_action",
    r"ini unit": "its sections, its command, and what lets it make control groups: here",
    r"nginx": "its grammar, and the port that is served: here",
    r"wire seat 1": "what the example's transcript has: test_docs_examples",
    r"(board|runes)": "drawn from the code: test_docs, test_docs_runes",
    r"text": "what a program prints, a drawing or a list of folders: nothing that somebody copies",
}
"""What may stand behind the opening fence of a block, and how that is checked."""
SYSTEM = {"aws", "cd", "cp", "do", "done", "echo", "export", "for", "git", "jq", "mv", "perf", "pip", "printf"}
SYSTEM |= {"curl", "python", "python3", "rsync", "systemd-run", "tail", "tar"}
"""Programs of the reader's machine, and words of the shell, with which commands of the pages begin."""
OWN = {".venv/bin/dask", "~/arena/bin/pip", "arena"}
"""Those of an environment that the page has had made."""
TOURNAMENT = 'game = "mist"\nbots = ["mist_random", "mist_cautious"]\nblocks = 1\n'
BOT = 'name = "my-bot"\nversion = "0.1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'


def place(block: Block) -> str:
    return f"{name(block.page)}-{block.line}"


def of(info: str) -> pytest.MarkDecorator:
    """Parametrise a test by all such blocks."""
    found = blocks(info)
    assert found, f"no page has a block {info!r}"
    return pytest.mark.parametrize("block", found, ids=place)


@pytest.mark.parametrize("block", all_blocks(), ids=place)
def test_each_block_has_a_tag_that_says_how_it_is_checked(block: Block) -> None:
    classes = [each for each in CLASSES if re.fullmatch(each, block.info)]
    assert 1 == len(classes), f"{block.info!r}: see CLASSES in this file for what there is"


@pytest.mark.parametrize("info", ["", "python", "toml", "json", "yaml", "python runs here", "text of a log"])
def test_a_block_without_a_class_is_found(info: str) -> None:
    assert not [each for each in CLASSES if re.fullmatch(each, info)]


def test_each_class_is_in_use_and_its_tests_are_there() -> None:
    used = {block.info for block in all_blocks()}
    for pattern, how in CLASSES.items():
        assert [info for info in used if re.fullmatch(pattern, info)], f"no page has a block {pattern}"
        for test in re.findall(r"\b((?:\w+/)*test_\w+)", how):
            assert (HOUSE / "tests" / f"{test}.py").exists(), test


class TestToml:
    @of("toml part of a bot")
    def test_a_part_of_a_bots_file_is_read_in_its_place(self, block: Block, tmp_path: Path) -> None:
        given = tomllib.loads(block.text)
        base = "".join(line for line in BOT.splitlines(keepends=True) if line.split()[0] not in given)
        (tmp_path / FILE).write_text(base + block.text)
        read = json.loads(msgspec.json.encode(read_toml(tmp_path / FILE, BotFile)))
        for key, value in given.items():
            assert read[key] == (read[key] | value if isinstance(value, dict) else value)

    @of("toml part of a tournament")
    def test_a_part_of_a_tournaments_file_is_read_in_its_place(self, block: Block, tmp_path: Path) -> None:
        file = tmp_path / "cup.toml"
        # A key of no table stands before all tables.
        is_table = block.text.startswith("[")
        file.write_text(TOURNAMENT + block.text if is_table else block.text + TOURNAMENT)
        assert 2 == len(read_tournament(file).bots)


class TestUnit:
    @of("ini unit")
    def test_a_unit_runs_a_command_of_the_arena_and_may_make_control_groups(self, block: Block) -> None:
        unit = ConfigParser(interpolation=None)
        unit.optionxform = str  # type: ignore[assignment,method-assign]  # names of keys as they stand
        unit.read_string(block.text)
        assert ["Unit", "Service", "Install"] == unit.sections()
        service = unit["Service"]
        assert ("yes", "arena") == (service["Delegate"], service["User"])
        program, *words = shlex.split(service["ExecStart"])
        assert program == f"{service['WorkingDirectory']}/scripts/arena"
        assert arena.get_command(click.Context(arena), words[0]) is not None


class TestJson:
    @of("json setup")
    def test_a_setup_has_the_words_of_its_game(self, block: Block) -> None:
        """It is cut: the page says how many hexes, titles and pillars a whole one has."""
        setup = msgspec.json.decode(block.text, type=FightSetup)
        assert list(json.loads(block.text)) == list(FightSetup.__struct_fields__)
        assert setup.challenge.numbers

    @of("json scene")
    def test_a_script_of_times_is_one(self, block: Block) -> None:
        assert read_script(block.text.encode()).steps

    @of("json note")
    def test_a_note_has_what_a_model_s_seat_writes(self, block: Block) -> None:
        (told,) = json.loads(block.text).values()
        counts = set(RequestCost.__struct_fields__)
        assert counts <= set(told)
        assert counts <= set(told["match"])

    @of("json log")
    def test_a_line_of_the_log_has_an_event_that_the_page_lists(self, block: Block) -> None:
        events = first_words(section(page("docs/operating.md"), "Events"))
        for line in block.text.splitlines():
            assert json.loads(line)["event"] in events


def commands(block: Block) -> list[str]:
    """Return the commands of a block, without comments, a line each."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.info == "console":
        return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


class TestShell:
    @of("sh")
    def test_a_shell_reads_it(self, block: Block) -> None:
        done = subprocess.run(["sh", "-n"], input=block.text, capture_output=True, text=True, check=False)  # noqa: S607
        assert (0, "") == (done.returncode, done.stderr)

    @of("(sh|console)")
    def test_each_command_begins_with_a_program_that_its_reader_has(self, block: Block) -> None:
        for line in commands(block):
            if line.startswith((" ", "|")):
                continue  # it goes on with the command before
            first, *words = line.split()
            assert first in SYSTEM | OWN or (HOUSE / first).is_file(), line
            if first.startswith("python") and "-m" in words:
                module = words[words.index("-m") + 1]
                assert find_spec(module) is not None, line

    @of("sh")
    def test_each_command_of_an_installed_arena_has_its_options(self, block: Block) -> None:
        for line in commands(block):
            if line.startswith("arena "):
                _, verb, *given = shlex.split(line, comments=True)
                command: click.Command | None = arena
                if verb.startswith("--"):
                    given = [verb, *given]
                else:
                    command = arena.get_command(click.Context(arena), verb)
                assert command is not None, line
                options = {option for parameter in command.params for option in parameter.opts}
                assert {word.partition("=")[0] for word in given if word.startswith("--")} <= options, line


@of("nginx")
def test_a_proxy_s_lines_are_whole_and_lead_to_the_port_that_is_served(block: Block) -> None:
    for line in block.text.splitlines():
        assert re.fullmatch(r"\s*([^;{}#]+;|[^;{}#]+\{|\})", line), line
    assert block.text.count("{") == block.text.count("}")
    serve = arena.get_command(click.Context(arena), "serve")
    assert serve is not None
    (port,) = (parameter.default for parameter in serve.params if parameter.name == "port")
    assert f"proxy_pass http://127.0.0.1:{port};" in block.text
