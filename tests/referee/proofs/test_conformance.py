"""The test of the tests: a sound game passes, and every planted leak and fault is caught and named."""

import subprocess
import sys

import msgspec
import pytest

from referee.proofs import conformance
from referee.proofs.conformance import ConformanceError, check_game
from referee.proofs.conformance.sitting import difference
from referee.rules import AnyGame
from tests.referee.proofs.planted_faults import FAULTS
from tests.referee.proofs.planted_leaks import FEED_LEAKS, LEAKS, FeedLeak
from tests.referee.proofs.planting import assert_caught
from tests.referee.toy import Cups

FEW = range(12)
PLANTED = LEAKS | {planted.__name__: (planted, promise) for planted, promise in FAULTS.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("planted", "promise"), PLANTED.values(), ids=PLANTED)
def test_planted_faults_are_caught_and_named(planted: type[AnyGame], promise: str) -> None:
    assert_caught(planted, promise, FEW)


@pytest.mark.parametrize("leak", FEED_LEAKS, ids=lambda leak: leak.__name__)
def test_a_leak_that_is_planted_in_the_feed_is_caught(leak: FeedLeak, monkeypatch: pytest.MonkeyPatch) -> None:
    leak(monkeypatch)
    with pytest.raises(ConformanceError, match=FEED_LEAKS[leak]):
        check_game(Cups(), FEW)


@pytest.mark.slow
def test_a_sound_game_passes_and_the_report_says_how_much_was_compared() -> None:
    reports = check_game(Cups(), FEW)
    assert ["plain", "blind"] == [report.variant for report in reports]
    for report in reports:
        assert len(FEW) == report.matches
        assert report.matches < report.twinned
        assert 0 not in (report.remembered, report.probes, report.sealed, report.commuted)
        assert () == report.unopened


def test_variants_may_share_the_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance, "check_repetition", lambda *_: None)
    assert [6, 6] == [report.matches for report in check_game(Cups(), FEW, shared=True)]


def test_an_error_names_variant_seed_window_and_seat_and_what_differs() -> None:
    with pytest.raises(ConformanceError) as caught:
        check_game(LEAKS["a taken cell, by rejection"][0](), FEW)
    error = caught.value
    assert error.variant in {"heaven-and-hell", "contractual-obligation"}
    assert error.seed in FEW
    assert error.window is not None
    assert error.seat in (0, 1)
    assert f"({error.variant}, seed {error.seed}, window {error.window}, seat {error.seat}): " in str(error)
    assert "accepted" in str(error)
    assert "rejected that would be too good" in str(error)


def test_the_same_seeds_find_the_same_fault() -> None:
    found = []
    for _ in range(2):
        with pytest.raises(ConformanceError) as caught:
            check_game(LEAKS["how many pieces"][0](), FEW)
        found.append(str(caught.value))
    assert found[0] == found[1]


def test_a_difference_is_told_by_its_place_and_both_sizes() -> None:
    assert "from byte 3 of 4 and 5: …abcd… but …abcef…" == difference(b"abcd", b"abcef")
    assert "from byte 2 of 2 and 3: …ab… but …abc…" == difference(b"ab", b"abc")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "referee.proofs.conformance", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own module


@pytest.mark.slow
def test_a_sound_game_gives_a_report_for_each_variant() -> None:
    done = run("tests.referee.toy:Cups", "0", "1", "2", "3")
    assert (0, "") == (done.returncode, done.stderr)
    assert ["plain", "blind"] == [msgspec.json.decode(line)["variant"] for line in done.stdout.splitlines()]


def test_a_broken_game_gives_exit_code_1_and_one_line() -> None:
    done = run("tests.referee.proofs.planted_faults:LosesASeat", "0", "1")
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("the ranking partitions the seats (plain, seed 0): ")
    assert 1 == done.stderr.count("\n")


def test_an_unknown_game_gives_exit_code_2_and_the_names_there_are() -> None:
    done = run("chess")
    assert 2 == done.returncode
    assert 'there is no game "chess"; there are mist' in done.stderr
    assert 2 == run("tests.referee.toy:Chess").returncode
    assert 2 == run("tests.no_such:Chess").returncode
