"""A tiny game that uses all of the contract: sealed, at-once and timed windows, a secret setup, drawn defaults.

Each round every seat bids in secret; the highest bidders may each look under one of four cups. At the end all
guess a drawn number, the faster of equally near guesses standing higher.
"""

from typing import Annotated, ClassVar, cast

from msgspec import Meta, Raw
from msgspec.structs import replace

from protocol.words import Action, Audience, Event, Options, Outcome, Setup, View
from referee.rules.contract import (
    Addressed,
    Announced,
    BadSetupError,
    Game,
    Illegal,
    PendingSeat,
    ResolvedActions,
    TimeTerms,
    Transition,
    Variant,
    Window,
    read_given,
)
from referee.rules.rng import MatchRandom

CUPS = 4
MOST = 5


class CupOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    rounds: Annotated[int, Meta(ge=1)] = 2
    seats: Annotated[int, Meta(ge=2, le=5)] = 3


class CupSetup(Setup, frozen=True, kw_only=True, forbid_unknown_fields=True):
    cups: tuple[int, ...] = ()


class Bid(Action, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    amount: int
    marks: tuple[int, ...] = ()
    loud: bool = False


class Look(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    cup: int


class Guess(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    guess: int


class RoundOver(Event, frozen=True, kw_only=True, tag="round_over"):
    audience: ClassVar[Audience] = Audience.PUBLIC
    highest: int


class Hand(Event, frozen=True, kw_only=True, tag="hand"):
    lucky: int


class Looked(Event, frozen=True, kw_only=True, tag="looked"):
    cup: int
    value: int


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    audience: ClassVar[Audience] = Audience.PUBLIC
    cups: tuple[int, ...]


class CupView(View, frozen=True, kw_only=True):
    seat: int | None
    lucky: int | None
    highest: tuple[int, ...]
    spent: int | None
    looked: dict[str, int]


class CupState(View, frozen=True, kw_only=True):
    options: CupOptions
    cups: tuple[int, ...]
    lucky: tuple[int, ...]
    spent: tuple[int, ...]
    looked: tuple[dict[str, int], ...]
    highest: tuple[int, ...] = ()
    lookers: tuple[int, ...] = ()
    misses: tuple[tuple[int, int], ...] = ()
    """By seat: how far off its guess was, and its time."""


class Cups(Game[CupState, CupOptions, CupSetup, CupView]):
    """See the top of the file."""

    name = "cups"
    variants = (
        Variant("plain", TimeTerms({"bid": 1000, "look": 1000, "guess": 1000})),
        Variant("blind", TimeTerms({"bid": 1000, "look": 1000, "guess": 1000})),
    )
    actions = {"bid": Bid, "look": Look, "guess": Guess}  # noqa: RUF012 - a ClassVar of the contract
    announced = {  # noqa: RUF012 - a ClassVar of the contract
        "bid": Announced.SEATS,
        "look": Announced.NAME,
        "guess": Announced.SEATS,
    }
    events = (RoundOver, Hand, Looked, Reveal)
    options = CupOptions
    view_type = CupView

    def read_setup(self, variant: str, options: CupOptions, given: Raw | None, rng: MatchRandom) -> CupSetup:
        del variant, options
        if given is None:
            cups = rng.shared().choices(range(3), k=CUPS)
            return CupSetup(cups=tuple(cups))
        setup = read_given(CupSetup, given, "setup")
        if len(setup.cups) != CUPS:
            raise BadSetupError(f"setup.cups: {len(setup.cups)} cups; there are {CUPS}")
        return setup

    def seats(self, options: CupOptions) -> int:
        return options.seats

    def deal(self, variant: str, options: CupOptions, setup: CupSetup, rng: MatchRandom) -> Transition[CupState]:
        del variant
        lucky = tuple(rng.seat(seat).randrange(2) for seat in range(options.seats))
        nothing: tuple[dict[str, int], ...] = ({},) * options.seats
        state = CupState(
            options=options,
            cups=setup.cups,
            lucky=lucky,
            spent=(0,) * options.seats,
            looked=nothing,
        )
        # The last seat has no lucky number, so that one seat is told nothing at the start.
        return Transition(state, tuple(Addressed(Hand(lucky=n), seat) for seat, n in enumerate(lucky[:-1])))

    def window(self, state: CupState) -> Window | None:
        if state.misses:
            return None
        if state.lookers:
            return Window("look", tuple(PendingSeat(seat, None) for seat in state.lookers), asap=True)
        everyone = range(state.options.seats)
        if len(state.highest) < state.options.rounds:
            return Window("bid", tuple(PendingSeat(seat, Bid(amount=0)) for seat in everyone))
        return Window("guess", tuple(PendingSeat(seat, None, drawn=True) for seat in everyone), timed=True)

    def check(self, state: CupState, seat: int, action: Action) -> Action:
        del state, seat
        if isinstance(action, Bid):
            if not 0 <= action.amount <= MOST:
                raise Illegal(f"a bid is 0 to {MOST}")
            return replace(action, marks=tuple(sorted(action.marks)))
        if isinstance(action, Look) and action.cup not in range(CUPS):
            raise Illegal("no such cup")
        return action

    def draw_default(self, state: CupState, seat: int, rng: MatchRandom) -> Action:
        del state
        return Guess(guess=rng.seat(seat).randrange(10))

    def answer(self, state: CupState, seat: int, action: Action, rng: MatchRandom) -> Transition[CupState]:
        del rng
        cup = cast("Look", action).cup
        seen = dict(sorted({**state.looked[seat], str(cup): state.cups[cup]}.items()))
        looked = (*state.looked[:seat], seen, *state.looked[seat + 1 :])
        return Transition(
            replace(state, looked=looked), (Addressed(Looked(cup=cup, value=state.cups[cup]), seat),)
        )

    def close(self, state: CupState, taken: ResolvedActions, rng: MatchRandom) -> Transition[CupState]:
        if state.lookers:
            return Transition(replace(state, lookers=()))
        parts = tuple(part for part in taken if part is not None)
        if len(state.highest) == state.options.rounds:
            goal = rng.shared().randrange(10)
            misses = tuple((abs(cast("Guess", part.action).guess - goal), part.elapsed_ms) for part in parts)
            return Transition(replace(state, misses=misses), (Addressed(Reveal(cups=state.cups)),))
        bids = [cast("Bid", part.action).amount for part in parts]
        highest = max(bids)
        after = replace(
            state,
            spent=tuple(spent + bid for spent, bid in zip(state.spent, bids, strict=True)),
            highest=(*state.highest, highest),
            lookers=tuple(seat for seat, bid in enumerate(bids) if bid == highest and highest),
        )
        return Transition(after, (Addressed(RoundOver(highest=highest)),))

    def view(self, state: CupState, seat: int | None) -> CupView:
        return CupView(
            seat=seat,
            lucky=None if seat is None or seat == state.options.seats - 1 else state.lucky[seat],
            highest=state.highest,
            spent=None if seat is None else state.spent[seat],
            looked={} if seat is None else state.looked[seat],
        )

    def host_view(self, state: CupState) -> View:
        return state

    def outcome(self, state: CupState) -> Outcome | None:
        if not state.misses:
            return None
        order = sorted(set(state.misses))
        ranking = tuple(tuple(seat for seat, miss in enumerate(state.misses) if miss == each) for each in order)
        return Outcome(
            ranking=ranking,
            winners=ranking[0],
            eliminated=ranking[-1][-1] if len(ranking) > 1 else None,
            scores=None,
            reason="finished",
        )
