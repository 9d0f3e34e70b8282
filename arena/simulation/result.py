"""What came of a match in this process."""

from collections.abc import Sequence

from msgspec import Struct

from arena.simulation.bots import Source
from arena.simulation.match import Match
from arena.simulation.player import Player
from arena.statistics import points
from protocol.words import Outcome
from referee.rules import Addressed, Table


class Result(Struct, frozen=True, kw_only=True):
    """What came of a match. All tuples are by seat."""

    game: str
    variant: str
    seed: int
    bots: tuple[str, ...]
    """Their names."""
    outcome: Outcome
    windows: tuple[int, ...]
    """How many windows each had."""
    defaults: tuple[int, ...]
    """How many of them took the default."""
    illegal: tuple[int, ...]
    """How many actions broke a rule."""
    notes: tuple[tuple[str, ...], ...]
    """What each bot's log would have: exceptions that it survived, answers of the kit in its place."""
    transcript: str | None = None
    """Path of the transcript, if one was asked for."""
    match: Match | None = None
    """The match at its end, with `view` and `events` of each seat; None where many were played."""

    @property
    def scores(self) -> tuple[int | None, ...]:
        """The game's scores; None where it has none."""
        scores = {int(seat): score for seat, score in (self.outcome.scores or {}).items()}
        return tuple(map(scores.get, range(len(self.bots))))

    @property
    def ranking(self) -> tuple[tuple[int, ...], ...]:
        """Groups of seats, best first; seats of one group are tied."""
        return self.outcome.ranking

    @property
    def reason(self) -> str:
        """Why the match ended."""
        return self.outcome.reason

    @property
    def points(self) -> tuple[float, ...]:
        """The share of the other seats that each is ranked before, ties as a half: with two seats 1, 0.5 or 0."""
        return tuple(points(self.outcome, seat) for seat in range(len(self.bots)))

    def __repr__(self) -> str:
        """Who won what."""
        names = ["(" + " = ".join(f"{seat} {self.bots[seat]}" for seat in group) + ")" for group in self.ranking]
        return f"<Result of {self.game} {self.variant}, seed {self.seed}: {' > '.join(names)}, {self.reason}>"

    def _repr_html_(self) -> str:
        """For notebooks: the board at the end."""
        from arena.simulation.notebook import board, text  # noqa: PLC0415 - only notebooks need it

        if self.match is None:
            return text(repr(self))
        match = self.match
        return board(repr(self), self.game, match.host_view(), match.events())


def result_of(
    table: Table,
    sources: Sequence[Source],
    players: Sequence[Player],
    outcome: Outcome,
    told: Sequence[Addressed],
    *,
    transcript: str | None = None,
) -> Result:
    """The result of a match that is over."""
    return Result(
        game=table.game.name,
        variant=table.deal.variant,
        seed=table.deal.seed,
        bots=tuple(source.name for source in sources),
        outcome=outcome,
        windows=tuple(player.windows for player in players),
        defaults=tuple(player.defaults for player in players),
        illegal=tuple(player.illegal for player in players),
        notes=tuple(tuple(player.notes) for player in players),
        transcript=transcript,
        match=Match.at(table, told),
    )
