"""A regression test for CI systems: JUnit XML, and the places in a bot's files where it went wrong."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from arena.regression.model import UsageFinding
from arena.regression.options import RegressionOptions, regression_of
from arena.reports.regression import LONGEST, finding_junit, unplayed_junit
from arena.reports.standings import problem, problems_of
from arena.statistics.anytime import UsageLimit, UsageState
from arena.statistics.sprt import SprtVerdict
from arena.statistics.summary import BotReport, Loss
from referee.bot_folder import BotFolder
from referee.match.seat_report import SeatReport
from referee.match.terms import Policy
from tests.arena.reports.test_regression import ALL_LOST, NEVER, WON, found, two

HOSTILE = 'x"/><failure/>]]>&amp;\x1b[2J\x00\ud800\ufffe\n::error::' + "y" * 9_000
SLOW = UsageFinding(
    UsageLimit(resource="time", most=1.2), UsageState(verdict=SprtVerdict.REJECTED, blocks=7), (1.5, 1.4, 1.6)
)


def cases(content: bytes) -> dict[str, str]:
    """By test case: the tag that says how it came out, or nothing if it passed."""
    whole = ET.fromstring(content)  # noqa: S314 - our own
    return {case.attrib["name"]: "".join(child.tag for child in case) for case in whole.iter("testcase")}


def counts(content: bytes) -> list[str]:
    suite = ET.fromstring(content).find("testsuite")  # noqa: S314 - our own
    assert suite is not None
    return [suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")]


def test_each_question_is_a_test_case() -> None:
    content = finding_junit(two(slower=1.2), found(WON, usage=(SLOW,)))
    slow = "processor time per move: at most 1.2 times base's"
    assert {"head starts": "", "strength": "", slow: "failure"} == cases(content)
    assert ["3", "1", "0", "0"] == counts(content)
    assert b"head wins 10 of 20 and draws 4" in content


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [(SprtVerdict.ACCEPTED, ""), (SprtVerdict.REJECTED, "failure"), (SprtVerdict.UNDECIDED, "skipped")],
)
def test_an_undecided_test_is_skipped_and_a_rejected_one_failed(verdict: SprtVerdict, tag: str) -> None:
    content = finding_junit(two(), found(replace(ALL_LOST, verdict=verdict)))
    assert {"head starts": "", "strength": tag} == cases(content)


def test_a_head_that_cannot_start_fails() -> None:
    content = unplayed_junit(two(), SprtVerdict.REJECTED, "rejected: head never started")
    assert {"head starts": "failure"} == cases(content)
    assert {"strength": "skipped"} == cases(unplayed_junit(two(), SprtVerdict.UNDECIDED, "the same content"))


def test_output_of_bots_stays_text_and_is_bounded() -> None:
    loss = Loss(cause=HOSTILE, never_started=False, matches=3, last_line=HOSTILE, log="")
    report = BotReport(matches=3, lost=3, losses=(loss,) * 50, log="m.log")
    content = finding_junit(two(), found(WON, reports=(BotReport(), report)))
    assert ["2", "0", "0", "0"] == counts(content)
    assert len(content) < 70 * LONGEST
    assert not any(bad in content for bad in (b"\x1b", b"\x00", b"\n::error::"))


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine"
    (folder / "lib").mkdir(parents=True)
    settings = ['name = "m"', 'version = "1"', 'command = ["python", "bot.py"]', 'games = ["mist"]']
    (folder / "bot.toml").write_text("\n".join(settings))
    for name in ("bot.py", "lib/search.py", "bot.c"):
        (folder / name).write_text("\n")
    (tmp_path / "outside.py").write_text("\n")
    regression = regression_of(RegressionOptions(game="mist", base="mist_random", head="mine", policy=Policy()))
    return regression.arena.folders[1]


@pytest.mark.parametrize(
    ("text", "file", "line"),
    [
        ("it exited; last line: SyntaxError: invalid syntax (bot.py:34); logs: x", "mine/bot.py", 34),
        ("KeyError: 'x' (lib/search.py:7)", "mine/lib/search.py", 7),
        ("bot.c:12:5: error: expected ';'", "mine/bot.c", 12),
        ("ValueError: no (nothere.py:3)", None, None),
        ("ValueError: (../outside.py:3)", None, None),
        ("ValueError: (/etc/passwd:3)", None, None),
        ("out of memory", None, None),
    ],
)
def test_a_problem_has_the_place_that_its_text_names_in_the_bots_folder(
    bot: BotFolder, text: str, file: str | None, line: int | None
) -> None:
    made = problem("head", bot, text)
    assert (file, line) == (made.file, made.line)


def test_a_bots_problems_are_its_losses_or_its_last_error(bot: BotFolder) -> None:
    (lost,) = problems_of("head", bot, NEVER)
    assert "never started: SyntaxError: invalid syntax (bot.py:21) in 14 of 14 matches" == lost.text
    assert ("mine/bot.py", 21) == (lost.file, lost.line)
    fell = BotReport(matches=2, total=SeatReport(asked_default=9, last_line="KeyError: 1 (bot.py:5)"))
    (asked,) = problems_of("head", bot, fell)
    assert "asked for the default in 9 windows; last line: KeyError: 1 (bot.py:5)" == asked.text
    assert [] == problems_of("head", bot, BotReport())
