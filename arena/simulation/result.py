"""Result of a match in this process."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from arena.simulation.bots import Source
from arena.simulation.match import Match
from arena.simulation.player import Player
from arena.statistics import points
from protocol.words import Outcome
from referee.rules import Addressed, Table

MatchT = TypeVar("MatchT")


class Result(Struct, Generic[MatchT], frozen=True, kw_only=True):
    """The result of one match. All tuples are indexed by seat.

    Generic in `match`: `play("mist", …)` gives a `Result[Match[MistView]]`, and `play_many` each `Result[None]`.
    """

    game: str
    variant: str
    seed: int
    bots: tuple[str, ...]
    """Names of the bots."""
    outcome: Outcome
    windows: tuple[int, ...]
    """Numbers of windows."""
    defaults: tuple[int, ...]
    """Numbers of windows in which the default was used."""
    illegal: tuple[int, ...]
    """Numbers of illegal actions."""
    notes: tuple[tuple[str, ...], ...]
    """Texts for the bots' logs: exceptions after which a bot played on, and answers of the kit in its place."""
    transcript: str | None = None
    """Path of the transcript, if one was asked for."""
    match: MatchT
    """The match at its end, with `view` and `events` of each seat; None in results of `play_many`."""

    @property
    def scores(self) -> tuple[int | None, ...]:
        """Scores of the game; None for a seat without one."""
        scores = {int(seat): score for seat, score in (self.outcome.scores or {}).items()}
        return tuple(map(scores.get, range(len(self.bots))))

    @property
    def ranking(self) -> tuple[tuple[int, ...], ...]:
        """Groups of seats, best first; seats of one group are tied."""
        return self.outcome.ranking

    @property
    def reason(self) -> str:
        """Reason for the end of the match."""
        return self.outcome.reason

    @property
    def points(self) -> tuple[float, ...]:
        """Share of the other seats ranked below; a tie counts half. With two seats it is 1, 0.5 or 0."""
        return tuple(points(self.outcome, seat) for seat in range(len(self.bots)))

    def __repr__(self) -> str:
        """Return the game, the seed and the ranking as text."""
        names = ["(" + " = ".join(f"{seat} {self.bots[seat]}" for seat in group) + ")" for group in self.ranking]
        return f"<Result of {self.game} {self.variant}, seed {self.seed}: {' > '.join(names)}, {self.reason}>"

    def html(self) -> str:
        """Return a page that shows the match step by step in a browser, under the bots' names: see `Match.html`.

        Raises:
            ValueError: the match was not kept, as in `play_many`.
        """
        match: Any = self.match
        if match is None:
            raise ValueError("play_many keeps no matches: play one with `play`, or with a `transcript`")
        return str(match.html(self.bots))

    def _repr_html_(self) -> str:
        """Return the replay for a notebook, in a frame of its own; the board at the end if it is too large."""
        from arena.simulation.notebook import board, frame, text  # noqa: PLC0415 - only notebooks need it

        match: Any = self.match
        if match is None:
            return text(repr(self))
        return frame(repr(self), self.html()) or board(
            f"{self!r}\nhtml() has the replay", self.game, match.host_view(), match.events()
        )


PlayedResult = Result[Match[Any]]
"""Result of `play` for a game whose view type is unknown."""


def result_of(
    table: Table,
    sources: Sequence[Source],
    players: Sequence[Player],
    outcome: Outcome,
    told: Sequence[Addressed],
    *,
    transcript: str | None = None,
) -> PlayedResult:
    """Return the result of a finished match."""
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
        match=Match[Any].at(table, told, {player.seat: player.windows for player in players if player.gone}),
    )
