"""The expected course of a match, as far as the model has computed it. Plain data."""

from msgspec import Struct

from referee.proofs.fuzzing.attendance import Attendance
from referee.proofs.fuzzing.rules_of_time import Clocks, Part
from referee.proofs.fuzzing.script import Script
from referee.proofs.fuzzing.trace import Did, Trace

Spoken = list[tuple[int, Did]]
"""Messages of a seat, each with its index in `Trace.did`."""


class Window(Struct, frozen=True):
    """The expected window of one seat; all times in microseconds."""

    kind: str
    opened: int
    closed: int
    reserve: int
    """Remaining reserve of the seat when the window opened."""
    part: Part
    spoken: Spoken


class History:
    """The expected course of one match."""

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
        """Whether each requested pause had to be granted, keyed by index in `did`."""
        self.out_of_turn = out_of_turn
        """Indices in `did` of the messages sent before a hello."""
        self.windows: list[list[Window]] = [[] for _ in range(script.seats)]
        self.ended = trace.ended or 0
