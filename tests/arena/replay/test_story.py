"""A match's story: at most eight moments that are worth a look, and a curve of its scores of bounded length."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.replay import Recording, Story, recording_of, story_of
from arena.replay.recording import Fact, PublicTerms, Step
from arena.replay.story import MOST_MOMENTS, MOST_POINTS
from protocol.text import Remark

MATCH = Path("docs/examples/three-turns.jsonl")
FAULT = Path("tests/golden/fault.default.jsonl")


def step(*remarks: Remark, scores: tuple[int, ...] = (), faults: tuple[Remark, ...] = ()) -> Step:
    def no_view(_: Any) -> Any:
        raise AssertionError

    facts = [Fact(fault.text, fault.seats[0], "gone", fault) for fault in faults]
    return Step("", None, no_view, remarks=list(remarks), scores=list(scores), facts=facts)


def told(*steps: Step) -> list[tuple[int, str, str]]:
    terms = PublicTerms(match="m", variant="v", seats=2, reserve_ms=0)
    story = story_of(Recording("mist", ["anna", "bob"], list(steps), None, terms))
    return [(moment.step, moment.kind, moment.text) for moment in story.moments]


def test_a_whole_match_ends_its_story_and_its_curve() -> None:
    recording = recording_of(MATCH)
    story = story_of(recording)
    assert (len(recording.steps), "end") == (story.moments[-1].step, story.moments[-1].kind)
    assert recording.steps[-1].scores == [scores[-1] for scores in story.scores]
    assert ("Largest group", len(recording.steps)) == (story.unit, story.steps)
    assert story == msgspec.json.decode(msgspec.json.encode(story), type=Story)


def test_faults_are_moments() -> None:
    story = story_of(recording_of(FAULT))
    assert ["fault", "fault", "end"] == [moment.kind for moment in story.moments]


def test_turning_points_the_largest_swing_and_the_end_come_before_small_gains() -> None:
    assert [
        (2, "turning point", "anna joins two groups into one of 3"),
        (3, "largest swing", "bob finds five (+5)"),
        (5, "end", "the match is over"),
    ] == told(
        step(scores=(0, 0)),
        step(Remark("anna joins two groups into one of 3", (0,), 2), scores=(3, 0)),
        step(Remark("anna waits", (0,)), Remark("bob finds five", (1,)), scores=(3, 5)),
        step(Remark("anna waits", (0,)), scores=(3, 5)),
        step(Remark("the match is over", (), 3), scores=(3, 5)),
    )


def test_a_match_with_many_turning_points_shows_eight_moments_with_the_widest_swings() -> None:
    steps = [step(Remark(f"turn {at}", (0,), 2), scores=(at * at, 0)) for at in range(50)]
    found = told(*steps)
    assert MOST_MOMENTS == len(found)
    assert list(range(43, 51)) == [number for number, *_ in found]


def test_a_fault_that_repeats_is_told_once_with_its_number() -> None:
    miss = Remark("bob misses the deadline: plays the default", (1,), 1)
    assert [(1, "fault", "bob misses the deadline: plays the default (9 times in all)")] == told(
        *[step(faults=(miss,))] * 9
    )


def test_without_commentary_there_are_faults_alone() -> None:
    crash = Remark("bob crashes: exit code 1", (1,), 2)
    assert [(2, "fault", "bob crashes: exit code 1")] == told(step(), step(faults=(crash,)), step())


def test_a_long_curve_is_thinned_and_keeps_both_ends() -> None:
    terms = PublicTerms(match="m", variant="v", seats=2, reserve_ms=0)
    steps = [step(scores=(at, -at)) for at in range(20_000)]
    story = story_of(Recording("mist", ["anna", "bob"], steps, None, terms))
    assert MOST_POINTS == len(story.times) == len(story.scores[0])
    assert (1, 20_000, 0, 19_999) == (story.times[0], story.times[-1], story.scores[0][0], story.scores[0][-1])


@pytest.mark.parametrize(
    "change",
    [
        {"scores": [[1], [2]]},
        {"scores": [[1] * 5] * 3, "times": [1] * 5},
        {"scores": [[10**30], [0]], "times": [1]},
        {"moments": [{"step": 0, "text": "x", "kind": "end"}]},
        {"moments": [{"step": 1, "text": "x", "kind": "</script>"}]},
        {"moments": [{"step": 1, "text": "x", "kind": "end"}] * 9},
        {"names": ["x" * 10_000, "y"]},
        {"format": 2},
    ],
)
def test_a_story_that_somebody_changed_is_refused(change: dict[str, Any]) -> None:
    whole = msgspec.to_builtins(story_of(recording_of(MATCH)))
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(whole | change, Story)


def test_a_gain_of_a_seat_that_stays_behind_is_no_turning_point() -> None:
    kinds = {
        text: kind
        for _, kind, text in told(
            step(scores=(9, 0)),
            step(Remark("bob joins two groups into one of 3", (1,), 2), scores=(9, 3)),
            step(Remark("anna joins two groups into one of 15", (0,), 2), scores=(15, 3)),
            step(Remark("bob takes the lead, 16 to 15", (1,), 2), scores=(15, 16)),
            step(scores=(15, 16)),
        )
    }
    assert kinds["bob joins two groups into one of 3"] == "gain"
    assert kinds["anna joins two groups into one of 15"] == "turning point"
