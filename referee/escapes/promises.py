"""What each level of isolation promises to hold."""

from referee.escapes.inside.running import IN_ORDER
from referee.plan import Isolation

ONLY_STRICT = frozenset({"system-call filter", "memory group", "processor group"})
"""Layers that `standard` does without: unusual system calls, and sums over all processes of a bot."""

_STANDARD = frozenset(attempt.name for attempt in IN_ORDER if attempt.layer not in ONLY_STRICT)

PROMISED: dict[Isolation, frozenset[str]] = {
    "strict": frozenset(attempt.name for attempt in IN_ORDER),
    "standard": _STANDARD,
    "none": frozenset(),
}
"""By level, the attempts that must fail."""
