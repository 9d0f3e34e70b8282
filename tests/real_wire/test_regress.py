"""Regression tests with real bots in real processes: a better bot is accepted, a worse one is not."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from arena.errors import DONE, NO, UNDECIDED
from tests.builders.programs import ROOT, run_arena

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
