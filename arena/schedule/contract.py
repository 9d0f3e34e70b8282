"""Interface of a tournament format: its schedule, the order of its bots and its own table. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec import Struct

from arena.columns import Table
from arena.schedule.fields import Event, ScheduleSpec, withdrawn
from arena.schedule.rounds import Schedule
from arena.statistics import Played, RunningRating, StandingsRow

Complaint = tuple[str, str]
"""A field of the tournament's file, and the fault in it."""


class Contest(Struct, frozen=True, kw_only=True):
    """A valid spec and the results so far."""

    spec: ScheduleSpec
    labels: tuple[str, ...]
    house: int | None
    """Number of the entrant that fills empty seats and does not compete."""
    seed: int
    played: list[Played]
    """Results in schedule order; in a ladder without an end, only those of the period."""
    running: tuple[RunningRating, ...] = ()
    """Ratings of a ladder without an end, indexed by entrant; if empty, they are computed from `played`."""


class Tie(Struct):
    """A meeting in a bracket: one of two bots advances."""

    one: int
    other: int | None
    """The opponent; None for a bye."""
    points: list[float] = []
    """Points of both bots, without tie-breaks."""
    tie_breaks: list[float] = []
    """Points of both bots in tie-break blocks; both 0 if none was played."""
    winner: int | None = None
    """The bot that advances; None while undecided."""


class Format(ABC):
    """A tournament format. Override only the methods that the format needs."""

    name: ClassVar[str]
    """Value of `format` in the tournament's file."""
    uses: ClassVar[tuple[str, ...]] = ()
    """Fields among `rounds`, `heads` and `fill` that the format accepts in games of two seats."""
    order_text: ClassVar[str] = "By mean points."
    """Description of the order of `places`, as a sentence."""

    grows: ClassVar[str | None] = "blocks"
    """Field of the file whose total may grow during the tournament; None if none may."""
    ranks_withdrawn: ClassVar[bool] = False
    """True if bots that withdrew keep the place they reached; otherwise they rank after competing bots."""

    @abstractmethod
    def schedule(self, spec: ScheduleSpec) -> Schedule:
        """Return the schedule of a valid spec."""

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """Return the first fault in a spec that has only fields of this format; None if it is valid."""
        del spec, game
        return None

    def refusal(self, event: Event) -> str | None:
        """Return the reason to refuse a change at its block; None if it is acceptable."""
        del event
        return None

    def places(self, contest: Contest) -> dict[int, float]:
        """Return the place of each entrant, the best one lowest. Mean points order bots of equal places."""
        del contest
        return {}

    def in_order(self, contest: Contest, rows: Sequence[StandingsRow]) -> tuple[StandingsRow, ...]:
        """Return the rows ordered by `places`, the house last. The input is ordered by mean points."""
        place = self.places(contest)
        gone = frozenset[int]() if self.ranks_withdrawn else withdrawn(contest.spec)
        return tuple(sorted(rows, key=lambda row: (row.house, row.entrant in gone, place.get(row.entrant, 0.0))))

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> Table[StandingsRow] | None:
        """Return the format's own table; None if the table of pairs is sufficient.

        `rows` are in the order of `in_order`.
        """
        del contest, rows
        return None

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """Return the part of the results' JSON that only this format has, as keys and plain values."""
        del contest
        return {}

    def bracket(self, contest: Contest) -> list[list[Tie]]:
        """Return the ties of each round so far; an empty list in formats without a bracket."""
        del contest
        return []
