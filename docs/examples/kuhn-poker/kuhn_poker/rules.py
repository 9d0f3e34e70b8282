"""The rules of Kuhn poker."""

from itertools import permutations
from typing import cast

from msgspec import Raw, Struct
from msgspec.structs import replace

from kuhn_poker import Dealt, KuhnHostView, KuhnOptions, KuhnSetup, KuhnView, Move, Moved, Shown, Turn
from protocol.words import Action, Outcome, View
from referee.rules import (
    Addressed,
    Announced,
    BadSetupError,
    Building,
    Game,
    MatchRandom,
    PendingSeat,
    ResolvedAction,
    ResolvedActions,
    TimeTerms,
    Transition,
    Variant,
    Window,
    read_given,
)  # fmt: skip

DEALS = tuple(KuhnSetup(cards=cards) for cards in permutations((1, 2, 3), 2))
MOVES: tuple[Move, Move] = ("pass", "bet")
ENDINGS = {("pass", "pass"), ("bet", "pass"), ("bet", "bet"), ("pass", "bet", "pass"), ("pass", "bet", "bet")}


class KuhnState(Struct, frozen=True):
    """A match between two windows."""

    cards: tuple[int, int]
    moves: tuple[Move, ...] = ()


class KuhnPoker(Game[KuhnState, KuhnOptions, KuhnSetup, KuhnView]):
    """Two seats, three cards, one bet."""

    name = "kuhn-poker"
    variants = (Variant("plain", TimeTerms({"turn": 5_000})),)
    actions = {"turn": Turn}
    announced = {"turn": Announced.SEATS}
    events = (Dealt, Moved, Shown)
    options, setup, view_type = KuhnOptions, KuhnSetup, KuhnView
    choices = MOVES

    def read_setup(self, variant: str, options: KuhnOptions, given: Raw | None, rng: MatchRandom) -> KuhnSetup:
        """See `Game.read_setup`."""
        if given is None or bytes(given) in (b"null", b"{}"):
            return rng.shared().choice(DEALS)
        setup = read_given(KuhnSetup, given, "setup")
        if setup not in DEALS:
            raise BadSetupError("setup.cards: two different cards")
        return setup

    def setups(self, variant: str, options: KuhnOptions) -> tuple[KuhnSetup, ...]:
        """See `Game.setups`."""
        return DEALS

    def most_choices(self, options: KuhnOptions) -> int:
        """See `Game.most_choices`."""
        return max(map(len, ENDINGS))

    def seats(self, options: KuhnOptions) -> int:
        """See `Game.seats`."""
        return 2

    def deal(
        self, variant: str, options: KuhnOptions, setup: KuhnSetup, rng: MatchRandom
    ) -> Transition[KuhnState]:
        """See `Game.deal`."""
        dealt = tuple(Addressed(Dealt(card=card), seat) for seat, card in enumerate(setup.cards))
        return Transition(KuhnState(setup.cards), dealt)

    def window(self, state: KuhnState) -> Window | None:
        """See `Game.window`."""
        if state.moves in ENDINGS:
            return None
        return Window("turn", (PendingSeat(len(state.moves) % 2, Turn(move="pass")),))

    def check(self, state: KuhnState, seat: int, action: Action) -> Action:
        """See `Game.check`: every move is legal."""
        return action

    def close(self, state: KuhnState, taken: ResolvedActions, rng: MatchRandom) -> Transition[KuhnState]:
        """See `Game.close`."""
        seat = len(state.moves) % 2
        move = cast("Turn", cast("ResolvedAction", taken[seat]).action).move
        state = replace(state, moves=(*state.moves, move))
        told = [Addressed(Moved(seat=seat, move=move))]
        if shown(state):
            told.append(Addressed(Shown(cards=state.cards)))
        return Transition(state, tuple(told))

    def view(self, state: KuhnState, seat: int | None) -> KuhnView:
        """See `Game.view`."""
        card = None if seat is None else state.cards[seat]
        return KuhnView(seat=seat, card=card, moves=state.moves, shown=shown(state))

    def host_view(self, state: KuhnState) -> View:
        """See `Game.host_view`."""
        return KuhnHostView(cards=state.cards, moves=state.moves)

    def outcome(self, state: KuhnState) -> Outcome | None:
        """See `Game.outcome`."""
        if state.moves not in ENDINGS:
            return None
        winner = len(state.moves) % 2  # The other seat folded, or both cards are shown.
        if shown(state):
            winner = state.cards.index(max(state.cards))
        stake = 2 if state.moves[-2:] == ("bet", "bet") else 1
        scores = {str(winner): stake, str(1 - winner): -stake}
        ranking = ((winner,), (1 - winner,))
        return Outcome(ranking=ranking, winners=(winner,), eliminated=None, scores=scores, reason="finished")

    def build(self, view: KuhnView, seat: int) -> Building:
        """See `Game.build`."""
        choice = yield 0b11
        return Turn(move=MOVES[choice])

    def spell(self, view: KuhnView, action: Action) -> tuple[int]:
        """See `Game.spell`."""
        return (MOVES.index(cast("Turn", action).move),)

    def listed(self, view: KuhnView, seat: int) -> tuple[Action, ...]:
        """See `Game.listed`."""
        return tuple(Turn(move=move) for move in MOVES)


def shown(state: KuhnState) -> tuple[int, ...]:
    """Return the cards that all see."""
    return state.cards if state.moves in ENDINGS and state.moves[-2:] != ("bet", "pass") else ()
