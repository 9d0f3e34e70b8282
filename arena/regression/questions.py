"""The questions that a regression test can ask by name, and how its answers are said. Pure."""

from typing import Literal, get_args

from msgspec import Struct

from arena.statistics import Anytime, Sprt

QuestionName = Literal["better", "not-worse", "much-better"]
QUESTION_NAMES: tuple[QuestionName, ...] = get_args(QuestionName)
DEFAULT: QuestionName = "better"


class Question(Struct, frozen=True, kw_only=True):
    """What is held against what, and what an answer says."""

    elo0: float
    elo1: float
    """The two hypotheses of a test of two seats, in normalized Elo."""
    low: float
    high: float
    """Those of a test of more seats, or against a field, in points a match."""
    yes: str
    no: str


QUESTIONS: dict[QuestionName, Question] = {
    "better": Question(elo0=0, elo1=20, low=0, high=0.05, yes="head is better", no="head is not better"),
    "not-worse": Question(elo0=-20, elo1=0, low=-0.05, high=0, yes="head is not worse", no="head is worse"),
    "much-better": Question(
        elo0=20, elo1=60, low=0.05, high=0.15, yes="head is much better", no="head is not much better"
    ),
}


def answers(test: Sprt | Anytime) -> tuple[str, str]:
    """Return what it says if head is accepted, and if it is rejected."""
    if isinstance(test, Sprt):
        numbers, unit = (test.elo0, test.elo1), " Elo"
    else:
        numbers, unit = (test.low, test.high), " points a match"
    for question in QUESTIONS.values():
        asked = (question.elo0, question.elo1) if isinstance(test, Sprt) else (question.low, question.high)
        if asked == numbers:
            return question.yes, question.no
    low, high = numbers
    return _beyond(low, unit), _short_of(high, unit)


def _beyond(low: float, unit: str) -> str:
    """Head is above this difference."""
    if low == 0:
        return "head is better"
    return f"head is better by more than {low:g}{unit}" if low > 0 else f"head is not {-low:g}{unit} worse"


def _short_of(high: float, unit: str) -> str:
    """Head is below this difference."""
    if high == 0:
        return "head is worse"
    return f"head is not {high:g}{unit} better" if high > 0 else f"head is worse by more than {-high:g}{unit}"
