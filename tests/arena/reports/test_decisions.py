"""One decision beside the answer that is given now."""

from typing import Any

import pytest

from arena.reports.decisions import REFUSALS, SHOWN, compared, compared_lines
from protocol.games.mist import Turn
from protocol.messages import Closed, Opened, Rejected
from protocol.refusals import Refusal
from referee.host.interview import AnsweredQuestion, AskedWindow, BotAnswer

DEFAULT: dict[str, Any] = {"cells": ["A1"]}
TAKEN: dict[str, Any] = {"cells": ["C3"]}


def lines(
    answer: BotAnswer | None,
    *,
    closed: bool = True,
    by_default: bool = False,
    refused: tuple[str, ...] = (),
    view: Any = None,
) -> list[str]:
    """Return the text shown of a window, below its heading."""
    opened = Opened(id=4, window="turn", view=view or {}, default=DEFAULT, main_ms=60_000, reserve_ms=0)
    taken = DEFAULT if by_default else TAKEN
    what = Closed(window=4, taken=taken, by_default=by_default, charged_ms=1, reserve_ms=0) if closed else None
    complaints = [Rejected(window=4, reason=Refusal.ILLEGAL, text=text) for text in refused]
    question = AskedWindow(opened=opened, state=None, closed=what, refused=complaints)
    found = compared(
        question, AnsweredQuestion(opened=opened, closed=what, answer=answer), "ended with exit code 1"
    )
    shown = compared_lines(found, 9)
    assert "window 4 (turn) of 9: main time 60 s" == shown[0]
    return [line.strip() for line in shown[1:]]


C3, G5 = BotAnswer(action=Turn(cells=("C3",))), BotAnswer(action=Turn(cells=("G5",)))
RECORDED = 'recorded  {"cells":["C3"]}'
TOOK_DEFAULT = '{"cells":["A1"]} (the default)'


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (C3, ['now       {"cells":["C3"]}', "the same"]),
        (G5, ['now       {"cells":["G5"]}', "different"]),
        (None, ["now       no answer: ended with exit code 1", "different"]),
        (
            BotAnswer(action=None, illegal="no cell Z9"),
            [f"now       {TOOK_DEFAULT}", "illegal: no cell Z9", "different"],
        ),
        (
            BotAnswer(action=Turn(cells=("C3",)), refused=("illegal: no cell Z9",)),
            ['now       {"cells":["C3"]}', "refused   illegal: no cell Z9", "the same"],
        ),
        (BotAnswer(action=None, chosen=True), [f"now       {TOOK_DEFAULT}", "different"]),
    ],
)
def test_the_recorded_action_stands_beside_the_answer(answer: BotAnswer | None, expected: list[str]) -> None:
    assert ["shown     {}", RECORDED, *expected] == lines(answer)


def test_a_default_that_was_taken_is_the_same_as_one_that_is_asked_for() -> None:
    same = BotAnswer(action=None, chosen=True)
    assert [f"recorded  {TOOK_DEFAULT}", f"now       {TOOK_DEFAULT}", "the same"] == lines(same, by_default=True)[
        1:
    ]


def test_a_default_for_want_of_an_answer_is_not_the_same() -> None:
    assert "different" == lines(BotAnswer(action=None, illegal="no cell Z9"), by_default=True)[-1]


def test_a_bot_that_was_gone_has_nothing_to_compare() -> None:
    expected = ["recorded  nothing: the bot was gone", 'now       {"cells":["C3"]}', "different"]
    assert expected == lines(C3, closed=False)[1:]


def test_refusals_are_said_in_words_and_not_endlessly() -> None:
    shown = lines(C3, refused=("no cell Z9",) * (REFUSALS + 2))
    assert ["refused   illegal: no cell Z9"] * REFUSALS + ["refused   and 2 messages more"] == shown[
        2 : REFUSALS + 3
    ]


def test_a_long_view_is_cut() -> None:
    shown = lines(C3, view={"cells": ["A1"] * SHOWN})[0]
    assert shown.endswith(" characters; --json has all)")
    assert len(shown) < SHOWN + 60
