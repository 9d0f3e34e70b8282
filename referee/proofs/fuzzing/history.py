"""What a match should have been, as far as the model has found it to be. Plain data."""

from msgspec import Struct

from referee.proofs.fuzzing.attendance import Attendance
from referee.proofs.fuzzing.rules_of_time import Clocks, Part
from referee.proofs.fuzzing.script import Script
from referee.proofs.fuzzing.trace import Did, Trace

Spoken = list[tuple[int, Did]]
"""What a seat said, each with its place in `Trace.did`."""


class Window(Struct, frozen=True):
    """One seat's window."""

    kind: str
    opened: int
    closed: int
    reserve: int
    """What the seat had left when it opened."""
    part: Part
    spoken: Spoken


class History:
    """Of one match."""

    def __init__(
        self,
        script: Script,
        trace: Trace,
        *,
        there: Attendance,
        clocks: Clocks,
        granted: dict[int, bool],
        out_of_turn: set[int],
    ) -> None:
        self.script = script
        self.trace = trace
        self.there = there
        self.clocks = clocks
        self.granted = granted
        """Whether a pause that was asked for was to be granted, by place in `did`."""
        self.out_of_turn = out_of_turn
        """Places in `did` of what was said before a hello."""
        self.windows: list[list[Window]] = [[] for _ in range(script.seats)]
        self.ended = trace.ended or 0
