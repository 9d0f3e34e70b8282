"""A ladder without an end: it plays the most informative matches for as long as there is time. Pure.

`EndlessLadderState` makes the blocks, wave after wave; `Choice` chooses the tables of a wave.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from arena.columns import Column, Table, whole_number
from arena.quantities import pluralise, rounded
from arena.schedule.columns import format_table
from arena.schedule.contract import Complaint, Contest, Format
from arena.schedule.fields import Event, Extended, ScheduleSpec
from arena.schedule.rounds import Rounds, at_once
from arena.schedule.waves import EndlessLadderState
from arena.statistics import (
    PLAYED,
    POINTS,
    RATING_MEANING,
    RECORD,
    BotColumn,
    Played,
    RunningRating,
    StandingsRow,
)


class EndlessFormat(Format):
    """See `Format`. Accepts any number of seats."""

    name = "ladder"
    uses = ("fill",)
    grows = None
    order_text = "By the ladder's rating."

    def schedule(self, spec: ScheduleSpec) -> "EndlessLadder":
        """See `Format`."""
        return EndlessLadder(spec)

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """See `Format`."""
        for field in ("rounds", "heads"):
            if getattr(spec, field) is not None:
                return field, "is not for a ladder without an end"
        if spec.blocks != 1:
            return "blocks", "is not for a ladder without an end, which chooses each block by itself"
        if (spec.rotations or 0) > spec.seats:
            return "rotations", f"{spec.rotations} are too many; {game} has {spec.seats} seats"
        if not spec.filled and spec.entrants < spec.seats:
            few = f"{pluralise(spec.entrants, 'bot')} cannot fill {spec.seats} seats"
            return "bots", f'{few}; a bot of the house takes the others: fill = "BOT"'
        return None

    def refusal(self, event: Event) -> str | None:
        """See `Format`."""
        return "a ladder without an end cannot be extended" if isinstance(event.what, Extended) else None

    def places(self, contest: Contest) -> dict[int, float]:
        """See `Format`."""
        return {entrant: -each.rating for entrant, each in enumerate(_running(contest))}

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> Table[StandingsRow]:
        """See `Format`."""
        ratings = _running(contest)
        rating: BotColumn = Column(
            "rating", lambda row: ratings[row.entrant].rating, whole_number, meaning=RATING_MEANING
        )
        error: BotColumn = Column("±", lambda row: ratings[row.entrant].error, whole_number)
        return format_table(contest.labels, rows, (rating, error, PLAYED, POINTS, RECORD))

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """See `Format`."""
        return {"ladder": ladder_json(contest.labels, _running(contest))}


def ladder_json(labels: Sequence[str], ratings: Sequence[RunningRating]) -> list[dict[str, Any]]:
    """Return a ladder's ratings as plain data, best first."""
    found = sorted(zip(labels, ratings, strict=True), key=lambda one: -one[1].rating)
    return [
        {"bot": bot, "rating": rounded(each.rating, 1), "error": rounded(each.error, 1), "blocks": each.blocks}
        for bot, each in found
    ]


def _running(contest: Contest) -> tuple[RunningRating, ...]:
    """Return the ratings by entrant, computed from all results if the contest does not have them."""
    if contest.running:
        return contest.running
    waves = EndlessLadderState(contest.spec, contest.seed)
    waves.replay(lambda first, end: [each for each in contest.played if first <= each.block < end])
    return waves.ratings()


class EndlessLadder(Struct, frozen=True):
    """See `Schedule`."""

    spec: ScheduleSpec

    @property
    def matches(self) -> int:
        """See `Schedule`: 0, because the number is unknown."""
        return 0

    def change_at(self, begun: int) -> int:
        """See `Schedule`."""
        return at_once(begun)

    def rounds(self, seed: int) -> "EndlessRounds":
        """See `Schedule`. The rounds end when no bot needs more matches."""
        return EndlessRounds(EndlessLadderState(self.spec, seed))


class EndlessRounds(Rounds):
    """See `Rounds`. Each wave is a round."""

    def __init__(self, waves: EndlessLadderState) -> None:
        """Make the first round."""
        self._waves = waves
        self._begin()

    def advance(self, results: Sequence[Played]) -> None:
        """See `Rounds`."""
        self._waves.hear(results)
        self._begin()

    def _begin(self) -> None:
        # All results of a wave are present before the next one is made, so `next` has an answer.
        wave = self._waves.next()
        self.blocks = wave.__iter__ if wave else None
