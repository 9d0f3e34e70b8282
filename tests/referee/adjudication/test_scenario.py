"""Whatever bytes come in, each line gets one line back: a result, or an error that says what is wrong."""

import io
import json

import pytest

from referee.adjudication.adjudicate import (
    MAX_ERROR_CHARACTERS,
    MAX_SCENARIO_BYTES,
    MAX_STEPS,
    adjudicate_line,
    adjudicate_stream,
)
from tests.referee.toy import Cups

GAMES = {"cups": Cups()}
GOOD = b'{"game":"cups","steps":[]}'
DEEP = 100_000


def error(line: bytes) -> str:
    result = adjudicate_line(line, GAMES)
    assert b"\n" not in result
    decoded = json.loads(result)
    assert ["error"] == list(decoded)
    return str(decoded["error"])


def in_action(value: bytes) -> bytes:
    return b'{"game":"cups","steps":[{"0":' + value + b"}]}"


@pytest.mark.parametrize(
    ("complaint", "line"),
    [
        ("truncated", b""),
        ("truncated", b'{"game":"cups","steps":['),
        ("malformed", b"hello"),
        ("malformed", b"NaN"),
        ("malformed", GOOD + b"x"),
        ("malformed", in_action(b'{"amount":NaN}')),
        ("malformed", in_action(b'{"amount":-Infinity}')),
        ("malformed", in_action(b'{"amount":01}')),
        ("malformed", in_action(b"{'amount':1}")),
        ("Expected `object`, got `array`", b"[]"),
        ("Expected `object`, got `null`", b"null"),
        ("byte order mark", b"\xef\xbb\xbf" + GOOD),
        ("not UTF-8 at byte 9", b'{"game":"\xff","steps":[]}'),
        ("not UTF-8 at byte 38", in_action(b'{"name":"\xff"}')),
        ("not UTF-8", in_action(b'"\xed\xa0\x80"')),
        ("not UTF-8 at byte 0", '{"game":"cups"}'.encode("utf-16")),
        ("surrogate", in_action(b'"\\ud800\\u0041"')),
        ("surrogate", in_action(b'{"\\udc00":1}')),
        ("nested too deeply", in_action(b"[" * DEEP)),
        ("nested too deeply", in_action(b'{"a":' * DEEP + b"1" + b"}" * DEEP)),
        ("nested too deeply", b'{"game":"cups","options":' + b"[" * DEEP + b"]" * DEEP + b"}"),
        ("nested too deeply", b'{"game":"cups","steps":' + b'[{"0":' * DEEP),
        ('"game" stands twice', b'{"game":"chess","game":"cups","steps":[]}'),
        ('"0" stands twice', b'{"game":"cups","steps":[{"0":null,"0":null}]}'),
        ('"amount" stands twice', in_action(b'{"amount":1,"amount":2}')),
        ('"amount" stands twice', in_action(b'{"amount":1,"am\\u006funt":2}')),
        ("seed: Integer value out of range", b'{"game":"cups","steps":[],"seed":' + b"9" * 5000 + b"}"),
        (
            "options: Integer value out of range",
            b'{"game":"cups","steps":[],"options":{"rounds":' + b"9" * 5000 + b"}}",
        ),
        ("longer than", b" " * (MAX_SCENARIO_BYTES + 1)),
        ("longer than", b'{"game":"' + b"x" * 10_000_000 + b'","steps":[]}'),
        (f"steps: more than {MAX_STEPS}", b'{"game":"cups","steps":[' + b"{}," * MAX_STEPS + b"{}]}"),
    ],
)
def test_a_line_that_is_no_scenario_gives_one_clear_error(complaint: str, line: bytes) -> None:
    assert complaint in error(line)


def test_the_longest_scenario_is_read_and_the_end_of_its_line_does_not_count() -> None:
    longest = GOOD.replace(b"{", b"{" + b" " * (MAX_SCENARIO_BYTES - len(GOOD)), 1)
    assert MAX_SCENARIO_BYTES == len(longest)
    assert "game" in json.loads(adjudicate_line(longest, GAMES))
    errors, results = streamed(longest + b"\n" + longest + b" \n" + longest + b"\r\n" + GOOD)
    assert [True, False, True, True] == ["game" in result for result in results]
    assert 1 == errors


def test_an_error_does_not_repeat_all_it_was_given() -> None:
    text = error(b'{"game":"' + b"x" * 1_000_000 + b'","steps":[]}')
    assert MAX_ERROR_CHARACTERS + 1 == len(text)


def test_a_reason_does_not_repeat_all_it_was_given() -> None:
    result = json.loads(adjudicate_line(in_action(b'{"' + b"x" * 1_000_000 + b'":1}'), GAMES))
    assert len(result["steps"][0]["rejected"]["0"]) <= MAX_ERROR_CHARACTERS


def test_a_whole_number_of_any_length_that_is_read_is_a_seed() -> None:
    seed = 9**1000
    result = json.loads(adjudicate_line(b'{"game":"cups","steps":[{}],"seed":%d}' % seed, GAMES))
    assert seed == result["seed"]


def test_a_scenario_may_be_laid_out_over_lines() -> None:
    assert adjudicate_line(GOOD, GAMES) == adjudicate_line(b'\n{\n  "game": "cups",\r\n\t"steps": []\n}\n', GAMES)


def streamed(lines: bytes) -> tuple[int, list[dict[str, object]]]:
    out = io.BytesIO()
    errors = adjudicate_stream(io.BytesIO(lines), out, GAMES)
    return errors, [json.loads(line) for line in out.getvalue().splitlines()]


def test_an_error_stands_in_its_scenarios_place_and_the_next_line_is_read() -> None:
    errors, results = streamed(GOOD + b"\n\xff\n" + GOOD + b"\n{}\n" + GOOD + b"\n")
    assert 2 == errors
    assert [True, False, True, False, True] == ["game" in result for result in results]


def test_blank_lines_are_skipped_and_the_last_line_needs_no_end() -> None:
    errors, results = streamed(b"\n" + GOOD + b"\r\n   \n\t\n" + GOOD)
    assert (0, 2) == (errors, len(results))


def test_a_line_that_is_too_long_is_one_error_and_the_next_is_read() -> None:
    long = b" " * MAX_SCENARIO_BYTES * 3 + GOOD
    errors, results = streamed(GOOD + b"\n" + long + b"\n" + GOOD + b"\n" + long)
    assert 2 == errors
    assert [True, False, True, False] == ["game" in result for result in results]


def test_each_result_is_flushed_before_the_next_line_is_read() -> None:
    flushed: list[int] = []

    class Out(io.BytesIO):
        def flush(self) -> None:
            flushed.append(self.getvalue().count(b"\n"))

    class Lines(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            before.append(flushed[-1] if flushed else 0)
            return super().readline(size)

    before: list[int] = []
    adjudicate_stream(Lines(GOOD + b"\n" + b"x\n" + GOOD + b"\n"), Out(), GAMES)
    assert [0, 1, 2, 3] == before
