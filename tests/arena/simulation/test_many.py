"""`play_many`: the same results however many processes share the work; every match with fresh bots."""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena import IllegalActionError, play, play_many
from bots.kit import Bot, Window
from tests.arena.simulation.bots import Scribbler, illegal, plain, quick
from tests.real_wire.processes import until

PROJECT = Path(__file__).parents[3]


def test_results_are_in_order_and_the_same_whatever_the_number_of_processes() -> None:
    alone = play_many("mist", [quick, "mist_cautious"], matches=9, workers=1, seed=1)
    shared = play_many("mist", [quick, "mist_cautious"], matches=9, workers=2, seed=1)
    assert [each.outcome for each in alone.results] == [each.outcome for each in shared.results]
    assert alone.sittings == shared.sittings
    assert str(alone) == str(shared)


def test_each_deal_is_played_in_every_rotation_and_each_bot_has_its_own_results() -> None:
    results = play_many(
        "hive-mind", ["hive_mind_counter", *["hive_mind_random"] * 4], matches=10, workers=1, seed=1
    )
    assert [5, 5] == [
        [each.seed for each in results.sittings].count(seed) for seed in {s.seed for s in results.sittings}
    ]
    assert {0, 1, 2, 3, 4} == {each.bots.index(0) for each in results.sittings[:5]}
    best = results.summary[0]
    assert ("hive_mind_counter", 10) == (best.bot, best.played)
    assert best.points.low < best.points.mean < best.points.high <= 1
    assert max(results.summary, key=lambda each: each.points.mean) == best
    first = results.results[0]
    assert first.match is None
    assert first.seed == results.sittings[0].seed


class TestResultsAreASequence:
    RESULTS = play_many("mist", ["mist_random", "mist_cautious"], matches=6, workers=1, seed=1, progress=False)

    def test_they_can_be_counted_indexed_and_iterated_in_order(self) -> None:
        results = self.RESULTS
        assert isinstance(results, Sequence)
        assert (6, list(results.results)) == (len(results), list(results))
        assert (results.results[0], results.results[-1]) == (results[0], results[np.int64(-1)])
        assert list(results.results[::-1]) == list(reversed(results))
        assert (2, 1) == (results.index(results.results[2]), results.count(results.results[2]))
        assert results[3] in results
        with pytest.raises(IndexError):
            results[6]

    def test_a_slice_is_of_its_own_matches_also_in_its_summary(self) -> None:
        first = self.RESULTS[:2]
        assert (self.RESULTS.results[:2], self.RESULTS.sittings[:2]) == (first.results, first.sittings)
        assert [2, 2] == [each.played for each in first.summary]
        assert repr(first).startswith("<Results of 2 matches>\nbot ")

    def test_an_empty_slice_has_no_summary_and_can_be_shown(self) -> None:
        none = self.RESULTS[6:]
        assert (0, ()) == (len(none), none.summary)
        assert "<Results of 0 matches>" in repr(none)

    def test_they_can_be_pickled(self) -> None:
        assert self.RESULTS == pickle.loads(pickle.dumps(self.RESULTS))  # noqa: S301 - our own


@pytest.mark.parametrize("name", ["arena", "arena.learning"])
def test_dir_shows_the_api_and_imports_none_of_it(name: str) -> None:
    code = (
        f"import sys, {name} as module; before = set(sys.modules); names = dir(module)\n"
        "assert set(module.__all__) <= set(names), names\n"
        "assert not [each for each in names if each.startswith('_') or each in ('Any', 'TYPE_CHECKING')], names\n"
        "assert before == set(sys.modules)\n"
        "assert 'arena.simulation' not in before or module.__name__ == 'arena.learning'\n"
        "assert all(hasattr(module, each) for each in module.__all__)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=PROJECT)  # noqa: S603 - our own words


def test_a_bots_own_seed_differs_in_the_matches_of_one_deal_as_in_a_tournament() -> None:
    class Noted(Bot[Any, Any]):
        seeds: list[int] = []  # noqa: RUF012 - shared by all, for this test

        def decide(self, window: Window[Any]) -> Any:
            if window.id == 0:
                self.seeds.append(self.match.seed)
            return plain(window)

    play_many("mist", [Noted, Noted], matches=2, workers=1, seed=1)
    assert 4 == len(set(Noted.seeds))


def test_an_object_is_copied_for_each_match() -> None:
    bot = Scribbler()
    results = play_many("mist", [bot, quick], matches=4, workers=1, seed=2)
    assert 0 == bot.heard
    assert 4 == len(results.results)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"matches": 0}, "matches: 0; at least 1"),
        ({"workers": 0}, "workers: 0; at least 1"),
        ({"workers": 1.5}, "workers: 1.5 is no whole number"),
        ({"matches": "4"}, "matches: '4' is no whole number"),
        ({"seed": 0.5}, "seed: 0.5 is no whole number"),
        ({"on_error": "x"}, "on_error: there is no 'x'"),
        ({"bots": [quick]}, "bots: 1 for the 2 seats"),
        (
            {"bots": [lambda window: window.default] * 2},
            "put it into a module, at its top level; or say workers=1",
        ),
    ],
)
def test_wrong_use_is_named(words: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        play_many(**{"game": "mist", "bots": [quick, quick], "matches": 4, "workers": 2, **words})


def test_errors_of_a_bot_in_another_process_are_raised_here() -> None:
    with pytest.raises(IllegalActionError, match="Z9") as raised:
        play_many("mist", [quick, illegal], matches=8, workers=2, seed=1)
    assert "turn" == raised.value.window


def test_a_script_without_its_guard_is_told_what_is_missing(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from arena import play_many\nfrom tests.arena.simulation.bots import quick\n"
        "play_many('mist', [quick, quick], matches=4, workers=2)\n"
    )
    ended = subprocess.run(  # noqa: S603 - ours
        [sys.executable, str(script)],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 1 == ended.returncode
    assert "a script calls play_many below `if __name__" in ended.stderr


def in_group(leader: int) -> bool:
    """Whether a process of the group is left."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_at_once(tmp_path: Path) -> None:
    program = (
        "from arena import play_many\nfrom tests.arena.simulation.bots import quick\n"
        "print('begun', flush=True)\nplay_many('mist', [quick, quick], matches=10**6, workers=2)\n"
    )
    running = subprocess.Popen(  # noqa: S603 - ours
        [sys.executable, "-c", program],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert running.stdout is not None
    assert b"begun\n" == running.stdout.readline()
    time.sleep(1)
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=20)
    assert errors.decode().splitlines()[-1] == "KeyboardInterrupt"
    assert until(lambda: not in_group(running.pid))


def test_one_match_is_the_one_that_play_has_with_its_deal() -> None:
    results = play_many("mist", [quick, quick], matches=1, workers=1, seed=3)
    assert results.results[0].outcome == play("mist", [quick, quick], seed=results.sittings[0].seed).outcome
