"""What a format must say for itself: its schedule, the order of its bots, its own table. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec import Struct

from arena.schedule.changes import Event
from arena.schedule.fields import ScheduleSpec, withdrawn
from arena.schedule.rounds import Schedule
from arena.statistics import Played, RunningRating, StandingsRow

Cells = tuple[str, ...]
Complaint = tuple[str, str]
"""A field of the tournament's file, and what is wrong with it."""


class Contest(Struct, frozen=True, kw_only=True):
    """A spec with which nothing is wrong, and the results so far."""

    spec: ScheduleSpec
    labels: tuple[str, ...]
    house: int | None
    """The entrant that fills seats and does not compete."""
    seed: int
    played: list[Played]
    """In schedule order. Of a ladder without an end, those of the period."""
    running: tuple[RunningRating, ...] = ()
    """By entrant: the ratings of a ladder without an end; empty: they are to be found from `played`, its first."""


class Tie(Struct):
    """A place in a bracket where two bots meet, and one goes on."""

    one: int
    other: int | None
    """None: the first one has no opponent."""
    points: list[float] = []
    """Of both, tie-breaks left out."""
    tie_breaks: list[float] = []
    """Of both in the single blocks after they were level; both 0 if there were none."""
    winner: int | None = None
    """None: it is not played."""


class Format(ABC):
    """A way to hold a tournament. What a format has no need of, it leaves as it is here."""

    name: ClassVar[str]
    """The value of `format` in the tournament's file."""
    uses: ClassVar[tuple[str, ...]] = ()
    """Which of the fields `rounds`, `heads` and `fill` it takes, for games of two seats."""
    order_text: ClassVar[str] = "By mean points."
    """The order of `places`, as a sentence."""

    grows: ClassVar[str | None] = "blocks"
    """The field of the file whose total may grow while it is played; None: nothing may."""
    ranks_withdrawn: ClassVar[bool] = False
    """Whether bots that withdrew have the place that they came to; else they come after those that compete."""

    @abstractmethod
    def schedule(self, spec: ScheduleSpec) -> Schedule:
        """The schedule of a spec with which nothing is wrong."""

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """What is wrong with a spec whose fields are all of this format; None if nothing is."""
        del spec, game
        return None

    def refusal(self, event: Event) -> str | None:
        """Why a change cannot be taken in at its block; None: it can."""
        del event
        return None

    def places(self, contest: Contest) -> dict[int, float]:
        """Entrant to place, the best one the lowest. Bots whose places are equal are ordered by mean points."""
        del contest
        return {}

    def in_order(self, contest: Contest, rows: Sequence[StandingsRow]) -> tuple[StandingsRow, ...]:
        """The rows by `places`, the house last; they are given by mean points."""
        place = self.places(contest)
        gone = frozenset[int]() if self.ranks_withdrawn else withdrawn(contest.spec)
        return tuple(sorted(rows, key=lambda row: (row.house, row.entrant in gone, place.get(row.entrant, 0.0))))

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> tuple[Cells, list[Cells]] | None:
        """Headings and rows of its own table; None where the table of each against each says it all.

        `rows` are as `in_order` has them.
        """
        del contest, rows
        return None

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """What the JSON of the results has for this format only: a key and its plain value."""
        del contest
        return {}

    def bracket(self, contest: Contest) -> list[list[Tie]]:
        """The ties of each round so far; none where nobody is knocked out."""
        del contest
        return []
