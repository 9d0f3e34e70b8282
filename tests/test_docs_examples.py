"""The documentation's examples do what it says: messages decode, scenarios come out so, bots play, commands exist.

A page says what to do with a block behind its opening fence: ```` ```json hears ````.
"""

import json
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from functools import partial
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import Mock

import click
import msgspec
import pytest
from click.testing import CliRunner

from arena.commands.main import main as arena
from arena.commands.new_bot import FIRST_STEPS
from arena.config.season_file import read_season
from arena.config.tournament_file import read_tournament
from arena.options import clock_text
from arena.schedule.formats import FORMATS as FORMATS_OF_PAIRS
from arena.statistics import points
from bots import kit
from bots.kit import FunctionBot
from protocol.codec import decode_client_message, decode_server_message, encode
from protocol.feed import FeedMessage
from referee.adjudication.adjudicate import adjudicate_line
from referee.bot_folder import FILE
from referee.bot_folder.manifest import BotFile
from referee.bot_folder.strict_toml import read_toml
from referee.games import GAMES
from referee.match.records import Header, In, Out
from referee.transcript.reader import read_transcript, verify_transcript
from referee.transcript.replayer import replay
from tests.bots.in_process import BOTS, MIST_BOTS, MIST_VARIANTS
from tests.bots.in_process import play as play_in_process
from tests.docs_pages import HOUSE, PAGES, Block, blocks, blocks_of, name, prose, words

EXAMPLE = HOUSE / "docs/examples/three-turns.jsonl"
"""`scripts/arena match mist mist_random mist_hunter --seed 7 --options '{"max_turns": 3}'`, as it was played."""

DEMOS = sorted((HOUSE / "docs/examples/demo").glob("*.toml"))
FORMATS = sorted((HOUSE / "docs/examples/formats").glob("*.toml"))


def each(info: str) -> pytest.MarkDecorator:
    """Parametrise a test by all such blocks; there is at least one."""
    found = blocks(info)
    assert found, f"no page has a block {info!r}"
    return pytest.mark.parametrize("block", found, ids=[f"{name(one.page)}-{n}" for n, one in enumerate(found)])


def test_a_transcript_verifies_as_its_page_describes() -> None:
    """`prev` takes the line's newline in, the seal leaves it out."""
    lines = EXAMPLE.read_bytes().splitlines(keepends=True)
    prev = "0" * 64
    for line in lines:
        assert prev == json.loads(line)["prev"]
        prev = sha256(line).hexdigest()
    unsealed, seal = re.fullmatch(rb'(.*),"seal":"([0-9a-f]{64})"}\n', lines[-1]).groups()  # type: ignore[union-attr]
    assert sha256(unsealed + b"}").hexdigest() == seal.decode()
    shown = "tail -n 1 FILE | tr -d '\\n' | sed 's/,\"seal\":\"[0-9a-f]*\"}$/}/' | sha256sum"
    assert shown in (HOUSE / "docs/transcript.md").read_text()
    command = shown.replace("FILE", shlex.quote(str(EXAMPLE)))
    printed = subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout  # noqa: S602
    assert seal.decode() == printed.split()[0]


def improved(game: str, folder: Path) -> Path:
    """Make a new bot, and change it as the game's page says; return its program."""
    assert CliRunner().invoke(arena, ["new-bot", str(folder), "--game", game]).exit_code == 0
    page, program = HOUSE / f"docs/games/{game.replace('-', '_')}.md", folder / "bot.py"
    text = program.read_text()
    for block in blocks_of(page, "python improves"):
        text = text.replace("\n\n\ndef decide", f"\n\n{block.text}\n\ndef decide")
    for block in blocks_of(page, "diff improves"):
        lines = block.text.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line.startswith("-"))
        assert 1 == text.count(old), f"{game}: a new bot has no such lines, or has them twice:\n{old}"
        text = text.replace(old, "".join(line[1:] for line in lines if line.startswith("+")))
    program.write_text(text)
    return program


GAINS = [("mist", 20, 0.75), ("hive-mind", 15, 0.7), ("pointing", 60, 0.62), ("fight-for-a-name", 39, 0.58)]
"""Game, matches, and the mean points that a bot must have which random bots have 0.5 of."""
GAINS += [("runes-to-ruins", 20, 0.7)]


class TestImprovements:
    def test_every_game_has_a_first_improvement(self) -> None:
        assert set(FIRST_STEPS) == {game for game, _, _ in GAINS} <= set(GAMES)

    @pytest.mark.parametrize(("game", "matches", "least"), GAINS)
    def test_a_new_bot_so_changed_clearly_beats_random_ones(
        self, game: str, matches: int, least: float, tmp_path: Path
    ) -> None:
        """In every variant, from each seat in turn, and always legally: a refused action would raise."""
        decide = runpy.run_path(str(improved(game, tmp_path / "mine")))["decide"]
        for variant in GAMES[game].variants:
            seats = GAMES[game].seats(GAMES[game].read_options(variant.name, None))
            gained = []
            for seed in range(matches):
                makers = tuple(
                    BOTS[game]["random"] if seat != seed % seats else partial(FunctionBot, decide)
                    for seat in range(seats)
                )
                outcome = play_in_process(makers, game=game, variant=variant.name, seed=seed).outcome
                gained.append(points(outcome, seed % seats))
            assert fmean(gained) > least

    @pytest.mark.parametrize("game", FIRST_STEPS)
    def test_it_passes_the_new_bots_own_test(self, game: str, tmp_path: Path) -> None:
        program = improved(game, tmp_path / "mine")
        own = program.parent / "test_bot.py"
        subprocess.run([sys.executable, "-m", "pytest", "-q", str(own)], check=True, capture_output=True)  # noqa: S603

    def test_a_new_bot_names_the_page_that_has_it(self, tmp_path: Path) -> None:
        for game in FIRST_STEPS:
            CliRunner().invoke(arena, ["new-bot", str(tmp_path / game), "--game", game])
            page = f"docs/games/{game.replace('-', '_')}.md"
            assert f"{page}#a-first-improvement" in (tmp_path / game / "README.md").read_text()
            assert "\n## A first improvement\n" in (HOUSE / page).read_text()


def test_the_python_api_does_what_its_page_shows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {"__name__": "page"}
    for block in blocks_of(HOUSE / "docs/python.md", "python runs"):
        exec(compile(block.text, str(block.page), "exec"), known)  # noqa: S102 - our own page
    assert (tmp_path / "match.html").read_text().startswith("<!doctype html>")
    assert (0, 20) == (known["result"].defaults[0], len(known["results"].results))
    assert "mist_cautious" == known["best"].bot
    assert sum(known["slow"].defaults) > 0
    assert "95 % interval" in capsys.readouterr().out


class TestMessages:
    @each("json says")
    def test_client_messages_of_the_examples_are_understood(self, block: Block) -> None:
        for line in block.text.splitlines():
            assert json.loads(line)["type"] == type(decode_client_message(line.encode())).__struct_config__.tag

    @each("json hears")
    def test_server_messages_of_the_examples_have_all_their_fields(self, block: Block) -> None:
        for line in block.text.splitlines():
            assert json.loads(line) == json.loads(encode(decode_server_message(line.encode())))

    @each("json feed")
    def test_feed_messages_of_the_examples_have_all_their_fields(self, block: Block) -> None:
        for line in block.text.splitlines():
            assert json.loads(line) == json.loads(encode(msgspec.json.decode(line.encode(), type=FeedMessage)))

    @each("wire seat 1")
    def test_the_excerpt_is_what_seat_1_said_and_heard_in_the_example(self, block: Block) -> None:
        said = [
            f"> {record.frame}" if isinstance(record, In) else f"< {bytes(record.frame).decode()}"
            for record in read_transcript(EXAMPLE)
            if isinstance(record, In | Out) and record.seat == 1
        ]
        shown = block.text.splitlines()
        assert len(shown) > 5
        assert said[: len(shown)] == shown


class TestScenarios:
    @each("json scenario")
    def test_a_scenario_comes_out_as_the_page_says(self, block: Block) -> None:
        result = json.loads(adjudicate_line(block.text.encode()))
        here = blocks_of(block.page, "json (scenario|gives|step)")
        after = here[here.index(block) + 1 :]
        mine = list(takewhile(lambda one: one.info != "json scenario", after))
        assert mine, "the page does not say what comes out"
        for shown in mine:
            if shown.info == "json gives":
                assert json.loads(shown.text) == result
            else:
                step, seat = re.fullmatch(r"json step (\d+) told (\d)", shown.info).groups()  # type: ignore[union-attr]
                assert json.loads(shown.text) in result["steps"][int(step)]["told"][seat]


class TestTranscript:
    def test_the_example_holds_and_the_rules_lead_to_every_line_of_it(self) -> None:
        verified = verify_transcript(EXAMPLE)
        assert replay(read_transcript(EXAMPLE)).match.over
        (shown,) = [one for one in blocks("console") if "$ scripts/arena replay" in one.text]
        assert isinstance(verified.header, Header)
        for fact in (
            f"holds, {verified.lines} lines",
            f"head {verified.head}",
            f"match {verified.header.match},",
        ):
            assert fact in shown.text

    def test_the_line_that_is_shown_is_a_line_of_it(self) -> None:
        (shown,) = blocks("json line")
        assert EXAMPLE.read_text().splitlines()[int(shown.info.split()[-1]) - 1] == shown.text.strip()


class TestToml:
    @each("toml bot")
    def test_a_bot_toml_is_one(self, block: Block, tmp_path: Path) -> None:
        (tmp_path / FILE).write_text(block.text)
        assert ("mist",) == read_toml(tmp_path / FILE, BotFile).games

    @each("toml season")
    def test_a_seasons_file_is_one(self, block: Block, tmp_path: Path) -> None:
        (tmp_path / "league.toml").write_text(block.text)
        names = [stage.name for stage in read_season(tmp_path / "league.toml").stages]
        assert names in (["groups", "final", "plate"], ["ladder", "final"])

    def test_the_season_of_the_examples_says_what_it_is_and_where_its_results_are(self) -> None:
        file = HOUSE / "docs/examples/season/league.toml"
        assert HOUSE / "runs/league" == read_season(file).results
        assert file.read_text().startswith("# ")

    @each("toml tournament")
    def test_a_tournaments_file_is_one(self, block: Block, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").write_text(block.text)
        written = tomllib.loads(block.text)
        for bot in written["bots"]:
            if bot.startswith("remote:"):
                key = (tmp_path / bot.removeprefix("remote:")).with_suffix("")
                key.parent.mkdir(exist_ok=True)
                assert CliRunner().invoke(arena, ["keys", str(key)]).exit_code == 0
            elif not (HOUSE / "bots" / bot).exists():  # the reader's own
                made = ["new-bot", str(tmp_path / bot), "--game", written["game"]]
                assert CliRunner().invoke(arena, made).exit_code == 0
        assert 2 <= len(read_tournament(tmp_path / "mine.toml").bots)

    def test_there_is_a_tournament_of_each_format_of_pairs_that_the_page_tells_of(self) -> None:
        told = {read_tournament(file).form.format for file in FORMATS}
        assert FORMATS_OF_PAIRS.keys() - {"round_robin"} == told

    @pytest.mark.parametrize("file", FORMATS, ids=lambda file: file.name)
    def test_each_tournament_of_a_format_is_of_the_one_it_is_named_after(self, file: Path) -> None:
        tournament = read_tournament(file)
        assert file.stem == tournament.form.format
        assert HOUSE / "runs/formats" / file.stem == tournament.results
        assert file.read_text().startswith("# ")

    def test_the_competitions_file_is_the_one_that_the_page_shows_and_is_strict_with_everyone(self) -> None:
        file = HOUSE / "docs/examples/competition/cup.toml"
        page = HOUSE / "docs/competition.md"
        assert [file.read_text()] == [block.text for block in blocks_of(page, "toml tournament")]
        tournament = read_tournament(file)
        form = tournament.form
        assert (None, "strict", False, "void") == (
            form.seed,
            form.isolation,
            form.policy.ponder,
            form.policy.unfair,
        )
        assert HOUSE / "runs/cup" == tournament.results

    @each("toml clock")
    def test_a_clock_is_what_the_command_prints(self, block: Block) -> None:
        assert clock_text(GAMES["mist"], "heaven-and-hell") == block.text

    @pytest.mark.parametrize("file", DEMOS, ids=lambda file: file.name)
    def test_each_tournament_of_the_demo_is_of_the_game_it_is_named_after_and_says_what_it_is(
        self, file: Path
    ) -> None:
        tournament = read_tournament(file)
        assert file.stem == tournament.form.game
        assert HOUSE / "runs/demo" / file.stem == tournament.results
        assert file.read_text().startswith("# ")


class TestBots:
    @pytest.mark.parametrize("variant", MIST_VARIANTS)
    @pytest.mark.parametrize(
        "info", ["python ten-line bot", "python class bot", "python early bot", "python rules bot"]
    )
    def test_a_bot_of_the_pages_plays_a_legal_match(
        self, info: str, variant: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(kit, "run", run := Mock())
        exec(compile(blocks(info)[0].text, info, "exec"), {"__name__": "__main__"})  # noqa: S102 - it is ours
        (bot,) = run.call_args.args
        made = bot if isinstance(bot, kit.Bot) else kit.FunctionBot(bot)
        played = play_in_process((lambda: made, MIST_BOTS["hunter"]), variant=variant, seed=5)
        assert min(played.windows) > 1

    def test_the_rules_are_played_as_the_page_shows(self, capsys: pytest.CaptureFixture[str]) -> None:
        (block,) = blocks("python rules$")
        known: dict[str, Any] = {"__name__": "page"}
        exec(compile(block.text, "page", "exec"), known)  # noqa: S102 - our own page
        assert 0 == known["owed"].seat
        assert "first_move=('C3',)" in capsys.readouterr().out

    def test_the_ten_line_bot_has_ten_lines(self) -> None:
        (bot,) = blocks("python ten-line bot")
        assert 10 == len([line for line in bot.text.splitlines() if line])


def _commands() -> list[str]:
    """Every command of this project that a page tells its reader to run."""
    lines = [line for info in ("sh", "console") for block in blocks(info) for line in block.text.splitlines()]
    lines += [word for each in PAGES for word in words(prose(each.read_text()))]
    return sorted({line.removeprefix("$ ") for line in lines if re.match(r"(\$ )?scripts/\w+( |$)", line)})


def test_every_command_of_the_pages_is_there_with_its_options() -> None:
    lines = _commands()
    assert lines
    for one in (one for line in lines for one in line.split("&&")):
        script, *given = shlex.split(one, comments=True)
        assert (HOUSE / script).exists(), one
        if script == "scripts/arena" and given and given[0] not in ("ARGS…", "--help", "--version"):
            context = click.Context(arena)
            command = arena.get_command(context, given[0])
            assert command is not None, f"there is no command {given[0]}"
            if isinstance(command, click.Group) and len(given) > 1:
                command = command.commands.get(given[1], command)
            options = {
                option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
            }
            assert {word.partition("=")[0] for word in given if word.startswith("--")} <= options, one
