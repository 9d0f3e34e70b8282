"""Is the new version of a bot better than the old one, and where do they part?"""

from arena.regression.divergence import Decision, Explained, Group, Place, decision_of, total
from arena.regression.explainer import asking, explain, explained_in
from arena.regression.history import USAGE, History, history_of
from arena.regression.model import BASE, FIELD, HEAD, Regression, evidence
from arena.regression.options import Asked, regression_of, same_content_text
from arena.regression.questions import QUESTION_NAMES, QUESTIONS, answers
from arena.regression.run import Finding, HeadBrokenError, folder_for, play_regression
from arena.regression.usage import UsageFinding

__all__ = [
    "BASE",
    "FIELD",
    "HEAD",
    "QUESTIONS",
    "QUESTION_NAMES",
    "USAGE",
    "Asked",
    "Decision",
    "Explained",
    "Finding",
    "Group",
    "HeadBrokenError",
    "History",
    "Place",
    "Regression",
    "UsageFinding",
    "answers",
    "asking",
    "decision_of",
    "evidence",
    "explain",
    "explained_in",
    "folder_for",
    "history_of",
    "play_regression",
    "regression_of",
    "same_content_text",
    "total",
]
