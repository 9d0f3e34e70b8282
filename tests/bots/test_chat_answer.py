"""The forms in which models answer: what each gives, what is no action, and answers that mean harm."""

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from bots.language_model import prompts
from bots.language_model.prompts import MOST_CHARACTERS, read_answer
from protocol.text import ParseError

C1, PAIR = {"cells": ["C1"]}, {"cells": ["C3", "D7"]}
WIDE_COLON, ZERO_WIDTH, JOINER, MARK_OF_ORDER, SOFT = "\uff1a", "\u200b", "\u2060", "\ufeff", "\u00ad"
NOT_BROKEN = "\u00a0"

FORMS: list[tuple[str, Any]] = [
    # As the prompt asks, and with what Markdown adds.
    ("ACTION: C3 D7", PAIR),
    ("The left edge is safe.\nACTION: C3 D7\n", PAIR),
    ("action: c3 d7", PAIR),
    ("ACTION:C3 D7", PAIR),
    ("ACTION : C3 D7", PAIR),
    ("ACTION= C3 D7", PAIR),
    ("ACTION -> C3 D7", PAIR),
    ("**ACTION**: C1", C1),
    ("**ACTION:** C1", C1),
    ("**ACTION: C1**", C1),
    ("*ACTION*: _C1_", C1),
    ("`ACTION: C1`", C1),
    ("ACTION: `C1`", C1),
    ("### ACTION: C1", C1),
    ("- ACTION: C1", C1),
    ("* ACTION: C1", C1),
    ("• ACTION: C1", C1),
    ("1. ACTION: C1", C1),
    ("2) **ACTION**: C1", C1),
    ("    ACTION: C1    ", C1),
    ("I think.\n```\nACTION: C1\n```", C1),
    ("```text\nACTION: C1\n```\n", C1),
    # The words around it.
    ("Final action: C1", C1),
    ("**Final Action:** C1", C1),
    ("My final action: C1", C1),
    ("Final Answer: C1", C1),
    ("I looked at all.\n**Answer:** C1", C1),
    ("That is best. ACTION: C1", C1),
    ("So my choice is this: ACTION: C1", C1),
    ("ACTION: C1 (one piece, far from the centre)", C1),
    ("ACTION: C1 - the safest cell", C1),
    ("ACTION: C1 # safe", C1),
    ("ACTION: /submit C1", C1),
    ("ACTION: submit C1", C1),
    # What stands around the cells, and between them.
    ("c3 d7.", PAIR),
    ("ACTION: C3 D7.", PAIR),
    ("ACTION: C3 D7!", PAIR),
    ("[C3, D7]", PAIR),
    ("ACTION: [C3, D7]", PAIR),
    ("ACTION: (C3, D7)", PAIR),
    ("ACTION: <C3 D7>", PAIR),
    ('ACTION: ["C3", "D7"]', PAIR),
    ("ACTION: 'C3', 'D7'", PAIR),
    ('ACTION: "C3 D7"', PAIR),
    ("ACTION: “C3 D7”", PAIR),
    ("ACTION: C3 and D7", PAIR),
    ("ACTION: C3 & D7", PAIR),
    ("ACTION: **C3**, **D7**".replace("**, **", ", "), PAIR),
    # JSON.
    ('{"cells": ["C3", "D7"]}', PAIR),
    ('ACTION: {"cells": ["C3", "D7"]}', PAIR),
    ('{\n  "cells": ["C3",\n    "D7"]\n}', PAIR),
    ('ACTION: {\n  "cells": ["C3", "D7"]\n}', PAIR),
    ('I place two.\n```json\n{"cells": ["C3", "D7"]}\n```', PAIR),
    ('ACTION:\n```json\n{\n  "cells": ["C3", "D7"]\n}\n```', PAIR),
    ('{"action": "C3 D7"}', PAIR),
    ('{"thought": "the left is safe", "action": "C3 D7"}', PAIR),
    ('{"action": {"cells": ["C3", "D7"]}}', PAIR),
    ('{"action": ["C3", "D7"]}', PAIR),
    # On the next line, in tags, in LaTeX.
    ("ACTION:\nC1", C1),
    ("**ACTION:**\n\nC1", C1),
    ("ACTION:\n```\nC1\n```", C1),
    ("<answer>C1</answer>", C1),
    ("So.\n<answer>\nC1\n</answer>\n", C1),
    ("<ANSWER>ACTION: C1</ANSWER>", C1),
    ("<action>C1</action>", C1),
    ("The answer is \\boxed{C1}.", C1),
    ("$$\\boxed{\\text{C3, D7}}$$", PAIR),
    ("\\boxed{ACTION: C1}", C1),
    # Characters that are not what they seem.
    (f"ACTION{WIDE_COLON}C3{NOT_BROKEN}D7", PAIR),
    (f"{MARK_OF_ORDER}AC{ZERO_WIDTH}TION: C{JOINER}3{ZERO_WIDTH} D{SOFT}7", PAIR),
    ("\uff21\uff23\uff34\uff29\uff2f\uff2e: \uff231", C1),
    ("ACTION: C1\r\n\r\n", C1),
    ("\x1b[1mACTION: C1".replace("[1m", ""), C1),
    # After thinking, and with what servers leave.
    ("<think>Maybe ACTION: A1.</think>\nACTION: C1", C1),
    ("Maybe ACTION: A1.\n</think>ACTION: C1", C1),
    ("<thinking>\nACTION: A1\n</thinking>\n\nACTION: C1", C1),
    ("analysis: ACTION: A1<|channel|>final<|message|>ACTION: C1", C1),
    ("ACTION: C1<|im_end|>", C1),
    ("ACTION: C1</s>", C1),
    # Several: the last one counts.
    ("ACTION: A1\nNo, that is seen.\nACTION: C1", C1),
    ("ACTION: C1\nThat is all.", C1),
    ("<answer>A1</answer>\nOn second thoughts:\nACTION: C1", C1),
    ("ACTION: A1\nBetter: \\boxed{C1}", C1),
    ("<answer>A1</answer> or <answer>C1</answer>", C1),
    ("> ACTION: A1\n\nACTION: C1", C1),
    ("Such as ACTION: A1 in the prompt.\nACTION: C1", C1),
    ("ACTION: /done", None),
]
"""Answer in Mist's window `turn`, and the action in it."""

NO_ACTION = [
    "",
    "   \n\n",
    "I do not know.\nLet me think.",
    "C3 is good, and D7 is, too.\nI cannot choose.",
    "I place a piece\non C3.",
    "<think>ACTION: C1",
    "<think>I could say\nACTION: C1\nbut no",
    "ACTION: C1</think>",
    "<think>ACTION: C1</think>",
    "> ACTION: C1",
    "You asked for a line such as ACTION: C1",
    "The prompt's example was: ACTION: C1",
    'For example, "ACTION: C1".\nI have not decided.',
    "The last line must be ACTION: and then my action.",
    "  ACTION: C3 D7                           2 pieces",
    "ACTION:",
    "ACTION: C1\nACTION:",
    "ACTION: C1\nACTION: J9",
    "<answer></answer>",
    "\\boxed{}",
    "\\boxed{C1",
    "ACTION: C1 or D7",
    "An action is needed: I think of C1\nand of D7",
    "ACTION: " + "9" * 5_000,
]
OTHER_GAMES = [
    ("mist", "first", "ACTION: first 1.", {"first": 1}),
    ("pointing", "point", "**ACTION**: seat 4", {"target": 4}),
    ("pointing", "point", "ACTION: Nobody.", {"target": None}),
    ("pointing", "vote", "<answer>2</answer>", {"seat": 2}),
    ("hive-mind", "scores", "ACTION: 1:12 3:\u22124", {"scores": {"1": 12, "3": -4}}),
    ("hive-mind", "round", "ACTION: [Charge ADE, Zero HKL]", {"place": {"Charge": "ADE", "Zero": "HKL"}}),
    ("fight-for-a-name", "move", "ACTION: N, NE, put 12:2", {"path": ["N", "NE"], "reinforce": {"12": 2}}),
    ("fight-for-a-name", "challenge", "ACTION: [0, 3]", {"pick": [0, 3]}),
    ("runes-to-ruins", "round", "ACTION: vote 13; told.", {"votes": {"13": 1}, "told": True}),
    ("runes-to-ruins", "round", "\\boxed{divine Box; told}", {"visions": {"divine": "Box"}, "told": True}),
]


@pytest.mark.parametrize(("answer", "action"), FORMS)
def test_an_action_is_found_in_the_forms_that_models_give(answer: str, action: Any) -> None:
    assert action == read_answer("mist", "turn", answer)


def test_the_table_has_sixty_forms_and_more() -> None:
    assert len({answer for answer, _ in FORMS}) == len(FORMS) > 60


@pytest.mark.parametrize("answer", NO_ACTION)
def test_text_that_is_no_action_is_not_read_as_one(answer: str) -> None:
    with pytest.raises(ParseError):
        read_answer("mist", "turn", answer)


@pytest.mark.parametrize(("game", "window", "answer", "action"), OTHER_GAMES)
def test_the_forms_are_read_in_all_games(game: str, window: str, answer: str, action: Any) -> None:
    assert action == read_answer(game, window, answer)


def many(unit: str) -> str:
    """Return a megabyte of it."""
    return unit * (1_000_000 // len(unit))


HOSTILE = [
    many("A"),
    many("\n"),
    many("ACTION:\n"),
    many("ACTION: {\n"),
    many("ACTION: C1\n"),
    many("ACTION: ["),
    many("So. ACTION: x\n"),
    many("<answer>"),
    many("</answer>"),
    many("<think>"),
    many("<think></think>"),
    many("\\boxed{"),
    many("\\text{"),
    many("```\n"),
    many("```{"),
    many("{"),
    many("["),
    many('{"a":'),
    many("Answer: \n"),
    many("1. "),
    many("my final "),
    many("*_`"),
    many(" ( - "),
    many("\ufdfa"),
    many(ZERO_WIDTH),
    many("> "),
    many(" and "),
    "ACTION: " + many("{"),
    "ACTION: " + many("(") + many(")"),
    "ACTION: \\text{" + many("\\text{") + "}",
]
OPERATIONS_PER_CHARACTER = 60


def operations(call: Callable[[], Any]) -> int:
    """Count the lines of Python that a call runs in the reader and in the games' words."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        del frame, arg
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except ParseError:
        pass
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("answer", HOSTILE, ids=lambda answer: json.dumps(answer[:14]))
def test_a_megabyte_that_means_harm_costs_a_bounded_number_of_operations(answer: str) -> None:
    """Bounded by the characters that are read, not by those that were sent; there is no regular expression."""
    most = OPERATIONS_PER_CHARACTER * MOST_CHARACTERS
    assert operations(lambda: read_answer("mist", "turn", answer)) < most
    assert "re" not in vars(prompts)


def test_twice_the_answer_costs_twice_the_operations_at_most() -> None:
    for unit in ("ACTION: {\n", "So. ACTION: x\n", "<answer>x</answer>\n", "```{\n", "\\boxed{\n"):
        once, twice = (
            operations(lambda size=size, unit=unit: read_answer("mist", "turn", unit * (size // len(unit))))  # type: ignore[misc]
            for size in (9_000, 18_000)
        )
        assert twice < 2.2 * once + 1_000


def test_only_the_end_of_a_long_answer_is_read() -> None:
    assert C1 == read_answer("mist", "turn", many("ACTION: A1\n") + "ACTION: C1")
    with pytest.raises(ParseError):
        read_answer("mist", "turn", "ACTION: C1\n" + many("no\n"))
