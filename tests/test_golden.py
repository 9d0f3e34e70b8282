"""Golden matches, one a variant, and golden transcripts, one a fault policy: they come out as they always have."""

import json
from pathlib import Path

import pytest

from protocol.refusals import Conduct
from referee.match.records import Ended
from referee.transcript.reader import read_transcript, verify_transcript
from referee.transcript.replayer import replay
from tests.golden import transcripts
from tests.golden.matches import FOLDER, adjudicated, path, played, variants, written
from tests.referee.toy import Cups

REWRITE = "run scripts/golden and read the diff"


@pytest.mark.parametrize(("game", "variant"), variants())
def test_every_variant_has_a_golden_match_that_comes_out_as_it_always_has(game: str, variant: str) -> None:
    kept = path(game, variant)
    assert kept.exists(), f"{game}, {variant} has no golden match: {REWRITE}"
    golden = json.loads(kept.read_bytes())
    assert (game, variant) == (golden["result"]["game"], golden["result"]["variant"])
    result = adjudicated(golden["scenario"])
    for number, (expected, actual) in enumerate(zip(golden["result"]["steps"], result["steps"], strict=True)):
        assert expected == actual, f"{kept.name}, step {number}: if this is meant, {REWRITE}"
    assert golden["result"] == result, f"{kept.name}: if this is meant, {REWRITE}"


@pytest.mark.parametrize(("game", "variant"), variants())
def test_a_golden_match_is_a_whole_one(game: str, variant: str) -> None:
    result = json.loads(path(game, variant).read_bytes())["result"]
    assert result["outcome"] is not None
    assert any(step["rejected"] for step in result["steps"])


def test_no_golden_match_is_left_of_a_game_that_is_gone() -> None:
    assert {path(*each) for each in variants()} == set(FOLDER.glob("*.json"))


def test_a_golden_match_is_kept_with_each_step_on_a_line_of_its_own() -> None:
    golden = {"scenario": {"game": "x", "steps": [{"0": 1}, {"0": None}]}, "result": {"steps": [], "a": {"b": 1}}}
    text = written(golden)
    assert golden == json.loads(text)
    assert '{"0":1},\n{"0":null}\n' in text


def test_the_match_that_is_played_for_a_new_game_is_the_same_every_time() -> None:
    assert played(Cups(), "plain") == played(Cups(), "plain")


@pytest.mark.parametrize("fault", transcripts.FAULTS)
async def test_under_every_fault_policy_a_transcript_is_the_same_to_the_byte(
    tmp_path: Path, autojump_clock: object, fault: str
) -> None:
    file = tmp_path / "m.jsonl"
    await transcripts.write_transcript(fault, file)
    kept = transcripts.path(fault)
    lines = zip(kept.read_bytes().splitlines(), file.read_bytes().splitlines(), strict=False)
    for number, (expected, actual) in enumerate(lines, 1):
        assert expected == actual, f"{kept.name}, line {number}: if this is meant, {REWRITE}"
    assert kept.read_bytes() == file.read_bytes(), f"{kept.name}: if this is meant, {REWRITE}"


@pytest.mark.parametrize("fault", transcripts.FAULTS)
def test_a_golden_transcript_can_be_proved(fault: str) -> None:
    verify_transcript(transcripts.path(fault))
    replay(read_transcript(transcripts.path(fault)))


def test_the_policies_end_the_same_match_differently() -> None:
    reasons = {}
    for fault in transcripts.FAULTS:
        (ended,) = (r for r in read_transcript(transcripts.path(fault)) if isinstance(r, Ended))
        assert ended.outcome is not None
        reasons[fault] = (ended.outcome.reason, ended.conduct[0])
    assert {
        "default": ("turn_limit", Conduct.CRASHED),
        "forfeit": ("forfeit", Conduct.CRASHED),
        "restart": ("turn_limit", Conduct.CRASHED),
    } == reasons
