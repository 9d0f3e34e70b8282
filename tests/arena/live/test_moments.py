"""Each step of a replay has the game's remarks, the scores after it, and the faults of bots."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.live.moments import MOST_REMARKS, TEXT, numbered_names
from arena.replay import Recording, recording_of, recording_of_seat
from protocol.text import COMMENTARIES, Remark, Scene
from referee.transcript import read_transcript, seat_lines

THREE_TURNS = Path("docs/examples/three-turns.jsonl")
FAULTS = Path("tests/golden")


def said(recording: Recording) -> list[str]:
    return [remark.text for step in recording.steps for remark in step.remarks]


def faults(name: str) -> list[tuple[str, int]]:
    recording = recording_of(FAULTS / f"fault.{name}.jsonl")
    return [(fault.text, fault.weight) for step in recording.steps for fault in step.faults]


def use(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Change Mist's commentary for one test."""
    changed = replace(COMMENTARIES["mist"], **changes)
    monkeypatch.setitem(COMMENTARIES._made, "mist", changed)


def test_each_step_has_the_games_remarks_and_the_scores() -> None:
    recording = recording_of(THREE_TURNS)
    last = recording.steps[-1]
    assert 3 == max(remark.weight for remark in last.remarks)
    assert last.scores == COMMENTARIES["mist"].scores(last.view("host"))
    assert all(2 == len(step.scores) for step in recording.steps)
    assert any("places" in text for text in said(recording))


def test_names_that_two_seats_share_get_numbers() -> None:
    assert ["anna", "anna 3", "anna 2", "seat 3"] == numbered_names(["anna", "anna", "anna 2", ""])
    assert ["a", "b"] == numbered_names(["a", "b"])
    assert 13 == len(set(numbered_names(["house"] * 13)))


def test_missed_deadlines_and_crashes_are_moments_that_name_the_bot() -> None:
    names = recording_of(FAULTS / "fault.default.jsonl").names
    assert [
        (f"{names[0]} crashes: exit code -9", 2),
        (f"{names[1]} misses the deadline: plays the default", 1),
    ] == faults("default")
    assert [(f"{names[0]} crashes: exit code -9", 2)] == faults("forfeit")


@pytest.mark.parametrize("raises", ["remarks", "scores"])
def test_a_commentary_that_raises_costs_its_step_and_no_more(monkeypatch: pytest.MonkeyPatch, raises: str) -> None:
    whole = recording_of(THREE_TURNS)
    plain = getattr(COMMENTARIES["mist"], raises)
    calls = []

    def fails_once(what: Any) -> Any:
        calls.append(what)
        if len(calls) == 1:
            raise ZeroDivisionError
        return plain(what)

    use(monkeypatch, **{raises: fails_once})
    recording = recording_of(THREE_TURNS)
    assert ([], []) == (recording.steps[0].remarks, recording.steps[0].scores)
    assert whole.steps[-1].remarks == recording.steps[-1].remarks
    assert [step.title for step in whole.steps] == [step.title for step in recording.steps]


def test_remarks_of_another_package_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(_: Scene) -> list[Remark]:
        weight: Any = 99
        return [Remark("\x1b[2J" + "x" * 1_000, (7, 1, -1), weight)] * 100

    use(monkeypatch, remarks=odd, scores=lambda _: [1, 2, 3])
    step = recording_of(THREE_TURNS).steps[1]
    assert MOST_REMARKS == len(step.remarks)
    assert [] == step.scores
    first = step.remarks[0]
    assert first.text.startswith("\\x1b[2J")
    assert TEXT + 1 == len(first.text)
    assert ((1,), 3) == (first.seats, first.weight)


def test_a_seats_own_file_and_a_game_without_commentary_have_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "own.jsonl"
    own.write_bytes(b"".join(seat_lines(read_transcript(THREE_TURNS), 0)))
    assert [] == said(recording_of_seat(own))
    monkeypatch.setattr("arena.live.moments.COMMENTARIES", {})
    recording = recording_of(THREE_TURNS)
    assert [] == said(recording)
    assert all([] == step.scores for step in recording.steps)
