"""The rules of time against bots, an operator and a network whose acts hypothesis draws, and shrinks."""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.proofs.fuzzing.campaign import judge_script
from referee.proofs.fuzzing.script import (
    Asks,
    Babbles,
    Forgoes,
    Leaves,
    Pauses,
    Planned,
    Resumes,
    Returns,
    Script,
    ScriptStep,
    Stalls,
    Submits,
    Undoes,
    When,
    script_text,
)
from tests.long import cases
from tests.referee.proofs.planted_time_faults import off_by_one_at_the_deadline

SEATS, WINDOWS = 3, 4
LENGTHS = st.sampled_from([1, 100, 9_999, 10_000, 10_001, 50_000])
WHO = st.integers(0, SEATS - 1)
NUMBER = st.integers(0, WINDOWS - 1)
FEW = st.sampled_from([0, 2])
EDGES = st.builds(
    When,
    edge=st.sampled_from(["opened", "main", "reserve"]),
    seat=WHO,
    number=NUMBER,
    ticks=st.sampled_from([-1, 0, 1, -5_000, 5_000]),
)
AROUND_PAUSES = st.builds(
    When, edge=st.sampled_from(["paused", "resumed"]), number=st.integers(0, 2), ticks=st.sampled_from([0, 1, 500])
)
BACK = st.sampled_from([None, 0, 5, 19_999, 20_001])
SUBMITS = st.builds(Submits, window=NUMBER, choice=st.integers(0, 99), final=st.booleans())
ELSE = st.one_of(
    *(st.builds(act) for act in (Asks, Babbles, Returns, Resumes)),
    *(st.builds(act, ticks=LENGTHS) for act in (Pauses, Stalls)),
    st.builds(Leaves, code=st.just(1), back=BACK),
)


def of_its_window(when: When, act: Submits | Forgoes) -> ScriptStep:
    """Return a message of a seat about the window at whose edge it is sent."""
    return ScriptStep(when=when, seat=when.seat, act=replace(act, window=when.number))


STEPS = st.one_of(
    st.builds(of_its_window, EDGES, st.one_of(SUBMITS, SUBMITS, st.just(Forgoes(window=0)))),
    st.builds(of_its_window, EDGES, st.just(Submits(window=0, legal=False))),
    st.builds(ScriptStep, when=st.one_of(EDGES, EDGES, AROUND_PAUSES), seat=WHO, act=st.one_of(SUBMITS, ELSE)),
)


WINDOW = st.builds(
    Planned,
    kind=st.sampled_from(["turn", "sealed", "asked"]),
    seats=st.sets(WHO, min_size=1).map(lambda seats: tuple(sorted(seats))),
)


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """A match; the network may deliver what was said once more, later, and bots may take back what they said."""
    steps = draw(st.lists(STEPS, max_size=16))
    for step in steps[: draw(st.integers(0, 6))]:
        later = replace(step.when, ticks=step.when.ticks + draw(LENGTHS))
        act = step.act
        if isinstance(act, Submits) and draw(st.booleans()):
            act = Undoes(window=act.window)
        steps.append(replace(step, when=later, act=act))
    return Script(
        seats=SEATS,
        windows=draw(st.tuples(*[WINDOW] * WINDOWS)),
        main_ms=10,
        reserve_ms=draw(st.sampled_from([0, 5, 40])),
        pacing=draw(st.sampled_from(["prompt", "fixed"])),
        pauses=draw(FEW),
        fault=draw(st.sampled_from(["default", "restart"])),
        restarts=draw(FEW),
        startup_ms=20,
        hello=(0,) * SEATS,
        order=draw(st.integers(0, 1_000)),
        steps=tuple(steps),
    )


def rules_are_kept(script: Script) -> None:
    assert None is judge_script(script), script_text(script)


test_the_rules_are_kept = settings(max_examples=cases(160, 400), derandomize=True)(
    given(scripts())(rules_are_kept)
)


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    off_by_one_at_the_deadline(monkeypatch)
    few = settings(max_examples=2_000, derandomize=True, database=None, phases=[Phase.generate])
    with pytest.raises(AssertionError, match='"steps"'):
        few(given(scripts())(rules_are_kept))()
