"""The rules of The Fight For a Name. Numbers like R5 are the rulings in docs/games/fight_for_a_name.md.

Here is how the game meets its contract. `board` says where steps lead, `setup` draws and checks the secrets of the
host, `state` holds a match; `moving`, `pillars` and `titles` judge, `rounds` leads through a round, `ending` leads
through the votes to the outcome, `seen` makes the views; `rehearsal` is for conformance.
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
from protocol.words import Action, Event, Options, Outcome, Setup
from referee.games.fight_for_a_name import ending, legal, rehearsal, seen, worlds
from referee.games.fight_for_a_name.moving import checked_move
from referee.games.fight_for_a_name.pillars import answered, checked_ask
from referee.games.fight_for_a_name.rounds import close_moves, end_round, next_round, rank_challenge
from referee.games.fight_for_a_name.setup import checked_setup, drawn_setup
from referee.games.fight_for_a_name.state import SEATS, FightState
from referee.rules import (
    DAY_MS,
    MINUTE_MS,
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
    read_given,
    remembered,
)

_CHALLENGE = Window("challenge", tuple(Owed(seat, Pick(pick=())) for seat in range(SEATS)), timed=True)
_MOVE = Window("move", tuple(Owed(seat, Move()) for seat in range(SEATS)))


@lru_cache(maxsize=1024)
def _pillar(visitors: tuple[int, ...]) -> Window:
    return Window("pillar", tuple(Owed(seat, None) for seat in visitors), asap=True)


@remembered
def _vote(state: FightState) -> Window:
    shown = Candidates(candidates=state.candidates)
    return Window(state.phase, tuple(Owed(seat, Vote(seat=None), shown=shown) for seat in seen.voters(state)))


_VOTES = {
    "token_vote": ending.close_token_vote,
    "elimination_vote": ending.close_elimination_vote,
    "justice": ending.close_justice,
}


class FightForAName(Game[FightState]):
    """Thirteen seats, a board of 37 hexes with ten pillars around it; who makes its banner first wins."""

    name = "fight-for-a-name"
    variants = (
        # The source gives no times: it calls the game non-live, with answers of pillars given on the way, and asks
        # for those questions before a deadline. A day for each decision is how such games are played; the timed
        # game is a puzzle of eight numbers, for which ten minutes are plenty.
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

    def read_setup(self, variant: str, options: Options, given: Raw | None, luck: Luck) -> Setup:
        """See `Game.read_setup`."""
        if given in (None, Raw(b"null")):
            return drawn_setup(luck.shared())
        return checked_setup(read_given(FightSetup, given, "setup"))

    def seats(self, options: Options) -> int:
        """Thirteen."""
        return SEATS

    def deal(self, variant: str, options: Options, setup: Setup, luck: Luck) -> Step[FightState]:
        """All on Start. The hexes' colours and the timed game's puzzle are shown to all."""
        secrets = cast("FightSetup", setup)
        puzzle = secrets.challenge
        return Step(
            FightState(options=cast("FightOptions", options), setup=secrets),
            (
                Addressed(BoardShown(colours=secrets.colours)),
                Addressed(ChallengeShown(numbers=puzzle.numbers, target=puzzle.target)),
            ),
        )

    def window(self, state: FightState) -> Window | None:
        """`challenge`; each round `move`, then `pillar` if there are visitors; after the last, votes (R9, R10)."""
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
        """See `Game.check`. Every reason is about the action, public facts and the sender's own."""
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
        luck: Random,
        *,
        variant: str | None = None,
        options: Options | None = None,
    ) -> Iterator[FightState]:
        """See `worlds`. The view says all that the events have told."""
        check_own(view, seat)
        return worlds.worlds(view, seat, luck, cast("FightOptions", options or FightOptions()))

    def answer(self, state: FightState, seat: int, action: Action, luck: Luck) -> Step[FightState]:
        """What the pillar tells its visitor (R3)."""
        after, answer = answered(state, seat, cast("Ask", action), luck.seat(seat))
        return Step(after, (Addressed(answer, seat),))

    def close(self, state: FightState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[FightState]:
        """See `Game.close`. Visitors were answered before; those that asked nothing are told nothing."""
        if state.phase == "pillar":
            return Step(*end_round(state, luck))
        parts = [part for part in taken if part is not None]
        actions = [part.action for part in parts]
        if state.phase == "challenge":
            picks, elapsed_ms = cast("list[Pick]", actions), [part.elapsed_ms for part in parts]
            rank = rank_challenge(state.setup.challenge, picks, elapsed_ms, luck.shared())
            return Step(next_round(replace(state, challenge=rank)))
        if state.phase == "move":
            return Step(*close_moves(state, tuple(cast("list[Move]", actions)), luck))
        votes = [vote.seat for vote in cast("list[Vote]", actions) if vote.seat is not None]
        return Step(*_VOTES[state.phase](state, votes, luck))

    def view(self, state: FightState, seat: int | None) -> FightView:
        """What was told to all and to the seat, and what it did itself."""
        return seen.spectators_view(state) if seat is None else seen.seats_view(state, seat)

    def host_view(self, state: FightState) -> FightHostView:
        """Everything."""
        return seen.hosts_view(state)

    def plausible(self, state: FightState, seat: int, luck: Random) -> Action | None:
        """See `rehearsal.plausible`."""
        return rehearsal.plausible(state, seat, luck)

    def disguise(self, state: FightState, observer: int | None, luck: Random) -> FightState:
        """See `rehearsal.disguised`."""
        return rehearsal.disguised(state, observer, luck)

    def outcome(self, state: FightState) -> Outcome | None:
        """By the rounds in which titles were claimed (R9, R10), once the match is over."""
        return ending.outcome(state)
