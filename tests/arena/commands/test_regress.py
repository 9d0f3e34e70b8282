"""`arena regress` at the command line: exit codes, output, what is wrong named."""

import json
import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
import trio
from click.testing import Result as Ended
from msgspec.structs import replace

from arena.errors import DONE, NO, UNDECIDED, WRONG_USE, WrongUse
from arena.regression.decision_diff import DecisionDiff
from arena.workers.api import Worker
from referee.host.plan import AttemptResult, Plan
from referee.host.players import SandboxedBot
from tests.arena.regression.test_decision_diff import PARTED, SAME
from tests.arena.stand_in import outcome, result
from tests.builders.command_line import arena

TWIN = 'name = "twin"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
CODES = {"accepted": DONE, "rejected": NO, "undecided": UNDECIDED}


class Decided:
    """Plays matches of which head always gets as much: all, nothing, or a half."""

    def __init__(self, verdict: str) -> None:
        self._verdict = verdict

    async def __call__(self, plan: Plan, players: Sequence[SandboxedBot], *, transcript: Path) -> AttemptResult:
        """See `referee.host.one_match.play`."""
        await trio.lowlevel.checkpoint()
        names = [player.folder.given for player in players]
        head = names.index("mist_hunter")
        ranking = {
            "accepted": ((head,), (1 - head,)),
            "rejected": ((1 - head,), (head,)),
            "undecided": ((0, 1),),
        }
        return replace(result(plan, names, transcript), outcome=outcome(*ranking[self._verdict]))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def regress(monkeypatch: pytest.MonkeyPatch, verdict: str, *more: str) -> Ended:
    """Run a test that ends with this verdict, played by a stand-in."""
    workers = [Worker(play=Decided(verdict), slots=2)]
    monkeypatch.setattr("arena.workers.placement.open_pool", lambda _slots, **_: nullcontext(workers))
    words = [
        "regress",
        "mist",
        "--base",
        "mist_random",
        "--head",
        "mist_hunter",
        "--elo1",
        "100",
        "--no-check",
        *more,
    ]
    return arena(*words)


@pytest.mark.parametrize("verdict", CODES)
def test_the_exit_code_is_the_verdict_and_the_json_names_it(monkeypatch: pytest.MonkeyPatch, verdict: str) -> None:
    result = regress(monkeypatch, verdict, "--blocks", "15", "--json")
    found = json.loads(result.stdout)
    assert (CODES[verdict], verdict) == (result.exit_code, found["verdict"])
    assert found["blocks"] == sum(found["counts"])
    assert found["elo"]["low"] is None or found["elo"]["low"] < (found["elo"]["elo"] or 1e9)


def test_the_counts_the_ratio_and_the_interval_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    told = regress(monkeypatch, "accepted").stdout
    assert told.startswith("head wins 20 of 20; at least +")
    assert "\naccepted: head is better, after 20 of at most 80,000 matches\n" in told
    assert "LLR 3.20 (-2.94 to 2.94), 20 of 20 points\n" in told
    assert "blocks with 0, 0.5, 1, 1.5 and 2 points: 0, 0, 0, 0, 10\n" in told
    assert "H0: +0 Elo, H1: +100 Elo (normalized); alpha 0.05, beta 0.05\n" in told
    assert "head (mist_hunter)" in told


def test_undecided_says_how_to_go_on_and_going_on_does(monkeypatch: pytest.MonkeyPatch) -> None:
    first = regress(monkeypatch, "undecided", "--blocks", "3", "--seed", "1")
    assert first.stderr.endswith("arena: undecided after 6 matches; give more --blocks to continue from here\n")
    again = regress(monkeypatch, "undecided", "--blocks", "5", "--seed", "1")
    assert "at most 10 matches (6 of them played before), isolation strict\n" in again.stderr


def test_every_form_of_the_finding_names_kept_bots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept, page = ("--keep-bots", "--blocks", "3", "--results", str(tmp_path / "kept")), tmp_path / "summary.md"
    told = regress(monkeypatch, "undecided", *kept, "--markdown", str(page))
    assert "bots kept from match to match: base, head\n" in told.stderr
    assert "\nbots kept from match to match, so they may remember earlier ones: base, head\n" in told.stdout
    assert "- bots kept from match to match" in page.read_text()
    assert "kept" == json.loads(regress(monkeypatch, "undecided", *kept, "--json").stdout)["processes"]


def test_a_summary_is_added_to_what_the_file_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "summary.md"
    page.write_text("# Earlier steps\n")
    regress(monkeypatch, "rejected", "--markdown", str(page))
    lines = page.read_text().splitlines()
    assert ["# Earlier steps", "## mist (contractual-obligation): rejected: head is not 100 Elo better"] == lines[
        :2
    ]
    assert "- blocks with 0, 0.5, 1, 1.5 and 2 points: 7, 0, 0, 0, 0" in lines
    assert "| bot | played | W-T-L | mean points | faults | defaults | time per move |" in lines


def test_a_summary_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    result = regress(monkeypatch, "accepted", "--markdown", "nowhere/summary.md")
    assert WRONG_USE == result.exit_code
    assert "arena: nowhere/summary.md: cannot be written: No such file or directory\n" in result.stderr


def test_a_summary_is_never_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "fifo")
    result = regress(monkeypatch, "accepted", "--markdown", str(fifo))
    assert WRONG_USE == result.exit_code
    assert f"arena: {fifo}: cannot be written: No such device or address\n" in result.stderr


@pytest.mark.parametrize("words", [("--elo1", "232"), ("--elo0", "-inf"), ("--alpha", "nan"), ("--elo1", "nan")])
def test_an_impossible_test_is_refused_in_one_line_before_any_match(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, str]
) -> None:
    result = regress(monkeypatch, "accepted", *words)
    assert (WRONG_USE, "", 1) == (result.exit_code, result.stdout, len(result.stderr.splitlines()))
    assert f"arena: {words[0].removeprefix('--')} = " in result.stderr


def test_the_help_names_the_exit_codes() -> None:
    told = " ".join(arena("regress", "--help").stdout.split())
    assert "0 accepted, head is better (or what --question asks); 1 rejected, or head cannot start;" in told
    assert "3 undecided after --blocks, or this machine cannot do it" in told


class TestExplain:
    """What head answers is made up: two matches, of which one parts."""

    @pytest.fixture(autouse=True)
    def answers(self, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, int]]:
        calls: list[dict[str, int]] = []

        def explain(_regression: object, blocks: int, _open: object, **given: int) -> list[DecisionDiff]:
            calls.append({"blocks": blocks, **given})
            return [PARTED, SAME]

        monkeypatch.setattr("arena.commands.regress.explain", explain)
        return calls

    def test_the_tables_follow_the_finding_and_the_exit_code_stays(
        self, monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, int]]
    ) -> None:
        ended = regress(monkeypatch, "rejected", "--explain", "--concurrency", "2")
        assert NO == ended.exit_code
        before, after = ended.stdout.split("transcripts: ")
        assert "rejected: head is not 100 Elo better" in before
        assert "head differs from base in 2 of 4 decisions (50.0%), in 1 of 2 matches\n" in after
        assert '{"name":"b"}' in after
        assert [{"blocks": 7, "at_once": 2, "limit": 20}] == answers

    def test_the_finding_is_printed_even_if_it_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def explain(*_given: object, **_named: object) -> list[DecisionDiff]:
            raise WrongUse("a transcript is not there")

        monkeypatch.setattr("arena.commands.regress.explain", explain)
        ended = regress(monkeypatch, "rejected", "--explain", "--json")
        assert ("rejected", NO) == (json.loads(ended.stdout)["verdict"], ended.exit_code)
        assert "arena: cannot explain the differences: a transcript is not there\n" in ended.stderr

    def test_in_json_it_is_beside_the_verdict(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = json.loads(regress(monkeypatch, "accepted", "--explain", "--json").stdout)
        assert ("accepted", 2, 4) == (
            found["verdict"],
            found["explained"]["partings"],
            found["explained"]["asked"],
        )
        assert "explained" not in json.loads(regress(monkeypatch, "accepted", "--json").stdout)

    def test_in_the_summary_it_is_a_part_of_its_own(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        regress(monkeypatch, "accepted", "--explain", "--markdown", "summary.md")
        headings = [line for line in (tmp_path / "summary.md").read_text().splitlines() if line.startswith("#")]
        assert [
            "## mist (contractual-obligation): accepted: head is better",
            "### Where head differs from base",
        ] == headings

    def test_a_limit_of_matches_is_passed_on_and_means_nothing_alone(
        self, monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, int]]
    ) -> None:
        regress(monkeypatch, "accepted", "--explain", "--limit", "3")
        assert 3 == answers[0]["limit"]
        ended = regress(monkeypatch, "accepted", "--limit", "3")
        assert WRONG_USE == ended.exit_code
        assert ended.stderr.endswith("arena: --limit: has no effect without --explain\n")

    def test_transcripts_must_be_here_to_be_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ended = regress(monkeypatch, "accepted", "--explain", "--transcripts", "memory://elsewhere")
        assert WRONG_USE == ended.exit_code
        assert "--explain: reads transcripts in the results folder; --transcripts puts them" in ended.stderr


@pytest.fixture
def twins(tmp_path: Path) -> tuple[str, str]:
    """Two folders with the same bot."""
    for name in ("old", "new"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.toml").write_text(TWIN)
        (folder / "bot.py").write_text("print()\n")
    return str(tmp_path / "old"), str(tmp_path / "new")


def regress_twins(monkeypatch: pytest.MonkeyPatch, twins: tuple[str, str], *more: str) -> Ended:
    async def tied(plan: Plan, players: Sequence[SandboxedBot], *, transcript: Path) -> AttemptResult:
        await trio.lowlevel.checkpoint()
        names = [player.folder.given for player in players]
        return replace(result(plan, names, transcript), outcome=outcome((0, 1)))

    workers = [Worker(play=tied, slots=2)]
    monkeypatch.setattr("arena.workers.placement.open_pool", lambda _slots, **_: nullcontext(workers))
    base, head = twins
    words = ["regress", "mist", "--base", base, "--head", head, "--no-check", *more]
    return arena(*words)


def test_base_and_head_of_the_same_content_are_said_before_the_first_match(
    monkeypatch: pytest.MonkeyPatch, twins: tuple[str, str], tmp_path: Path
) -> None:
    page = tmp_path / "summary.md"
    ended = regress_twins(monkeypatch, twins, "--json", "--markdown", str(page))
    assert UNDECIDED == ended.exit_code, ended.output
    assert "have the same content, sha256:" in ended.stderr
    assert "up to 80,000 matches" in ended.stderr
    assert "--same-content plays anyway" in ended.stderr
    found = json.loads(ended.stdout)
    assert "undecided" == found["verdict"]
    assert found["same_content"].startswith("sha256:")
    assert "have the same content" in page.read_text()
    assert not (tmp_path / "runs").exists()


def test_same_content_insists(monkeypatch: pytest.MonkeyPatch, twins: tuple[str, str]) -> None:
    ended = regress_twins(monkeypatch, twins, "--same-content", "--blocks", "3", "--json")
    assert UNDECIDED == ended.exit_code
    assert 3 == json.loads(ended.stdout)["blocks"]


def test_the_first_line_is_what_head_won_and_statistics_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = regress(monkeypatch, "accepted").stdout.splitlines()
    assert lines[0].startswith("head wins 20 of 20; at least +")
    assert lines.index("accepted: head is better, after 20 of at most 80,000 matches") < min(
        number for number, line in enumerate(lines) if line.startswith(("H0: ", "LLR "))
    )


def test_a_question_stands_in_place_of_two_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["regress", "mist", "--base", "mist_random", "--head", "mist_hunter", "--no-check", "--blocks", "2"]
    workers = [Worker(play=Decided("undecided"), slots=2)]
    monkeypatch.setattr("arena.workers.placement.open_pool", lambda _slots, **_: nullcontext(workers))
    for name, numbers in (("not-worse", [-20, 0]), ("much-better", [20, 60])):
        ended = arena(*words, "--question", name, "--json")
        test = json.loads(ended.stdout)["test"]
        assert numbers == [test["elo0"], test["elo1"]]
    refused = arena(*words, "--question", "better", "--elo1", "9")
    assert (WRONG_USE, 1) == (refused.exit_code, len(refused.stderr.splitlines()))
    assert "arena: --elo1: cannot be combined with --question" in refused.stderr


def test_junit_says_the_same_as_the_exit_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for verdict, tag in (("accepted", b""), ("rejected", b"<failure"), ("undecided", b"<skipped")):
        results = ("--results", str(tmp_path / verdict), "--junit", str(tmp_path / "junit.xml"), "--blocks", "15")
        assert CODES[verdict] == regress(monkeypatch, verdict, *results).exit_code
        assert tag in (tmp_path / "junit.xml").read_bytes()
    nowhere = regress(monkeypatch, "accepted", "--junit", "nowhere/junit.xml")
    assert WRONG_USE == nowhere.exit_code
    assert "arena: nowhere/junit.xml: cannot be written: No such file or directory\n" in nowhere.stderr


def test_the_json_names_problems_and_keeps_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    found = json.loads(regress(monkeypatch, "accepted", "--json").stdout)
    assert ([], "accepted", "head is better") == (found["problems"], found["strength"], found["answer"])
    before = {"verdict", "game", "variant", "base", "head", "field", "test", "blocks", "limit", "matches"}
    before |= {"difference", "counts", "llr", "bounds", "elo", "seed", "isolation", "processes", "bots", "reports"}
    assert before | {"void", "lost", "seconds", "results"} <= found.keys()
