"""The rules of The Fight For a Name. Numbers like R5 are the rulings in docs/games/fight_for_a_name.md.

`FightForAName` implements the contract of games with these modules: `setup` draws and checks the host's secrets;
`state` holds a match; `moving` checks and resolves actions; `rounds` runs a round and resolves claims;
`ending` runs the votes and computes the outcome; `seen` makes views; `legal` builds actions; `worlds` draws states
that fit a view; `rehearsal` serves conformance tests. Steps on the board are defined in
`protocol.games.fight_for_a_name.board`.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import assert_never, cast

from msgspec import Raw
from msgspec.structs import replace

from protocol.games.fight_for_a_name import (
    Ask,
    BoardShown,
    Candidates,
    ChallengeShown,
    Crowded,
    FightHostView,
    FightOptions,
    FightSetup,
    FightView,
    Move,
    Pick,
    PillarAnswer,
    PillarShows,
    Reveal,
    RoundResult,
    Standing,
    Vote,
)
from protocol.words import Action, Event, Outcome
from referee.games.fight_for_a_name import ending, legal, rehearsal, seen, worlds
from referee.games.fight_for_a_name.moving import answered, checked_ask, checked_move
from referee.games.fight_for_a_name.rounds import close_moves, end_round, next_round, rank_challenge
from referee.games.fight_for_a_name.state import SEATS, FightState, checked_setup, drawn_setup
from referee.rules import (
    DAY_MS,
    MINUTE_MS,
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
    check_own,
    read_given,
    remembered,
)

_CHALLENGE = Window("challenge", tuple(PendingSeat(seat, Pick(pick=())) for seat in range(SEATS)), timed=True)
_MOVE = Window("move", tuple(PendingSeat(seat, Move()) for seat in range(SEATS)))


@lru_cache(maxsize=1024)
def _pillar(visitors: tuple[int, ...]) -> Window:
    return Window("pillar", tuple(PendingSeat(seat, None) for seat in visitors), asap=True)


@remembered
def _vote(state: FightState) -> Window:
    shown = Candidates(candidates=state.candidates)
    return Window(
        state.phase, tuple(PendingSeat(seat, Vote(seat=None), shown=shown) for seat in seen.voters(state))
    )


_VOTES = {
    "token_vote": ending.close_token_vote,
    "elimination_vote": ending.close_elimination_vote,
    "justice": ending.close_justice,
}


class FightForAName(Game[FightState, FightOptions, FightSetup, FightView]):
    """A game of thirteen seats on 37 hexes with ten pillars around them; the first seat to make a banner wins."""

    name = "fight-for-a-name"
    variants = (
        # The source states no times. It calls the game non-live, with answers of pillars during a round, and sets
        # a deadline for the questions. Such games usually allow a day per decision. Ten minutes are enough for
        # the timed game, a puzzle of eight numbers.
        Variant(
            "guardians",
            TimeTerms({"challenge": 10 * MINUTE_MS, **dict.fromkeys(("move", "pillar", *_VOTES), DAY_MS)}),
        ),
    )
    actions = {  # noqa: RUF012 - a ClassVar of the contract
        "challenge": Pick,
        "move": Move,
        "pillar": Ask,
        **dict.fromkeys(_VOTES, Vote),
    }
    announced = {"challenge": Announced.SEATS, "move": Announced.SEATS}  # noqa: RUF012 - a ClassVar of the contract
    events = (BoardShown, ChallengeShown, PillarShows, Crowded, PillarAnswer, RoundResult, Standing, Reveal)
    options = FightOptions
    setup = FightSetup
    view_type = FightView
    choices = legal.CHOICES

    def read_setup(self, variant: str, options: FightOptions, given: Raw | None, rng: MatchRandom) -> FightSetup:
        """See `Game.read_setup`."""
        if given in (None, Raw(b"null")):
            return drawn_setup(rng.shared())
        return checked_setup(read_given(FightSetup, given, "setup"))

    def seats(self, options: FightOptions) -> int:
        """Return 13."""
        return SEATS

    def deal(
        self, variant: str, options: FightOptions, setup: FightSetup, rng: MatchRandom
    ) -> Transition[FightState]:
        """Place all seats on Start, and show the hexes' colours and the timed game's puzzle to all."""
        puzzle = setup.challenge
        told = (
            Addressed(BoardShown(colours=setup.colours)),
            Addressed(ChallengeShown(numbers=puzzle.numbers, target=puzzle.target)),
        )
        return Transition(FightState(options=options, setup=setup), told)

    def window(self, state: FightState) -> Window | None:
        """Return the open window.

        The first is `challenge`. Each round has `move`, then `pillar` if there are visitors. Votes follow the last
        round (R9, R10).
        """
        match state.phase:
            case "move":
                return _MOVE
            case "pillar":
                return _pillar(state.visitors)
            case "challenge":
                return _CHALLENGE
            case "over":
                return None
            case "token_vote" | "elimination_vote" | "justice":
                return _vote(state)
            case _ as unreachable:
                assert_never(unreachable)

    def check(self, state: FightState, seat: int, action: Action) -> Action:
        """See `Game.check`. Reasons mention only the action, public facts and the sender's private facts."""
        match action:
            case Move():
                return checked_move(state, seat, action)
            case Ask():
                return checked_ask(state.players[seat], action)
            case Pick(pick=pick):
                if len(set(pick)) < len(pick):
                    raise Illegal("a position is named twice")
                return Pick(pick=tuple(sorted(pick)))
            case Vote(seat=named) if named is not None and named not in state.candidates:
                raise Illegal(f"seat {named} is not among the candidates")
            case _:
                return action

    def build(self, view: FightView, seat: int) -> Building:
        """See `legal`."""
        return legal.build(view)

    def spell(self, view: FightView, action: Action) -> Sequence[int]:
        """See `Game.spell`."""
        return legal.spell(view, action)

    def listed(self, view: FightView, seat: int) -> Sequence[Action] | None:
        """See `legal.listed`."""
        return legal.listed(view)

    def worlds(
        self,
        view: FightView,
        events: Sequence[Event],
        seat: int,
        rng: Random,
        *,
        variant: str | None = None,
        options: FightOptions | None = None,
    ) -> Iterator[FightState]:
        """See `worlds`. The view contains all information of the events."""
        check_own(view, seat)
        return worlds.worlds(view, seat, rng, options or FightOptions())

    def answer(self, state: FightState, seat: int, action: Action, rng: MatchRandom) -> Transition[FightState]:
        """Send the pillar's answer to its visitor (R3)."""
        after, answer = answered(state, seat, cast("Ask", action), rng.seat(seat))
        return Transition(after, (Addressed(answer, seat),))

    def close(self, state: FightState, taken: ResolvedActions, rng: MatchRandom) -> Transition[FightState]:
        """See `Game.close`. Pillars have answered before; a visitor without questions receives no answer."""
        if state.phase == "pillar":
            return end_round(state, rng)
        parts = [part for part in taken if part is not None]
        actions = [part.action for part in parts]
        if state.phase == "challenge":
            picks, elapsed_ms = cast("list[Pick]", actions), [part.elapsed_ms for part in parts]
            rank = rank_challenge(state.setup.challenge, picks, elapsed_ms, rng.shared())
            return Transition(next_round(replace(state, challenge=rank)))
        if state.phase == "move":
            return close_moves(state, tuple(cast("list[Move]", actions)), rng)
        votes = [vote.seat for vote in cast("list[Vote]", actions) if vote.seat is not None]
        return _VOTES[state.phase](state, votes, rng)

    def view(self, state: FightState, seat: int | None) -> FightView:
        """Return the public facts; for a seat, also its private facts and its own actions."""
        return seen.spectators_view(state) if seat is None else seen.seats_view(state, seat)

    def host_view(self, state: FightState) -> FightHostView:
        """Return the view of the whole state."""
        return seen.hosts_view(state)

    def plausible(self, state: FightState, seat: int, rng: Random) -> Action | None:
        """See `rehearsal.plausible`."""
        return rehearsal.plausible(state, seat, rng)

    def disguise(self, state: FightState, observer: int | None, rng: Random) -> FightState:
        """See `rehearsal.disguised`."""
        return rehearsal.disguised(state, observer, rng)

    def outcome(self, state: FightState) -> Outcome | None:
        """Return the outcome by the rounds of the claims (R9, R10), or None until the match is over."""
        return ending.outcome(state)
