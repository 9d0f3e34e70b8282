"""What others call their bots is shown as it stands and does nothing in terminals, HTML, Markdown, CSV, JSON."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.progress import Progress

from arena.commands.main import main
from arena.config.tournament_file import read_tournament
from arena.errors import WrongUse
from arena.reports.bracket import ASCII, draw
from arena.reports.files import csv_text, escaped, table_lines
from arena.reports.matches import show_match
from arena.schedule.contract import Tie
from arena.terminal import LONGEST_CELL, Grid, Screen, Words, json_line, shortened, show
from arena.tournament.results_folder import LEDGER
from referee.display_text import printable, printable_name
from referee.host.plan import Plan
from tests.arena.cups import play_cup
from tests.arena.ledgers import OpenLedger
from tests.arena.stand_in import result as match_result
from tests.builders.command_line import arena
from tests.hostile_names import NAMES, entries

SURROGATE = "a\udcffb"
"""A file's name that is not UTF-8, as Python has it."""
ALL = (*NAMES.values(), SURROGATE)


def terminal(width: int = 300) -> tuple[Screen, io.StringIO]:
    out = io.StringIO()
    return Screen(file=out, width=width, force_terminal=True, color_system=None), out


def harmless(text: str) -> bool:
    """Whether it is lines of what can be seen."""
    return all(line == printable(line) for line in text.split("\n"))


def test_a_line_says_it_as_it_stands() -> None:
    for name in ALL:
        screen, out = terminal(20)
        screen.say(f"{name} is connected")
        assert f"{printable(name)} is connected\n" == out.getvalue()


def test_a_printed_text_says_it_line_by_line() -> None:
    for name in ALL:
        screen, out = terminal(1_000)
        screen.print(name)
        assert "\n".join(map(printable, name.split("\n"))).rstrip() == out.getvalue().rstrip("\n").rstrip()


def test_a_table_stays_a_table() -> None:
    for name in ALL:
        screen, out = terminal()
        grid = Grid({"bot": False, f"against {name}": True, "points": True})
        for each in ("mist_random", name, printable_name(name)):
            grid.add_row(each, "7", "17.5")
        show(screen, grid)
        assert harmless(out.getvalue())
        lines = [line for line in out.getvalue().splitlines() if line.strip()]
        assert 5 == len(lines)
        assert 1 == len({cell_len(line) for line in lines[2:]})
        assert lines[3] == lines[4]
        if len(printable_name(name)) < 100:
            assert printable_name(name) in lines[3]


def test_names_in_a_progress_bar_are_shown_as_text() -> None:
    for name in ALL:
        screen, out = terminal()
        with Progress(Words(), console=screen) as bar:
            bar.add_task(name)
        assert printable(name.split("\n", maxsplit=1)[0])[:60] in out.getvalue()


def test_a_played_matchs_result_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ALL:
        plan = Plan(match="m", game="mist", variant="fog", seed=1)
        show_match(match_result(plan, (name, "b"), Path("t.jsonl")), [name, "b"])
        shown = capsys.readouterr().out
        assert harmless(shown)
        assert len(printable_name(name)) > 100 or printable_name(name) in shown


class Reader(HTMLParser):
    """Notes the elements of a page, and the text of each cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_markdown_shows_it_as_it_stands() -> None:
    for name in ALL:
        parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        found = Reader(parser.render(escaped(name)))
        assert found.tags <= {"p", "code"}
        assert printable_name(name) == "".join(found.words).strip("\n")
        found = Reader(parser.render("\n".join(table_lines(("bot", "points"), [(name, "1"), ("b", "2")]))))
        assert found.tags <= {"table", "thead", "tbody", "tr", "th", "td", "code"}
        assert f"bot,points,{printable_name(name)},1,b,2" == re.sub(r"\n+", ",", "".join(found.words).strip("\n"))


def test_a_name_in_markdown_is_no_link_and_mentions_no_user() -> None:
    """As GitHub does, of what CommonMark leaves alone."""
    for name in ALL:
        text = re.sub(r"`@`", "", escaped(name))
        assert not re.search(r"(?<!\\)(?:://|:\w+:|(?<!\w)@\w|@\w+\.)|www\.", text)


def test_no_cell_is_a_formula() -> None:
    for name in ALL:
        text = csv_text([("bot", "elo"), (name, -12.5), ("b", 3)])
        assert harmless(text)
        rows = list(csv.reader(io.StringIO(text)))
        assert [["bot", "elo"], ["b", "3"]] == rows[::2]
        cell, number = rows[1]
        assert "-12.5" == number
        assert cell.removeprefix("'") == printable(name).removeprefix("'")
        assert not re.match(r"\s*[=+\-@|%＝＋－＠]|[\t\r]", cell)  # noqa: RUF001 - see there


def test_programs_get_the_very_name_on_one_harmless_line() -> None:
    for name in NAMES.values():
        text = json_line({name: [name, 1]})
        assert {name: [name, 1]} == json.loads(text)
        assert text == printable(text)


def test_a_bracket_stands_in_columns() -> None:
    for name in ALL:
        tie = Tie(one=0, other=1, points=[2.0, 1.0], tie_breaks=[0, 0], winner=0)
        upper, _, lower = draw([[tie]], [name, "b"], ASCII)
        assert cell_len(upper[: upper.rindex(" -.")]) == cell_len(lower[: lower.rindex(" -'")])


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament of entries with all these names, the first of them against each other; its results."""
    place = tmp_path_factory.mktemp("entries")
    kinds: dict[str, str] = {printable_name(name): name for name in entries()}
    for name in kinds.values():
        (place / name).mkdir()
        (place / name / "bot.toml").write_text(
            'name = "x"\nversion = "1"\ncommand = ["python", "-V"]\ngames = "*"\n'
        )
    file = place / "cup.toml"
    bots = json.dumps([f"./{name}" for name in kinds.values()], ensure_ascii=False).replace("\x7f", "\\u007f")
    file.write_text(f'game = "mist"\nformat = "gauntlet"\nseed = 7\nbots = {bots}\n')
    tournament = read_tournament(file)
    assert list(kinds) == list(tournament.labels)
    play_cup(tournament)
    return place / "runs/cup"


@pytest.mark.slow
def test_every_entry_is_in_every_report(cup: Path, tmp_path: Path) -> None:
    html, table = tmp_path / "page.html", tmp_path / "table.csv"
    shown = arena("report", cup, "--html", html, "--csv", table)
    assert (0, "") == (shown.exit_code, shown.stderr)
    told = arena("report", cup, "--json")
    labels = {printable_name(name) for name in entries()}
    assert labels == {bot["bot"] for bot in json.loads(told.stdout)["bots"]}
    for text in (shown.stdout, told.stdout, html.read_text(), table.read_text()):
        assert harmless(text)
    for label in labels:
        assert cell_len(label) > 60 or label in shown.stdout
    assert {shortened(label, LONGEST_CELL) for label in labels} <= set(Reader(html.read_text()).words)
    cells = [row["bot"] for row in csv.DictReader(table.read_text().splitlines())]
    assert labels == {cell if cell in labels else cell.removeprefix("'") for cell in cells}
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


def test_an_entry_that_is_called_like_the_house_competes(cup: Path) -> None:
    told = json.loads(arena("report", cup, "--json").stdout)
    assert not any(bot["house"] for bot in told["bots"])


def test_transcripts_have_names_that_any_file_system_takes(cup: Path, open_ledger: OpenLedger) -> None:
    ledger = open_ledger(cup / LEDGER)
    names = ledger.transcripts().values()
    ledger.close()
    assert len(names) == 2 * (len({printable_name(name) for name in entries()}) - 1)
    assert all(re.fullmatch(r"[\w.+@-]+", name) and len(name.encode()) < 220 for name in names)


@pytest.mark.parametrize(
    ("bots", "wrong"),
    [
        (
            ["a ", "a\\x20"],
            "bots[1]: 'a\\\\\\\\x20' is the name of bots[0], too; give one of the two another name",
        ),
        (["b", "b (house)"], "fill: 'b (house)' is the name of bots[1], too; give one of the two another name"),
        (
            ["e\u0301", "e\\u0301"],
            "bots[1]: 'e\\\\\\\\u0301' is the name of bots[0], too; give one of the two another name",
        ),
        (["b", "the arena"], "bots[1]: 'the arena' is the name of the arena's own content"),
    ],
)
def test_two_that_would_be_called_the_same_are_refused(tmp_path: Path, bots: list[str], wrong: str) -> None:
    for name in {*bots, "b"}:
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(
            'name = "x"\nversion = "1"\ncommand = ["python", "-V"]\ngames = "*"\n'
        )
    file = tmp_path / "cup.toml"
    file.write_text(f'game = "hive-mind"\nfill = "b"\nbots = {json.dumps(bots)}\n')
    with pytest.raises(WrongUse) as refused:
        read_tournament(file)
    assert refused.value.format_message().endswith(wrong.replace("\\\\", "\\"))


def test_a_word_that_is_not_utf_8_is_refused_before_it_is_written_anywhere(tmp_path: Path) -> None:
    for words in (["match", "mist", SURROGATE, "b"], ["report", f"{tmp_path}/{SURROGATE}"], ["replay", SURROGATE]):
        refused = arena(*words)
        assert 2 == refused.exit_code
        assert r"a\udcffb: is not UTF-8" in refused.stderr
        assert 1 == refused.stderr.count("\n")


def test_a_terminal_that_is_not_of_utf_8_is_shown_what_it_has_no_letters_for() -> None:
    shown = CliRunner(charset="ascii").invoke(main, ["match", "将棋", "b", "c"])
    assert 2 == shown.exit_code
