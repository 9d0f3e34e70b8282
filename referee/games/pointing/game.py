"""Pointing: thirteen seats, three rounds; in each, every seat points at one other seat or at none, in secret.

The rulings R1 to R8 are in docs/games/pointing.md; one round's connections and their map are `map`'s.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar, cast

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
from protocol.words import Action, Event, Options, Outcome, Setup
from referee.games.pointing import legal, worlds
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
    Luck,
    Owed,
    Step,
    Taken,
    TimeTerms,
    Variant,
    Window,
    check_own,
    remembered,
)

ALWAYS_POINTED = -1
"""Garnets for having pointed at another seat in all rounds."""

ValueT = TypeVar("ValueT")


class Pointing(Game[PointingState]):
    """Chains score, loops do not, crowds and loners lose; the map says what came of it, but not who is where."""

    name = "pointing"
    # The published rules name no time. People take a day for a window in matches of this kind.
    variants = (Variant("tempo-up", TimeTerms({"point": DAY_MS, "vote": DAY_MS})),)
    actions = {"point": Point, "vote": Vote}  # noqa: RUF012 - a ClassVar of the contract
    announced = {"point": Announced.SEATS, "vote": Announced.NAME}  # noqa: RUF012 - a ClassVar of the contract
    events = (Map, Tied, Reveal)
    options = PointingOptions
    view_type = PointingView
    choices = legal.CHOICES

    def seats(self, options: Options) -> int:
        """As many as the option says."""
        return cast("PointingOptions", options).seats

    def deal(self, variant: str, options: Options, setup: Setup, luck: Luck) -> Step[PointingState]:
        """Nothing is dealt, and nothing told."""
        return Step(PointingState(cast("PointingOptions", options)))

    def window(self, state: PointingState) -> Window | None:
        """Three rounds of all, then the winners' vote if one is needed (R3)."""
        if state.end is not None:
            return None
        if state.standing is None:
            return _POINT_WINDOWS[state.options.seats]
        return Window("vote", tuple(Owed(seat, Vote(seat=None)) for seat in state.standing.winners))

    def check(self, state: PointingState, seat: int, action: Action) -> Action:
        """At another seat, or at nobody; a vote for one of the tied seats, the voter itself too, or none (R3)."""
        if isinstance(action, Point):
            if action.target is not None and action.target >= state.options.seats:
                raise Illegal(f"target: {action.target} is no seat; the seats are 0 to {state.options.seats - 1}")
            if action.target == seat:
                raise Illegal("target: a seat cannot point at itself")
        elif isinstance(action, Vote) and action.seat is not None and action.seat not in _tied(state):
            raise Illegal(f"seat: {action.seat} is not one of the tied seats")
        return action

    def build(self, view: PointingView, seat: int) -> Building:
        """See `Game.build`."""
        return legal.build(view, seat)

    def spell(self, view: PointingView, action: Action) -> Sequence[int]:
        """See `Game.spell`."""
        return legal.spell(action)

    def listed(self, view: PointingView, seat: int) -> Sequence[Action]:
        """See `Game.listed`."""
        return legal.listed(view, seat)

    def worlds(
        self,
        view: PointingView,
        events: Sequence[Event],
        seat: int,
        luck: Random,
        *,
        variant: str | None = None,
        options: Options | None = None,
    ) -> Iterator[PointingState]:
        """See `Game.worlds`; the view has all that was told."""
        check_own(view, seat)
        given = cast("PointingOptions", options or PointingOptions(seats=view.seats))
        if given.seats != view.seats:
            raise ValueError(f"options.seats: {given.seats}, and the view is of a match of {view.seats} seats")
        return worlds.worlds(view, luck, given)

    def close(self, state: PointingState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[PointingState]:
        """A round, or the vote that ends the match."""
        actions = [part.action for part in taken if part is not None]
        if state.standing is not None:
            votes = tuple(cast("Vote", action).seat for action in actions)
            voted_out = _voted_out(state.standing.last, votes, luck)
            return _end(replace(state, votes=votes), voted_out, ())
        after = play_round(state, tuple([action.target for action in cast("list[Point]", actions)]))
        told = (Addressed(Map(round=len(after.rounds), sections=after.rounds[-1].sections)),)
        if after.standing is None:
            return Step(after, told)
        if len(after.standing.last) == 1:
            return _end(after, after.standing.last[0], told)
        return Step(after, (*told, Addressed(Tied(seats=after.standing.last))))

    def view(self, state: PointingState, seat: int | None) -> PointingView:
        """The maps, the seat's own submissions, who is voted on, and after the reveal all that it told (R6)."""
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
        """Everything."""
        standing = state.standing or standing_of(state)
        return PointingHostView(
            round=len(state.rounds) + 1,
            maps=tuple(played.sections for played in state.rounds),
            rounds=_rounds(state),
            scores=_by_seat(standing.points),
            connected=_by_seat(standing.connected),
            tied=_tied(state),
            votes=_votes(state),
            eliminated=state.end.eliminated if state.end else None,
        )

    def outcome(self, state: PointingState) -> Outcome | None:
        """Winners and their prizes (R2), who goes (R3), and all between by points (R4, R8)."""
        standing, end = state.standing, state.end
        if standing is None or end is None:
            return None
        prized = standing.winners if len(standing.winners) <= state.options.token_threshold else ()
        garnets = [
            (seat in prized) + ALWAYS_POINTED * (None not in targets)
            for seat, targets in enumerate(_public(state)[1])
        ]
        return Outcome(
            ranking=(*_groups(standing.points, end.eliminated), (end.eliminated,)),
            winners=standing.winners,
            eliminated=end.eliminated,
            scores=end.reveal.scores,
            tokens={str(seat): 1 for seat in prized},
            garnets={str(seat): gained for seat, gained in enumerate(garnets) if gained},
            reason="finished",
            detail=PointingDetail(rounds=end.reveal.rounds, connected=_by_seat(standing.connected)),
        )

    def reseat(self, action: Action, seat_of: tuple[int, ...]) -> Action:
        """Targets and votes name seats."""
        if isinstance(action, Point) and action.target is not None:
            return Point(target=seat_of[action.target])
        if isinstance(action, Vote) and action.seat is not None:
            return Vote(seat=seat_of[action.seat])
        return action


_SEAT_NAMES = tuple(str(seat) for seat in range(MOST_SEATS))
_POINT_WINDOWS = {
    seats: Window("point", tuple(Owed(seat, Point(target=None)) for seat in range(seats)))
    for seats in range(FEWEST_SEATS, MOST_SEATS + 1)
}


@remembered
def _public(state: PointingState) -> tuple[PointingView, tuple[tuple[int | None, ...], ...]]:
    """Return what views share: what a spectator sees, and by seat where it pointed in each round."""
    view = PointingView(
        seat=None,
        seats=state.options.seats,
        round=len(state.rounds) + 1,
        maps=tuple(played.sections for played in state.rounds),
        targets=(),
        tied=_tied(state),
        may_vote=False,
        voted=None,
        rounds=state.end.reveal.rounds if state.end else (),
        scores=state.end.reveal.scores if state.end else None,
    )
    if not state.rounds:
        return view, ((),) * state.options.seats
    return view, tuple(zip(*[played.pointed for played in state.rounds], strict=True))


def _tied(state: PointingState) -> tuple[int, ...]:
    """The seats that are, or were, voted on; none where nobody needs to vote."""
    return state.standing.last if state.standing and len(state.standing.last) > 1 else ()


def _votes(state: PointingState) -> dict[str, int | None]:
    """Winner to its vote, once the vote is over."""
    winners = state.standing.winners if state.standing and state.votes else ()
    return {str(seat): vote for seat, vote in zip(winners, state.votes, strict=True)}


def _voted_out(tied: tuple[int, ...], votes: tuple[int | None, ...], luck: Luck) -> int:
    """The seat with the most votes; of equal ones, or of all if nobody votes, a drawn one (R3)."""
    most = max(votes.count(seat) for seat in tied)
    equal = [seat for seat in tied if votes.count(seat) == most]
    return equal[0] if len(equal) == 1 else luck.shared().choice(equal)


def _groups(total: tuple[int, ...], eliminated: int) -> list[tuple[int, ...]]:
    """All seats but the eliminated one, which stands alone (R8), by points; those with equal points together."""
    groups: dict[int, list[int]] = {}
    for seat, points in enumerate(total):
        if seat != eliminated:
            groups.setdefault(points, []).append(seat)
    return [tuple(groups[points]) for points in sorted(groups, reverse=True)]


def _end(state: PointingState, eliminated: int, told: tuple[Addressed, ...]) -> Step[PointingState]:
    assert state.standing is not None  # noqa: S101 - all rounds are played
    reveal = Reveal(rounds=_rounds(state), scores=_by_seat(state.standing.points))
    return Step(replace(state, end=End(eliminated, reveal)), (*told, Addressed(reveal)))


def _rounds(state: PointingState) -> tuple[Round, ...]:
    return tuple(
        Round(targets=_by_seat(played.pointed), points=_by_seat(played.points)) for played in state.rounds
    )


def _by_seat(values: tuple[ValueT, ...]) -> dict[str, ValueT]:
    return dict(zip(_SEAT_NAMES, values, strict=False))
