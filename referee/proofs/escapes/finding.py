"""What an examination finds: plain data."""

from typing import Literal

from msgspec import Struct

from referee.sandbox import Isolation

Result = Literal["held", "escaped", "not tried", "too busy", "failed"]
"""`not tried`: there is nothing to be tried on this machine. `too busy`: the machine was, to
tell whether it was held. `failed`: by the attempt's own fault."""


class How(Struct, frozen=True, kw_only=True):
    """How the bots of an examination are started."""

    isolation: Isolation
    warm: bool


class Layer(Struct, frozen=True, kw_only=True):
    """One wall of a sandbox, as it was seen around a bot that was running."""

    layer: str
    in_force: bool | None
    """None: it cannot be seen on this machine."""
    evidence: str


class Finding(Struct, frozen=True, kw_only=True):
    """What came of one attempt to get past a layer."""

    layer: str
    in_force: bool | None
    attempt: str
    what: str
    result: Result
    promised: bool
    """The level promises that this holds."""
    evidence: str

    @property
    def is_proved(self) -> bool:
        """It holds, or nobody said that it would."""
        return not self.promised or self.result in {"held", "not tried"}


class Report(Struct, frozen=True, kw_only=True):
    """One examination."""

    isolation: Isolation
    warm: bool
    layers: tuple[Layer, ...]
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """All that the level promises."""
        return all(finding.is_proved for finding in self.findings)
