"""Make plans of short matches for tests, and read what was recorded of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Raw

from protocol.codec import encode
from referee.host.plan import AttemptResult, Plan
from referee.match.records import AnyRecord, WindowTime
from referee.match.terms import Policy
from referee.transcript.reader import read_transcript


def mist_plan(max_turns: int = 400, *, policy: dict[str, Any] | None = None, **more: Any) -> Plan:
    """Make a plan of a match of Mist in which seat 0 moves first; `more`: other fields of the plan."""
    given: dict[str, Any] = {"match": "test", "variant": "contractual-obligation", "seed": 11} | more
    return Plan(
        game="mist",
        options=Raw(encode({"first": 0, "max_turns": max_turns})),
        policy=Policy(**(policy or {})),
        **given,
    )


def records_of(result: AttemptResult) -> Sequence[AnyRecord]:
    """Read a match's whole transcript."""
    return list(read_transcript(Path(result.transcript)))


def actions_of(result: AttemptResult) -> list[object]:
    """Return the actions that were taken at every window, in order."""
    return [part.taken for each in records_of(result) if isinstance(each, WindowTime) for part in each.seats]
