"""Regression tests with real bots in real processes, and where their decisions part (`--explain`)."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.errors import DONE, NO, UNDECIDED
from referee.match.records import Header, Out
from referee.transcript.reader import read_transcript
from tests.builders.programs import ROOT, invoke, run_arena
from tests.real_wire.zoo import bad_bot, processes_of

BURNS = "\n\nfrom time import process_time\n"
WEAK, STRONG = "mist_random", "mist_cautious"


def regress(folder: Path, base: str, head: str, *more: str) -> "subprocess.CompletedProcess[str]":
    words = [
        "--seed",
        "5",
        "--elo1",
        "200",
        "--isolation",
        "none",
        "--startup-ms",
        "60000",
        "--keep-bots",
        "--no-check",
        "--json",
    ]
    return run_arena("regress", "mist", "--base", base, "--head", head, "--results", folder, *words, *more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "head", "code", "verdict"), [(WEAK, STRONG, DONE, "accepted"), (STRONG, WEAK, NO, "rejected")]
)
def test_a_better_bot_is_accepted_and_a_worse_one_rejected(
    tmp_path: Path, base: str, head: str, code: int, verdict: str
) -> None:
    done = regress(tmp_path, base, head)
    assert code == done.returncode, done.stderr
    assert verdict == json.loads(done.stdout)["verdict"]


@pytest.mark.slow
def test_a_head_that_computes_longer_for_the_same_moves_is_too_slow(tmp_path: Path) -> None:
    """Both bots play alike, and head burns 20 ms of processor time per move. Base is within the same limit."""
    slow = tmp_path / "slow"
    shutil.copytree(ROOT / "bots" / WEAK, slow)
    bot = slow / "bot.py"
    text = bot.read_text().replace("    view, rng =", "    burn()\n    view, rng =")
    assert "burn()" in text
    burn = "def burn():\n    end = process_time() + 0.02\n    while process_time() < end:\n        pass\n"
    bot.write_text(text.replace("def decide(", f"{burn}\n\ndef decide(").replace("\n\n", BURNS, 1))
    for base, head, verdict in ((WEAK, str(slow), "rejected"), (str(slow), WEAK, "accepted")):
        words = ("--elo1", "20", "--slower", "2", "--blocks", "12")
        done = regress(tmp_path / verdict, base, head, *words)
        found = json.loads(done.stdout)
        assert verdict == found["time"]["verdict"], (found, done.stderr)
        assert (found["time"]["ratio"] > 2) == (verdict == "rejected")


@pytest.mark.slow
def test_a_bot_against_its_own_last_revision_is_undecided_and_goes_on_from_there(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(ROOT / "bots" / WEAK, folder)
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=me", "-c", "user.email=me@here", "commit", "-qm", "1"],
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True)  # noqa: S603, S607 - our own words
    bots = (f"{folder}@HEAD", str(folder))
    short, longer = (
        regress(tmp_path / "results", *bots, "--same-content", "--blocks", blocks) for blocks in ("2", "3")
    )
    assert (UNDECIDED, UNDECIDED) == (short.returncode, longer.returncode), longer.stderr
    first, both = (json.loads(done.stdout)["counts"] for done in (short, longer))
    assert (2, 3) == (sum(first), sum(both))
    assert all(before <= after for before, after in zip(first, both, strict=True)), "what was played stays played"
    assert "at most 6 matches (4 of them played before)" in longer.stderr


SHORT = ("--main-ms", "300", "--options", '{"max_turns": 6}', "--startup-ms", "2000", "--unfair", "note")
"""Matches in which a bot that does nothing costs seconds; how busy the machine is is nobody's matter here."""


def explained(
    folder: Path, base: str, head: str, *more: str, game: str = "mist", isolation: str = "none"
) -> dict[str, Any]:
    """Play one block; return what `explained` of the JSON says."""
    words = [
        "--seed",
        "5",
        "--blocks",
        "1",
        "--startup-ms",
        "60000",
        "--json",
        "--explain",
        "--no-check",
        "--workers",
        "1",
        "--isolation",
    ]
    done = invoke("regress", game, "--base", base, "--head", head, "--results", folder, *words, isolation, *more)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)["explained"]
    assert isinstance(found, dict)
    return found


@pytest.mark.usefixtures("all_walls")
@pytest.mark.parametrize(
    ("game", "bot", "matches", "isolation"),
    [
        ("mist", "mist_hunter", 2, "strict"),
        pytest.param("hive-mind", "hive_mind_random", 5, "strict", marks=pytest.mark.slow),
    ],
)
def test_a_deterministic_bot_never_parts_from_itself(
    tmp_path: Path, game: str, bot: str, matches: int, isolation: str
) -> None:
    found = explained(tmp_path, bot, bot, "--same-content", game=game, isolation=isolation)
    assert (0, matches) == (found["partings"], found["same"]["matches"])
    assert found["asked"] >= matches


@pytest.mark.slow
def test_another_bot_parts_and_the_list_says_where(tmp_path: Path) -> None:
    found = explained(tmp_path, "mist_random", "mist_cautious", "--limit", "1")
    (match,) = found["matches"]
    assert (match["partings"], 0) == (found["partings"], found["left"])
    first = match["decisions"][0]
    assert (True, 0) == (first["parts"], first["window"])
    assert (0.0, 1.0) == (match["base_points"], match["head_points"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        ("crash_later", {"gone": "ended with exit code 1"}),
        ("illegal", {"gone": ""}),
        ("kills_itself", {"gone": "ended by signal 9"}),
        ("never_hello", {"gone": "no hello within the start-up time", "asked": 0}),
        ("wrong_token", {"gone": "wrong-token: this is not the token of ARENA_TOKEN", "asked": 0}),
        ("silent", {"gone": "", "left": 0}),
    ],
)
def test_a_head_that_fails_is_reported_and_asked_about_the_next_match(
    tmp_path: Path, bad: str, expected: dict[str, Any]
) -> None:
    head = str(bad_bot(tmp_path, bad).folder)
    found = explained(tmp_path / "results", "mist_random", head, *SHORT)
    assert 2 == len(found["matches"])
    for match in found["matches"]:
        assert expected == {key: match[key] for key in expected}
    if bad == "illegal":
        assert found["illegal"] == found["asked"] > 0
    if bad == "silent":
        assert found["unanswered"] == found["asked"] > 0


@pytest.mark.slow
def test_no_process_of_a_head_is_left_running(tmp_path: Path) -> None:
    head = bad_bot(tmp_path, "orphans").folder
    found = explained(tmp_path / "results", "mist_random", str(head), *SHORT, isolation="strict")
    assert 2 == len(found["matches"])
    assert [] == processes_of(head)


@pytest.mark.slow
def test_head_hears_what_base_was_told_and_no_other_word_of_the_match(tmp_path: Path) -> None:
    """Byte for byte, but for the answers to its own words; no seed, no setup, nothing of the other seat."""
    head = tmp_path / "listens"
    shutil.copytree(ROOT / "bots/mist_random", head)
    program = (head / "bot.py").read_text()
    recorder = (
        "import sys\nfrom bots.wire import WireLine\n_receive = WireLine.receive\n"
        "def _kept(self):\n    frame = _receive(self)\n"
        "    print(frame.decode() if frame else '', file=sys.stderr, flush=True)\n    return frame\n"
        "WireLine.receive = _kept\n"
    )
    (head / "bot.py").write_text(recorder + program)
    results = tmp_path / "results"
    explained(results, "mist_random", str(head), "--limit", "1")
    (log,) = (results / "explained").iterdir()
    heard = [line for line in log.read_text().splitlines() if line.startswith("{")]
    (transcript,) = (results / "transcripts").glob("00001a-*.jsonl")
    records = list(read_transcript(transcript))
    sent = [bytes(each.frame).decode() for each in records if isinstance(each, Out) and each.seat == 0]
    assert sent == heard
    assert isinstance(records[0], Header)
    assert records[0].bots[0].token not in log.read_text()
