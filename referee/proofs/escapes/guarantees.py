"""The results of an examination, and the attempts that each level of isolation guarantees to stop."""

from typing import Literal

from msgspec import Struct

from referee.proofs.escapes.inside.running import IN_ORDER
from referee.sandbox import Isolation

Result = Literal["held", "escaped", "not tried", "too busy", "failed"]
"""Result of an attempt. `not tried`: the machine has nothing to attack. `too busy`: the machine was too busy to
decide. `failed`: the attempt itself has a fault."""


class How(Struct, frozen=True, kw_only=True):
    """The way in which the bots of an examination are started."""

    isolation: Isolation
    warm: bool


class Layer(Struct, frozen=True, kw_only=True):
    """One layer of a sandbox, as observed around a running bot."""

    layer: str
    in_force: bool | None
    """Whether the layer is in force; None: this machine does not show it."""
    evidence: str


class EscapeFinding(Struct, frozen=True, kw_only=True):
    """The result of one attempt to get past a layer."""

    layer: str
    in_force: bool | None
    attempt: str
    what: str
    result: Result
    promised: bool
    """Whether the level promises that the attempt fails."""
    evidence: str

    @property
    def is_proved(self) -> bool:
        """Whether the layer held, or the level does not promise it."""
        return not self.promised or self.result in {"held", "not tried"}


class ExaminationReport(Struct, frozen=True, kw_only=True):
    """One examination."""

    isolation: Isolation
    warm: bool
    layers: tuple[Layer, ...]
    findings: tuple[EscapeFinding, ...]

    @property
    def holds(self) -> bool:
        """Whether every promise of the level held."""
        return all(finding.is_proved for finding in self.findings)


FILTER = "system-call filter"
ONLY_STRICT = frozenset({FILTER, "memory group", "processor group"})
"""Layers that `standard` does not guarantee: the filter of system calls, and limits on the sum of a bot's
processes."""
_STANDARD = frozenset(attempt.name for attempt in IN_ORDER if attempt.layer not in ONLY_STRICT)
_FILTERED = frozenset(attempt.name for attempt in IN_ORDER if attempt.layer == FILTER)
GUARANTEED: dict[Isolation, frozenset[str]] = {
    "strict": frozenset(attempt.name for attempt in IN_ORDER),
    "standard": _STANDARD,
    "none": frozenset(),
}
"""Names of the attempts that must fail, keyed by level."""


def guaranteed(isolation: Isolation, *, has_filter: bool) -> frozenset[str]:
    """Return the names of the attempts that must fail.

    `standard` does not require a filter of system calls, but if there is one, it must hold.
    """
    return GUARANTEED[isolation] | (_FILTERED if isolation == "standard" and has_filter else frozenset())
