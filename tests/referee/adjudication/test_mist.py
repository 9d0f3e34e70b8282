"""Mist's scenarios against results that another implementation of its rules gave."""

from tests.referee.adjudication.examples import examples

EXAMPLES = examples("mist")


def test_the_examples_hold_both_variants_rejections_and_every_reason_to_end() -> None:
    results = [example["result"] for example in EXAMPLES]
    assert {"contractual-obligation", "heaven-and-hell"} == {result["variant"] for result in results}
    assert any(step["rejected"] for result in results for step in result["steps"])
    reasons = {result["outcome"]["reason"] for result in results if result["outcome"]}
    assert {"decided", "turn_limit"} <= reasons
