"""Mist's scenarios against results that another implementation of its rules gave; and their speed."""

import json
import time

from arena.adjudicate import adjudicate_line
from tests.arena.examples import examples

EXAMPLES = examples("mist")


def test_the_examples_hold_both_variants_rejections_and_every_reason_to_end() -> None:
    results = [example["result"] for example in EXAMPLES]
    assert {"contractual-obligation", "heaven-and-hell"} == {result["variant"] for result in results}
    assert any(step["rejected"] for result in results for step in result["steps"])
    reasons = {result["outcome"]["reason"] for result in results if result["outcome"]}
    assert {"decided", "turn_limit"} <= reasons


def test_500_full_scenarios_take_seconds() -> None:
    lines = [json.dumps(example["scenario"]).encode() for example in EXAMPLES] * 50
    started = time.process_time()
    for line in lines:
        adjudicate_line(line)
    assert time.process_time() - started < 5
