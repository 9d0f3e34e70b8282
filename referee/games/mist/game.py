"""Mist's implementation of the game contract: options, windows, views, outcome. `turns` plays the turns."""

from collections.abc import Iterator, Sequence
from random import Random

from msgspec import UNSET
from msgspec.structs import replace

from protocol.games.mist import (
    ChooseFirst,
    FirstChosen,
    FirstMove,
    MistDetail,
    MistHostView,
    MistOptions,
    MistView,
    OpponentPlaced,
    Placed,
    Reveal,
    Swapped,
    Turn,
    Vision,
)
from protocol.games.mist.board import BOARD, PLAYABLE
from protocol.words import Action, Event, Outcome, Setup
from referee.games.mist import legal, worlds
from referee.games.mist.turns import (
    NO_TERMS,
    NOTHING_KNOWN,
    RULE_SETS,
    MistState,
    groups_of,
    mover_of,
    place,
    swap,
    terms_of,
    turn_of,
    whole_board,
    winner_of,
)
from referee.rules import (
    MINUTE_MS,
    Addressed,
    Announced,
    Building,
    Game,
    MatchRandom,
    PendingSeat,
    ResolvedActions,
    TimeTerms,
    Transition,
    Variant,
    Window,
    check_own,
)


class Mist(Game[MistState, MistOptions, Setup, MistView]):
    """Two seats, a board of 61 hexes under fog; the largest connected group wins."""

    name = "mist"
    variants = (
        # The source allows the seat with the advantage 24 hours to choose the first player, because people play it
        # online. Programs get a minute, as for every other decision.
        Variant("contractual-obligation", TimeTerms({"first": MINUTE_MS, "turn": MINUTE_MS})),
        Variant("heaven-and-hell", TimeTerms({"first": MINUTE_MS, "turn": MINUTE_MS}, reserve_ms=5 * MINUTE_MS)),
    )
    actions = {"first": ChooseFirst, "turn": Turn}  # noqa: RUF012 - a ClassVar of the contract
    announced = {"first": Announced.SEATS, "turn": Announced.SEATS}  # noqa: RUF012 - a ClassVar of the contract
    events = (FirstChosen, FirstMove, Swapped, Placed, OpponentPlaced, Vision, Reveal)
    options = MistOptions
    view_type = MistView
    choices = legal.CHOICES

    def seats(self, options: MistOptions) -> int:
        """Return 2."""
        return 2

    def deal(self, variant: str, options: MistOptions, setup: Setup, rng: MatchRandom) -> Transition[MistState]:
        """Return an empty board without events; not even a first player set by option is announced (R6)."""
        first = None if options.first == "choose" else options.first
        return Transition(MistState(variant=variant, options=options, first=first, without=(PLAYABLE, PLAYABLE)))

    def window(self, state: MistState) -> Window | None:
        """Return `first` for the seat with the advantage, then `turn` for each seat alternately (R6)."""
        if state.reason is not None:
            return None
        if state.first is None:
            return _FIRST_WINDOWS[state.options.advantage]
        return _TURN_WINDOWS[state.variant, (state.first + state.turns) % 2]

    def check(self, state: MistState, seat: int, action: Action) -> Action:
        """See `Game.check`. Reasons depend on the action and public rules only (R1-R3, R5)."""
        return legal.checked_turn(terms_of(state), action) if isinstance(action, Turn) else action

    def setups(self, variant: str, options: MistOptions) -> Sequence[Setup]:
        """Return the one setup: nothing is drawn."""
        return (Setup(),)

    def most_choices(self, options: MistOptions) -> int:
        """Return the choices of the longest turns: three for each, and one before the first."""
        return 1 + 3 * options.max_turns

    def build(self, view: MistView, seat: int) -> Building:
        """Build a turn cell by cell, or a swap."""
        return legal.build(view)

    def spell(self, view: MistView, action: Action) -> Sequence[int]:
        """See `Game.spell`."""
        return legal.spell(view, action)

    def listed(self, view: MistView, seat: int) -> Sequence[Action]:
        """Return all legal actions, 29,106 at most."""
        return legal.listed(view)

    def worlds(
        self,
        view: MistView,
        events: Sequence[Event],
        seat: int,
        rng: Random,
        *,
        variant: str | None = None,
        options: MistOptions | None = None,
    ) -> Iterator[MistState]:
        """See `Game.worlds`."""
        check_own(view, seat)
        return worlds.worlds(view, events, rng, variant or self.variants[0].name, options or MistOptions())

    def close(self, state: MistState, taken: ResolvedActions, rng: MatchRandom) -> Transition[MistState]:
        """Play the action of the seat in the open window."""
        part = taken[0] or taken[1]
        action = part.action if part else None
        if isinstance(action, ChooseFirst):
            return Transition(replace(state, first=action.first), (Addressed(FirstChosen(seat=action.first)),))
        assert isinstance(action, Turn)  # noqa: S101 - there are no other actions
        after, told = swap(state) if action.cells is UNSET else place(state, action.cells)
        if after.reason is None:
            return Transition(after, told)
        reveal = Reveal(board=whole_board(after.pieces), groups=groups_of(after.pieces), turns=after.turns)
        return Transition(after, (*told, Addressed(reveal)))

    def view(self, state: MistState, seat: int | None) -> MistView:
        """Return the seat's latest information and public facts."""
        known = NOTHING_KNOWN if seat is None else state.known[seat]
        mover, terms, turn = None, NO_TERMS, turn_of(state)
        if state.reason is None and state.first is not None:
            mover, terms = (state.first + state.turns) % 2, terms_of(state)
        return MistView(
            seat=seat,
            turn=turn,
            mover=mover,
            pieces=terms.pieces,
            forbidden=terms.forbidden,
            may_swap=terms.may_swap,
            first_move=state.first_move,
            swapped=state.swapped,
            visible=known.visible,
            spotted=known.spotted,
            destroyed=known.destroyed,
            placed=known.placed,
            lost=known.lost,
        )

    def host_view(self, state: MistState) -> MistHostView:
        """Return the whole board, the cells that each seat sees and spots, and each seat's last turn."""
        return MistHostView(
            turn=turn_of(state),
            mover=mover_of(state),
            board=whole_board(state.pieces),
            vision=tuple(BOARD.cells(sight.vision) for sight in state.sight),
            spotting=tuple(BOARD.cells(sight.spotting) for sight in state.sight),
            placed=tuple(known.placed for known in state.known),
            lost=tuple(known.lost for known in state.known),
            groups=groups_of(state.pieces),
            first_move=state.first_move,
            swapped=state.swapped,
        )

    def outcome(self, state: MistState) -> Outcome | None:
        """Return the ranking by lists of group sizes (R8); None until the match is over."""
        if state.reason is None:
            return None
        groups = groups_of(state.pieces)
        winner = winner_of(groups["0"], groups["1"], state.options.advantage)
        return Outcome(
            ranking=((winner,), (1 - winner,)),
            winners=(winner,),
            eliminated=1 - winner,
            scores={seat: sizes[0] if sizes else 0 for seat, sizes in groups.items()},
            reason=state.reason,
            detail=MistDetail(groups=groups, turns=state.turns),
        )


_FIRST_WINDOWS = tuple(Window("first", (PendingSeat(seat, ChooseFirst(first=seat)),)) for seat in (0, 1))
_TURN_WINDOWS = {
    (name, seat): Window("turn", (PendingSeat(seat, rules.default),))
    for name, rules in RULE_SETS.items()
    for seat in (0, 1)
}
