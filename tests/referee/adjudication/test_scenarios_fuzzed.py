"""Whatever a scenario or a script of `arena stress` says, it is played or refused in one line."""

import gc
from pathlib import Path
from random import Random

import pytest

from protocol.codec import decode_json, encode
from referee.adjudication.adjudicate import MAX_ERROR_CHARACTERS, adjudicate_line
from referee.proofs.fuzzing.campaign import judge_script
from referee.proofs.fuzzing.script import BadScriptError, draw_script, read_script, script_text
from tests.long import cases
from tests.referee.proofs.mutations import memory, mutated, mutated_bytes

FILES = sorted(Path("tests/referee/adjudication/scenarios").glob("*.jsonl"))
SCENARIOS = [encode(decode_json(line)["scenario"]) for file in FILES for line in file.read_bytes().splitlines()]
GROWTH = 64 * 1024 * 1024


def changed(content: bytes, rng: Random) -> bytes:
    if rng.random() < 0.3:
        return mutated_bytes(content, rng)
    value = decode_json(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        value = mutated(value, rng)
    return encode(value)


def test_a_scenario_has_a_result_or_an_error() -> None:
    count, warm = cases(300, 600), 0
    errors = 0
    for number in range(count):
        rng = Random(f"scenarios/{number}")
        line = changed(rng.choice(SCENARIOS), rng)
        try:
            result = decode_json(adjudicate_line(line))
        except BaseException as error:
            error.add_note(f"case {number}: {line[:2_000]!r}")
            raise
        errors += "error" in result
        assert len(result.get("error", "")) <= MAX_ERROR_CHARACTERS + 1
        if number == count // 10:
            gc.collect()
            warm = memory()
    gc.collect()
    assert memory() - warm < GROWTH
    assert count // 10 < errors < count


def test_a_script_is_judged_or_refused() -> None:
    count, warm = cases(50, 80), 0
    refused = 0
    for number in range(count):
        rng = Random(f"scripts/{number}")
        text = changed(script_text(draw_script(f"{rng.randrange(50)}")).encode(), rng)
        try:
            judge_script(read_script(text))
        except BadScriptError as error:
            refused += 1
            assert "\n" not in str(error)
        except BaseException as error:
            error.add_note(f"case {number}: {text[:4_000]!r}")
            raise
        if number == count // 10:
            gc.collect()
            warm = memory()
    gc.collect()
    assert memory() - warm < GROWTH
    assert count // 10 < refused < count


@pytest.mark.parametrize("field", ["seats", "main_ms", "reserve_ms", "startup_ms", "order", "pauses", "restarts"])
@pytest.mark.parametrize("value", [-1, 2**63, 10**30, 1.5, "1"])
def test_a_number_of_a_script_that_is_none_names_its_field(field: str, value: object) -> None:
    content = decode_json(script_text(draw_script("1")).encode())
    with pytest.raises(BadScriptError, match=field):
        read_script(encode({**content, field: value}))
