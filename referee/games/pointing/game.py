"""Pointing: three rounds in which every seat secretly points at one other seat or at none.

The rulings R1 to R8 are in docs/games/pointing.md; `map` computes the connections of a round and their map.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from random import Random

from msgspec.structs import replace

from protocol.games.pointing import (
    FEWEST_SEATS,
    MOST_SEATS,
    Map,
    Point,
    PointingDetail,
    PointingHostView,
    PointingOptions,
    PointingView,
    Reveal,
    Round,
    Tied,
    Vote,
)
from protocol.words import Action, Event, Outcome, Setup
from referee.games.pointing import worlds
from referee.games.pointing.state import (
    End,
    PointingState,
    play_round,
    standing_of,
)
from referee.rules import (
    DAY_MS,
    Addressed,
    Announced,
    Building,
    Game,
    Illegal,
    MatchRandom,
    PendingSeat,
    ResolvedActions,
    TimeTerms,
    Transition,
    Variant,
    Window,
    by_seat,
    check_own,
    choice_mask,
    ranked,
    remembered,
)

NOBODY = MOST_SEATS
CHOICES = (*(f"seat {seat}" for seat in range(MOST_SEATS)), "nobody")
"""Each action is one choice."""
ALWAYS_POINTED = -1
"""Garnets for a seat that pointed at another seat in all rounds."""


class Pointing(Game[PointingState, PointingOptions, Setup, PointingView]):
    """Chains score, loops do not, crowds and loners lose; the map shows connections but not seats."""

    name = "pointing"
    # The published rules set no time limit. People usually play such matches with a day per window.
    variants = (Variant("tempo-up", TimeTerms({"point": DAY_MS, "vote": DAY_MS})),)
    actions = {"point": Point, "vote": Vote}  # noqa: RUF012 - a ClassVar of the contract
    announced = {"point": Announced.SEATS, "vote": Announced.NAME}  # noqa: RUF012 - a ClassVar of the contract
    events = (Map, Tied, Reveal)
    options = PointingOptions
    view_type = PointingView
    choices = CHOICES

    def seats(self, options: PointingOptions) -> int:
        """Return the option `seats`."""
        return options.seats

    def deal(
        self, variant: str, options: PointingOptions, setup: Setup, rng: MatchRandom
    ) -> Transition[PointingState]:
        """Return the initial state, without events."""
        return Transition(PointingState(options))

    def window(self, state: PointingState) -> Window | None:
        """Return `point` for all seats in three rounds, then `vote` for the winners if seats are tied (R3)."""
        if state.end is not None:
            return None
        if state.standing is None:
            return _POINT_WINDOWS[state.options.seats]
        return Window("vote", tuple(PendingSeat(seat, Vote(seat=None)) for seat in state.standing.winners))

    def check(self, state: PointingState, seat: int, action: Action) -> Action:
        """Accept another seat or None as a target, and any tied seat, even the voter, or None as a vote (R3)."""
        if isinstance(action, Point):
            if action.target is not None and action.target >= state.options.seats:
                raise Illegal(f"target: {action.target} is no seat; the seats are 0 to {state.options.seats - 1}")
            if action.target == seat:
                raise Illegal("target: a seat cannot point at itself")
        elif isinstance(action, Vote) and action.seat is not None and action.seat not in _tied(state):
            raise Illegal(f"seat: {action.seat} is not one of the tied seats")
        return action

    def most_choices(self, options: PointingOptions) -> int:
        """Return the choices of three rounds and a vote."""
        return 4 * options.seats

    def build(self, view: PointingView, seat: int) -> Building:
        """See `Game.build`."""
        if view.may_vote:
            choice = yield 1 << NOBODY | choice_mask(view.tied)
            return Vote(seat=None if choice == NOBODY else choice)
        choice = yield 1 << NOBODY | choice_mask(range(view.seats)) & ~(1 << seat)
        return Point(target=None if choice == NOBODY else choice)

    def spell(self, view: PointingView, action: Action) -> Sequence[int]:
        """See `Game.spell`."""
        match action:
            case Point(target=target) | Vote(seat=target):
                return (NOBODY if target is None else target,)
            case _:
                raise AssertionError(action)

    def listed(self, view: PointingView, seat: int) -> Sequence[Action]:
        """Return all legal actions: the one without a seat first, then in order of seats."""
        if view.may_vote:
            return [Vote(seat=each) for each in (None, *view.tied)]
        others: list[int | None] = [None, *range(view.seats)]
        others.remove(seat)
        return [Point(target=each) for each in others]

    def worlds(
        self,
        view: PointingView,
        events: Sequence[Event],
        seat: int,
        rng: Random,
        *,
        variant: str | None = None,
        options: PointingOptions | None = None,
    ) -> Iterator[PointingState]:
        """See `Game.worlds`. `events` is not used: the view contains all information."""
        check_own(view, seat)
        given = options or PointingOptions(seats=view.seats)
        if given.seats != view.seats:
            raise ValueError(f"options.seats: {given.seats}, and the view is of a match of {view.seats} seats")
        return worlds.worlds(view, rng, given)

    def close(self, state: PointingState, taken: ResolvedActions, rng: MatchRandom) -> Transition[PointingState]:
        """Play a round, or the vote that ends the match."""
        actions = [part.action for part in taken if part is not None]
        if state.standing is not None:
            votes = tuple(map(attrgetter("seat"), actions))
            voted_out = _voted_out(state.standing.last, votes, rng)
            return _end(replace(state, votes=votes), voted_out, ())
        after = play_round(state, tuple(map(attrgetter("target"), actions)))
        told = (Addressed(Map(round=len(after.rounds), sections=after.rounds[-1].sections)),)
        if after.standing is None:
            return Transition(after, told)
        if len(after.standing.last) == 1:
            return _end(after, after.standing.last[0], told)
        return Transition(after, (*told, Addressed(Tied(seats=after.standing.last))))

    def view(self, state: PointingState, seat: int | None) -> PointingView:
        """Return the maps, the seat's submissions, the tied seats and, after the reveal, its contents (R6)."""
        public, targets = _public(state)
        if seat is None:
            return public
        standing = state.standing
        is_winner = standing is not None and seat in standing.winners
        return PointingView(
            seat=seat,
            seats=public.seats,
            round=public.round,
            maps=public.maps,
            targets=targets[seat],
            tied=public.tied,
            may_vote=is_winner and bool(public.tied) and state.end is None,
            voted=_votes(state).get(str(seat)) if state.votes else None,
            rounds=public.rounds,
            scores=public.scores,
        )

    def host_view(self, state: PointingState) -> PointingHostView:
        """Return all pointers, points, connections and votes."""
        standing = state.standing or standing_of(state)
        return PointingHostView(
            round=len(state.rounds) + 1,
            maps=tuple(map(attrgetter("sections"), state.rounds)),
            rounds=_rounds(state),
            scores=by_seat(standing.points),
            connected=by_seat(standing.connected),
            tied=_tied(state),
            votes=_votes(state),
            eliminated=state.end.eliminated if state.end else None,
        )

    def outcome(self, state: PointingState) -> Outcome | None:
        """Return winners and prizes (R2), the eliminated seat (R3), and the others ranked by points (R4, R8)."""
        standing, end = state.standing, state.end
        if standing is None or end is None:
            return None
        prized = standing.winners if len(standing.winners) <= state.options.token_threshold else ()
        garnets: dict[str, int] = {}
        for seat, targets in enumerate(_public(state)[1]):
            gained = (seat in prized) + ALWAYS_POINTED * (None not in targets)
            if gained:
                garnets[str(seat)] = gained
        others = (seat for seat in range(state.options.seats) if seat != end.eliminated)
        return Outcome(
            ranking=(*ranked(others, standing.points.__getitem__), (end.eliminated,)),
            winners=standing.winners,
            eliminated=end.eliminated,
            scores=end.reveal.scores,
            tokens=dict.fromkeys(map(str, prized), 1),
            garnets=garnets,
            reason="finished",
            detail=PointingDetail(rounds=end.reveal.rounds, connected=by_seat(standing.connected)),
        )

    def reseat(self, action: Action, seat_of: tuple[int, ...]) -> Action:
        """Renumber the seat in a target or vote."""
        if isinstance(action, Point) and action.target is not None:
            return Point(target=seat_of[action.target])
        if isinstance(action, Vote) and action.seat is not None:
            return Vote(seat=seat_of[action.seat])
        return action


_POINTING = tuple([PendingSeat(seat, Point(target=None)) for seat in range(MOST_SEATS)])
_POINT_WINDOWS = {seats: Window("point", _POINTING[:seats]) for seats in range(FEWEST_SEATS, MOST_SEATS + 1)}


@remembered
def _public(state: PointingState) -> tuple[PointingView, tuple[tuple[int | None, ...], ...]]:
    """Return a spectator's view, which all views share, and the targets in each round indexed by seat."""
    view = PointingView(
        seat=None,
        seats=state.options.seats,
        round=len(state.rounds) + 1,
        maps=tuple(map(attrgetter("sections"), state.rounds)),
        targets=(),
        tied=_tied(state),
        may_vote=False,
        voted=None,
        rounds=state.end.reveal.rounds if state.end else (),
        scores=state.end.reveal.scores if state.end else None,
    )
    if not state.rounds:
        return view, ((),) * state.options.seats
    return view, tuple(zip(*map(attrgetter("pointed"), state.rounds), strict=True))


def _tied(state: PointingState) -> tuple[int, ...]:
    """Return the seats that the winners vote on; empty if no vote is needed."""
    return state.standing.last if state.standing and len(state.standing.last) > 1 else ()


def _votes(state: PointingState) -> dict[str, int | None]:
    """Return the votes indexed by winner; empty until the vote is over."""
    winners = state.standing.winners if state.standing and state.votes else ()
    return dict(zip(map(str, winners), state.votes, strict=True))


def _voted_out(tied: tuple[int, ...], votes: tuple[int | None, ...], rng: MatchRandom) -> int:
    """Return the seat with the most votes. Draw one if several are equal or there are no votes (R3)."""
    most = max(map(votes.count, tied))
    equal = [seat for seat in tied if votes.count(seat) == most]
    return equal[0] if len(equal) == 1 else rng.shared().choice(equal)


def _end(state: PointingState, eliminated: int, told: tuple[Addressed, ...]) -> Transition[PointingState]:
    assert state.standing is not None  # noqa: S101 - all rounds are played
    reveal = Reveal(rounds=_rounds(state), scores=by_seat(state.standing.points))
    return Transition(replace(state, end=End(eliminated, reveal)), (*told, Addressed(reveal)))


def _rounds(state: PointingState) -> tuple[Round, ...]:
    return tuple(Round(targets=by_seat(played.pointed), points=by_seat(played.points)) for played in state.rounds)
