"""Regression tests: whether the new version of a bot is better than the old one, and where they differ."""

from arena.regression.decision_diff import (
    Decision,
    DecisionDiff,
    Group,
    Place,
    asking,
    decision_of,
    explain,
    read_decision_diffs,
    total,
)
from arena.regression.history import USAGE, History, history_of
from arena.regression.model import (
    BASE,
    FIELD,
    HEAD,
    QUESTION_NAMES,
    QUESTIONS,
    Regression,
    UsageFinding,
    answers,
    evidence,
)
from arena.regression.options import Blocks, RegressionOptions, regression_of, same_content_text
from arena.regression.run import Finding, HeadBrokenError, folder_for, play_regression

__all__ = [
    "BASE",
    "FIELD",
    "HEAD",
    "QUESTIONS",
    "QUESTION_NAMES",
    "USAGE",
    "Blocks",
    "Decision",
    "DecisionDiff",
    "Finding",
    "Group",
    "HeadBrokenError",
    "History",
    "Place",
    "Regression",
    "RegressionOptions",
    "UsageFinding",
    "answers",
    "asking",
    "decision_of",
    "evidence",
    "explain",
    "folder_for",
    "history_of",
    "play_regression",
    "read_decision_diffs",
    "regression_of",
    "same_content_text",
    "total",
]
