"""Regression tests: whether the new version of a bot is better than the old one, and where they differ."""

from arena.regression.decision_diff import (
    ComparedMatch,
    Decision,
    DecisionDiff,
    Group,
    asking,
    decision_of,
    explain,
    read_decision_diffs,
    total,
)
from arena.regression.model import (
    BASE,
    FIELD,
    HEAD,
    QUESTIONS,
    USAGE,
    Regression,
    RegressionHistory,
    UsageFinding,
    answers,
    evidence,
    history_of,
)
from arena.regression.options import Blocks, RegressionOptions, regression_of, same_content_text
from arena.regression.run import Finding, HeadBrokenError, RegressionRun, folder_for
