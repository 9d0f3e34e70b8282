"""A match played step by step: the caller submits the actions of every seat. And the result of a match."""

from collections.abc import Mapping, Sequence
from functools import partial
from secrets import randbits
from typing import Any, Generic, Literal, Self, SupportsIndex, TypedDict, TypeVar, Unpack, overload

from msgspec import Raw, Struct

from arena.quantities import require_int
from arena.simulation.bots import BotSource, IllegalActionError, Player, defensive_copy
from arena.statistics import points
from protocol.codec import encode
from protocol.games.fight_for_a_name import FightView
from protocol.games.hive_mind import HiveMindView
from protocol.games.mist import MistView
from protocol.games.pointing import PointingView
from protocol.games.runes_to_ruins import RunesView
from protocol.words import Action, Event, Options, Outcome
from referee.display_text import did_you_mean
from referee.games import GAMES
from referee.rules import SPECTATOR, Addressed, AnyGame, Deal, Illegal, Table, Window

SEED_BITS = 53
MOST_SEED_BITS = 1_024
Given = Struct | dict[str, Any] | None
"""Options or a setup: the game's own Struct or plain values as in JSON; None for defaults or a random setup."""
ViewT = TypeVar("ViewT")


class DealArguments(TypedDict, total=False):
    """Arguments of a match besides its game: see `Match`."""

    variant: str | None
    seed: SupportsIndex | None
    options: Given
    setup: Given


def new_table(game: str, variant: str | None, seed: SupportsIndex | None, options: Given, setup: Given) -> Table:
    """Return a table with this deal.

    Raises:
        ValueError: the game or variant is unknown, the seed is invalid, or options or setup break the rules.
    """
    if game not in tuple(GAMES):
        raise ValueError(f"game: there is no {game!r}; {did_you_mean(str(game), GAMES, 'games')}")
    rules = GAMES[game]
    names = [each.name for each in rules.variants]
    if variant is not None and variant not in names:
        raise ValueError(f"variant: {game} has no {variant!r}; {did_you_mean(variant, names, 'variants')}")
    return Table(rules, Deal(variant or names[0], seed_of(seed), _raw("options", options), _raw("setup", setup)))


def seed_of(seed: SupportsIndex | None) -> int:
    """Return the seed, or a random one for None. Raise ValueError if it is not a whole number or too large."""
    if seed is None:
        return randbits(SEED_BITS)
    drawn = require_int("seed", seed)
    if drawn.bit_length() > MOST_SEED_BITS:
        raise ValueError(f"seed: it has {drawn.bit_length():,} bits; at most {MOST_SEED_BITS:,}")
    return drawn


def _raw(name: str, given: Given) -> Raw | None:
    try:
        return None if given is None else Raw(encode(given))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{name}: cannot be written as JSON: {error}") from None


class Position(Struct, frozen=True):
    """The state of a match between two submissions, from which it can continue."""

    table: Table
    told: Sequence[Addressed]
    """All events sent so far."""
    forfeits: Mapping[int, int] = {}
    """Number of windows before the forfeit, by seat whose bot raised and forfeited."""


class Match(Generic[ViewT]):
    """A match of one game, played by `submit`. It is plain synchronous code: no clock, no bots, no loop.

    Generic in the type of the game's views: `Match("mist")` is a `Match[MistView]`.
    """

    @overload
    def __init__(self: "Match[MistView]", game: Literal["mist"], **deal: Unpack[DealArguments]) -> None: ...
    @overload
    def __init__(
        self: "Match[HiveMindView]", game: Literal["hive-mind"], **deal: Unpack[DealArguments]
    ) -> None: ...
    @overload
    def __init__(
        self: "Match[PointingView]", game: Literal["pointing"], **deal: Unpack[DealArguments]
    ) -> None: ...
    @overload
    def __init__(
        self: "Match[FightView]", game: Literal["fight-for-a-name"], **deal: Unpack[DealArguments]
    ) -> None: ...
    @overload
    def __init__(
        self: "Match[RunesView]", game: Literal["runes-to-ruins"], **deal: Unpack[DealArguments]
    ) -> None: ...
    @overload
    def __init__(self: "Match[Any]", game: str, **deal: Unpack[DealArguments]) -> None: ...
    @overload
    def __init__(self, game: Position) -> None: ...
    def __init__(
        self,
        game: str | Position,
        *,
        variant: str | None = None,
        seed: SupportsIndex | None = None,
        options: Given = None,
        setup: Given = None,
    ) -> None:
        """Deal a match, or continue one from a position.

        Args:
            game: name of the game; or a position, which takes the place of all arguments.
            variant: name of the variant, by default the game's first.
            seed: seed of the match, by default random.
            options: options of the host, by default all defaults.
            setup: secrets of the host, by default random.

        Raises:
            ValueError: the game or variant is unknown, or options or setup break the game's rules.
        """
        if isinstance(game, Position):
            position = game
        else:
            table = new_table(game, variant, seed, options, setup)
            position = Position(table, table.start)
        self._table = position.table
        self._told = list(position.told)
        self._forfeits = position.forfeits

    @property
    def game(self) -> AnyGame:
        """Rules of the game."""
        return self._table.game

    @property
    def variant(self) -> str:
        """Name of the variant."""
        return self._table.deal.variant

    @property
    def seed(self) -> int:
        """Seed of all random choices of the match."""
        return self._table.deal.seed

    @property
    def options(self) -> Options:
        """Options of the match."""
        return self._table.options

    @property
    def seats(self) -> int:
        """Number of seats."""
        return self._table.seats

    @property
    def state(self) -> Any:
        """The game's own state with all secrets. Do not change it, because copies of the match share it."""
        return self._table.state

    @property
    def window(self) -> Window | None:
        """The open window; None when the match is over."""
        return self._table.window

    @property
    def owed(self) -> tuple[int, ...]:
        """Seats that still owe an action in the open window, in ascending order."""
        return tuple(owed.seat for owed in self._table.owed if owed.seat not in self._table.submitted)

    @property
    def outcome(self) -> Outcome | None:
        """Outcome of the match; None while it is played."""
        return self._table.outcome

    def view(self, seat: int | None = SPECTATOR) -> ViewT:
        """Return all that a seat (None: a spectator) may know now. Raise ValueError for an unknown seat."""
        view: Any = defensive_copy(self.game.view(self.state, self._seat(seat)))
        return view  # type: ignore[no-any-return]  # of the game's own type

    def host_view(self) -> Any:
        """Return everything with all secrets: the game's own host view, such as `MistHostView`."""
        return defensive_copy(self.game.host_view(self.state))

    def events(self, seat: int | None = SPECTATOR) -> tuple[Event, ...]:
        """Return all events of a seat so far, in order; for None, the public ones. Raise as `view`."""
        own = self._seat(seat)
        return tuple(defensive_copy(each.event) for each in self._told if each.seat in (None, own))

    def default(self, seat: int) -> Action | None:
        """Return the current default action, which is used for a seat that submits None."""
        self._check_owes(seat)
        return self._table.default(seat)

    def check(self, seat: int, action: Any) -> Action:
        """Return an action in the game's own type and canonical spelling, without submitting it.

        Raises:
            IllegalActionError: the action breaks a rule, or the seat owes none.
        """
        self._check_owes(seat)
        try:
            return self._table.read(seat, encode(action))
        except Illegal as illegal:
            raise self._illegal(seat, illegal.reason) from None
        except (TypeError, ValueError, RecursionError) as error:
            raise self._illegal(seat, f"cannot be written as JSON: {error}") from None

    def submit(self, seat: int, action: Any) -> None:
        """Submit a seat's action: a Struct of the game's words, plain values as in JSON, or None for the default.

        When the last seat of a window has submitted, the window closes and the next one opens.

        Raises:
            IllegalActionError: the action breaks a rule, or the seat owes none; the match is unchanged.
        """
        if action is None:
            self._check_owes(seat)
        else:
            action = self.check(seat, action)
        self._told += self._table.submit(seat, action)
        if not self.owed:
            self._told += self._table.close(self._table.results())

    def copy(self) -> Self:
        """Return an independent copy of the match in its present state."""
        return type(self)(Position(self._table.fork(), self._told, self._forfeits))

    def html(self, names: Sequence[str] | None = None) -> str:
        """Return a self-contained page that shows the match so far, step by step, in a browser.

        It shows everything that the host knows, as `arena replay --html` does.

        Args:
            names: the bots' names, by seat; by default `seat 0`, `seat 1` and so on.
        """
        from arena.simulation.html import page  # noqa: PLC0415 - it needs the viewer

        return page(self._table, self._forfeits, names or [f"seat {seat}" for seat in range(self.seats)])

    def _seat(self, given: int | None) -> int | None:
        if given is SPECTATOR:
            return SPECTATOR
        seat = require_int("seat", given, 0)
        if seat >= self.seats:
            raise ValueError(f"seat: {seat}; there are {self.seats}, the first is 0")
        return seat

    def _check_owes(self, seat: int) -> None:
        if seat not in self.owed:
            raise self._illegal(seat, "this seat owes nothing now")

    def _illegal(self, seat: int, reason: str) -> IllegalActionError:
        return IllegalActionError(seat, None if self.window is None else self.window.name, reason)

    def __repr__(self) -> str:
        """Return the game, the seed and the open window as text."""
        stands = "over"
        if self.window is not None:
            stands = f"window {self.window.name!r}, owed by {list(self.owed)}"
        return f"<Match of {self.game.name} {self.variant}, seed {self.seed}: {stands}>"

    def _repr_html_(self) -> str:
        """Return the whole board, as the host sees it, as HTML for notebooks."""
        from arena.simulation.html import board  # noqa: PLC0415 - only notebooks need it

        return board(repr(self), self.game.name, self.host_view(), self.events())


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
        return tuple(map(partial(points, self.outcome), range(len(self.bots))))

    def __repr__(self) -> str:
        """Return the game, the seed and the ranking as text."""
        groups: list[str] = []
        for group in self.ranking:
            tied = " = ".join(f"{seat} {self.bots[seat]}" for seat in group)
            groups.append(f"({tied})")
        return f"<Result of {self.game} {self.variant}, seed {self.seed}: {' > '.join(groups)}, {self.reason}>"

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
        from arena.simulation.html import board, frame, text  # noqa: PLC0415 - only notebooks need it

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
    sources: Sequence[BotSource],
    players: Sequence[Player],
    outcome: Outcome,
    told: Sequence[Addressed],
) -> PlayedResult:
    """Return the result of a finished match."""
    forfeits = {player.seat: player.windows for player in players if player.gone}
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
        transcript=None,
        match=Match(Position(table, told, forfeits)),
    )
