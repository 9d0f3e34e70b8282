"""The results of an examination: plain data."""

from typing import Literal

from msgspec import Struct

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


class Finding(Struct, frozen=True, kw_only=True):
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


class Report(Struct, frozen=True, kw_only=True):
    """One examination."""

    isolation: Isolation
    warm: bool
    layers: tuple[Layer, ...]
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether every promise of the level held."""
        return all(finding.is_proved for finding in self.findings)
