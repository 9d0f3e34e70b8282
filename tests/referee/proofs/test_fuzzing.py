"""Virtual time fuzzing: the referee keeps the rules of time, and one that breaks any of them is found out."""

import pytest

from referee.proofs.fuzzing.campaign import BATCH, Violation, fuzz, judge_script
from referee.proofs.fuzzing.driver import play_all
from referee.proofs.fuzzing.script import BadScriptError, Submits, Undoes, draw_script, read_script, script_text
from tests.long import cases, mostly_slow
from tests.referee.proofs.planted_time_faults import (
    FAULTS,
    Plant,
    bots_clock_under_restart_begun_when_the_last_window_was_answered,
    undo_that_withdraws_nothing,
)

BUDGET = 3_000
"""Windows within which each planted fault must be found."""


def found(tries: int = 0) -> Violation:
    _, finding = fuzz("planted", BUDGET, tries)
    assert finding is not None
    return finding


def test_the_referee_keeps_the_rules_of_time() -> None:
    windows = cases(1_000, 3_000)
    tally, finding = fuzz("kept", windows)
    assert (None, True) == (finding, tally.windows >= windows)


@pytest.mark.slow
@pytest.mark.parametrize("plant", mostly_slow(14, FAULTS), ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert "" != found().what


def test_a_finding_is_shrunk_and_reproducible(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as planted:
        undo_that_withdraws_nothing(planted)
        finding = found(tries=600)
        script = read_script(script_text(finding.script).encode())
        assert finding.what == judge_script(script)
        assert (1, 1) == (script.seats, len(script.windows))
        assert [Submits(window=0, final=False), Undoes(window=0)] == [step.act for step in script.steps]
    assert judge_script(script) is None


UNDER_RESTART = b"""{
  "seats": 2,
  "windows": [{"kind":"turn","seats":[1]},{"kind":"turn","seats":[0]},{"kind":"asked","seats":[1]}],
  "main_ms": 10,
  "pauses": 3,
  "pause_ms": 30,
  "startup_ms": 20,
  "fault": "restart",
  "restarts": 3,
  "hello": [0,0],
  "steps": [
    {"when":{"edge":"resumed"},"seat":1,"act":{"do":"leave","back":0}},
    {"when":{"edge":"main","seat":1},"seat":1,"act":{"do":"ask"}},
    {"when":{"edge":"opened","ticks":1000},"act":{"do":"submit","window":0}},
    {"when":{"edge":"opened"},"act":{"do":"stall","ticks":1000}}
  ]
}"""
"""As the fuzzer found and shrunk it."""


def test_a_bot_that_is_being_started_again_does_not_pay_for_a_referee_that_reads_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = read_script(UNDER_RESTART)
    assert judge_script(script) is None
    bots_clock_under_restart_begun_when_the_last_window_was_answered(monkeypatch)
    assert "window 2, seat 1: opened and deadline" in str(judge_script(script))


def test_a_script_plays_the_same_each_time() -> None:
    scripts = [draw_script(f"same/{number}") for number in range(BATCH)]
    assert play_all(scripts) == play_all(scripts)


def test_a_script_plays_the_same_whatever_was_played_before_it() -> None:
    scripts = [draw_script(f"same/{number}") for number in range(BATCH)]
    assert play_all(scripts)[-1] == play_all(scripts[-1:])[0]


def test_the_same_seed_draws_the_same_script() -> None:
    assert draw_script("5/1") == draw_script("5/1") != draw_script("5/2")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"{", "truncated"),
        (b'{"seats":1,"windows":[],"main_ms":1,"hello":[0],"speed":2}', "speed"),
        (b'{"seats":2,"windows":[{"kind":"turn","seats":[0]}],"main_ms":1,"hello":[0]}', "hello"),
        (b'{"seats":1,"windows":[{"kind":"turn","seats":[1]}],"main_ms":1,"hello":[0]}', "windows"),
    ],
)
def test_text_that_is_no_script_is_refused(text: bytes, complaint: str) -> None:
    with pytest.raises(BadScriptError, match=complaint):
        read_script(text)


HELD_UP = {
    "as the match ends": b"""{
  "seats": 1,
  "windows": [{"kind":"sealed","seats":[0]}],
  "main_ms": 10,
  "reserve_ms": 10,
  "pause_ms": 30,
  "startup_ms": 20,
  "hello": [0],
  "steps": [
    {"when":{"edge":"main"},"act":{"do":"submit","window":0}},
    {"when":{"edge":"main"},"act":{"do":"stall","ticks":1}}
  ]
}""",
    "while an answer lies there to a window that is yet to be opened": b"""{
  "seats": 1,
  "windows": [{"kind":"turn","seats":[0]},{"kind":"asked","seats":[0]}],
  "main_ms": 10,
  "pause_ms": 5,
  "startup_ms": 20,
  "hello": [0],
  "steps": [
    {"when":{"edge":"main"},"act":{"do":"undo","window":0}},
    {"when":{"edge":"main"},"act":{"do":"submit","window":1}},
    {"when":{"edge":"opened"},"act":{"do":"stall","ticks":70000}}
  ]
}""",
}


@pytest.mark.parametrize("when", HELD_UP)
def test_a_loop_that_is_held_up_is_no_fault_of_the_rules(when: str) -> None:
    """What was found to be wrong with the fuzzer itself."""
    assert judge_script(read_script(HELD_UP[when])) is None
