"""The rules of time against a state machine of bots, an operator and a network: hypothesis draws, and shrinks."""

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from referee.proofs.fuzzing.campaign import judge_script
from referee.proofs.fuzzing.script import (
    Act,
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
MOMENTS = st.one_of(EDGES, EDGES, AROUND_PAUSES)
KINDS = st.sampled_from(["turn", "sealed", "asked"])
PARTIES = st.sets(WHO, min_size=1).map(lambda seats: tuple(sorted(seats)))


class Attack(RuleBasedStateMachine):
    """Each rule adds a step to a script; after each, the referee has kept the rules in all of it."""

    said = Bundle("said")

    @initialize(
        windows=st.lists(st.builds(Planned, kind=KINDS, seats=PARTIES), min_size=WINDOWS, max_size=WINDOWS),
        reserve_ms=st.sampled_from([0, 5, 40]),
        pacing=st.sampled_from(["prompt", "fixed"]),
        pauses=st.sampled_from([0, 2]),
        restarts=st.sampled_from([0, 2]),
        order=st.integers(0, 1_000),
    )
    def terms(self, windows: list[Planned], reserve_ms: int, restarts: int, **terms: object) -> None:
        self.script = Script(
            seats=SEATS,
            windows=tuple(windows),
            main_ms=10,
            reserve_ms=reserve_ms,
            fault="restart" if restarts else "default",
            restarts=restarts,
            startup_ms=20,
            hello=(0,) * SEATS,
            **terms,  # type: ignore[arg-type]
        )

    def happens(self, when: When, seat: int, act: Act) -> ScriptStep:
        step = ScriptStep(when=when, seat=seat, act=act)  # type: ignore[arg-type]
        self.script = replace(self.script, steps=(*self.script.steps, step))
        return step

    @rule(target=said, when=MOMENTS, seat=WHO, window=NUMBER, final=st.booleans(), choice=st.integers(0, 99))
    def a_bot_submits(self, when: When, seat: int, window: int, final: bool, choice: int) -> ScriptStep:
        return self.happens(when, seat, Submits(window=window, choice=choice, final=final))

    @rule(target=said, when=EDGES, final=st.booleans(), choice=st.integers(0, 99))
    def a_bot_answers_its_window(self, when: When, final: bool, choice: int) -> ScriptStep:
        return self.happens(when, when.seat, Submits(window=when.number, choice=choice, final=final))

    @rule(target=said, when=EDGES)
    def a_bot_submits_what_is_illegal(self, when: When) -> ScriptStep:
        return self.happens(when, when.seat, Submits(window=when.number, legal=False))

    @rule(target=said, step=said, later=LENGTHS)
    def a_bot_thinks_better_of_it(self, step: ScriptStep, later: int) -> ScriptStep:
        when = replace(step.when, ticks=step.when.ticks + later)
        return self.happens(when, step.seat, Undoes(window=step.act.window))  # type: ignore[union-attr]

    @rule(target=said, when=EDGES)
    def a_bot_takes_the_default(self, when: When) -> ScriptStep:
        return self.happens(when, when.seat, Forgoes(window=when.number))

    @rule(when=MOMENTS, seat=WHO)
    def a_bot_babbles(self, when: When, seat: int) -> None:
        self.happens(when, seat, Babbles())

    @rule(when=MOMENTS, seat=WHO)
    def a_bot_asks_for_a_pause(self, when: When, seat: int) -> None:
        self.happens(when, seat, Asks())

    @rule(when=MOMENTS, seat=WHO)
    def a_bot_reconnects(self, when: When, seat: int) -> None:
        self.happens(when, seat, Returns())

    @rule(when=MOMENTS, seat=WHO, back=st.sampled_from([None, 0, 5, 19_999, 20_001]))
    def a_bot_crashes(self, when: When, seat: int, back: int | None) -> None:
        self.happens(when, seat, Leaves(code=1, back=back))

    @rule(step=said, later=LENGTHS)
    def the_network_doubles(self, step: ScriptStep, later: int) -> None:
        self.happens(replace(step.when, ticks=step.when.ticks + later), step.seat, step.act)

    @rule(step=said, later=LENGTHS)
    def the_network_delays(self, step: ScriptStep, later: int) -> None:
        self.lose(step)
        self.happens(replace(step.when, ticks=step.when.ticks + later), step.seat, step.act)

    @rule(step=said)
    def the_network_loses(self, step: ScriptStep) -> None:
        self.lose(step)

    @rule(one=said, other=said)
    def the_network_reorders(self, one: ScriptStep, other: ScriptStep) -> None:
        self.lose(one)
        self.lose(other)
        self.happens(other.when, one.seat, one.act)
        self.happens(one.when, other.seat, other.act)

    def lose(self, step: ScriptStep) -> None:
        self.script = replace(self.script, steps=tuple(each for each in self.script.steps if each != step))

    @rule(when=MOMENTS, ticks=LENGTHS)
    def the_operator_pauses(self, when: When, ticks: int) -> None:
        self.happens(when, 0, Pauses(ticks=ticks))

    @rule(when=MOMENTS)
    def the_operator_lets_go_on(self, when: When) -> None:
        self.happens(when, 0, Resumes())

    @rule(when=MOMENTS, ticks=LENGTHS)
    def the_referee_sleeps(self, when: When, ticks: int) -> None:
        self.happens(when, 0, Stalls(ticks=ticks))

    @invariant()
    def the_rules_are_kept(self) -> None:
        if hasattr(self, "script"):
            assert None is judge_script(self.script), script_text(self.script)


TestAttack = Attack.TestCase
TestAttack.settings = settings(max_examples=cases(8, 20), stateful_step_count=20, derandomize=True)


def test_the_machine_finds_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    off_by_one_at_the_deadline(monkeypatch)
    few = settings(max_examples=100, derandomize=True, database=None, phases=[Phase.generate])
    with pytest.raises(AssertionError, match='"steps"'):
        run_state_machine_as_test(Attack, settings=few)
