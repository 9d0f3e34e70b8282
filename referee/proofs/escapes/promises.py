"""The attempts that each level of isolation promises to stop."""

from referee.proofs.escapes.inside.running import IN_ORDER
from referee.sandbox import Isolation

FILTER = "system-call filter"
ONLY_STRICT = frozenset({FILTER, "memory group", "processor group"})
"""Layers that `standard` does not promise: the filter of system calls, and limits on the sum of a bot's
processes."""

_STANDARD = frozenset(attempt.name for attempt in IN_ORDER if attempt.layer not in ONLY_STRICT)
_FILTERED = frozenset(attempt.name for attempt in IN_ORDER if attempt.layer == FILTER)

PROMISED: dict[Isolation, frozenset[str]] = {
    "strict": frozenset(attempt.name for attempt in IN_ORDER),
    "standard": _STANDARD,
    "none": frozenset(),
}
"""Names of the attempts that must fail, keyed by level."""


def promised(isolation: Isolation, *, has_filter: bool) -> frozenset[str]:
    """Return the names of the attempts that must fail.

    `standard` does not require a filter of system calls, but if there is one, it must hold.
    """
    return PROMISED[isolation] | (_FILTERED if isolation == "standard" and has_filter else frozenset())
