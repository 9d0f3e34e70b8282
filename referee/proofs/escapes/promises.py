"""What each level of isolation promises to hold."""

from referee.proofs.escapes.inside.running import IN_ORDER
from referee.sandbox import Isolation

FILTER = "system-call filter"
ONLY_STRICT = frozenset({FILTER, "memory group", "processor group"})
"""Layers that `standard` does without: unusual system calls, and sums over all processes of a bot."""

_STANDARD = frozenset(attempt.name for attempt in IN_ORDER if attempt.layer not in ONLY_STRICT)
_FILTERED = frozenset(attempt.name for attempt in IN_ORDER if attempt.layer == FILTER)

PROMISED: dict[Isolation, frozenset[str]] = {
    "strict": frozenset(attempt.name for attempt in IN_ORDER),
    "standard": _STANDARD,
    "none": frozenset(),
}
"""By level, the attempts that must fail."""


def promised(isolation: Isolation, *, has_filter: bool) -> frozenset[str]:
    """The attempts that must fail. `standard` demands no filter of system calls, but what is there must hold."""
    return PROMISED[isolation] | (_FILTERED if isolation == "standard" and has_filter else frozenset())
