"""Scenarios with results that another implementation of the rules gave, a file a game."""

import json
from pathlib import Path
from typing import Any

from referee.adjudication.adjudicate import adjudicate_line

SCENARIOS = Path(__file__).parent / "scenarios"
"""Of each game one JSON object a line: `scenario`, `result`, and `drawn`, the places in it that luck may fill."""


def examples(game: str) -> list[Any]:
    """Return the examples of a game."""
    return [json.loads(line) for line in (SCENARIOS / f"{game}.jsonl").read_bytes().splitlines()]


def judged(scenario: Any) -> Any:
    """Return the result, as `arena adjudicate` prints it."""
    return json.loads(adjudicate_line(json.dumps(scenario).encode()))
