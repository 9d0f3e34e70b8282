"""Games that break their contract without leaking, for the test of the tests: `FAULTS` says which promise."""

from random import Random
from typing import Any, ClassVar, Literal, cast

from msgspec.structs import replace

from protocol.words import Action, Audience, Event, Options, Outcome, Setup, View
from referee.rules.contract import (
    Addressed,
    AnyGame,
    Game,
    Illegal,
    PendingSeat,
    ResolvedAction,
    ResolvedActions,
    TimeTerms,
    Transition,
    Variant,
    Window,
)
from referee.rules.rng import MatchRandom
from tests.referee.toy import CUPS, Bid, Cups, CupState


class AnsweredInOrder(Cups):
    """Every answer turns the row of cups round, so that the next one sees another."""

    def answer(self, state: CupState, seat: int, action: Action, rng: MatchRandom) -> Transition[CupState]:
        step = super().answer(state, seat, action, rng)
        return Transition(replace(step.state, cups=state.cups[::-1]), step.told)


class LuckOfItsOwn(Cups):
    """Throws dice that the match does not know of."""

    def __init__(self) -> None:
        self.dice = Random(1)

    def close(self, state: CupState, taken: ResolvedActions, rng: MatchRandom) -> Transition[CupState]:
        step = super().close(state, taken, rng)
        if not step.state.misses:
            return step
        return Transition(replace(step.state, cups=tuple(self.dice.randrange(3) for _ in range(CUPS))), step.told)


class IllegalDefault(Cups):
    def window(self, state: CupState) -> Window | None:
        window = super().window(state)
        if window is None or window.name != "bid":
            return window
        return Window("bid", tuple(PendingSeat(owed.seat, Bid(amount=-1)) for owed in window.owed))


class IllegalDrawnDefault(Cups):
    def draw_default(self, state: CupState, seat: int, rng: MatchRandom) -> Action:
        del state, seat, rng
        return Bid(amount=1)


class SloppyDefault(Cups):
    """The default is not in canonical spelling."""

    def window(self, state: CupState) -> Window | None:
        window = super().window(state)
        if window is None or window.name != "bid":
            return window
        return Window("bid", tuple(PendingSeat(owed.seat, Bid(amount=0, marks=(2, 1))) for owed in window.owed))


class OpenAfterTheEnd(Cups):
    def window(self, state: CupState) -> Window | None:
        return super().window(state) or Window("bid", (PendingSeat(0, Bid(amount=0)),))


class NeverEnds(Cups):
    """The match stops without an outcome."""

    def outcome(self, state: CupState) -> Outcome | None:
        del state
        return None


class LosesASeat(Cups):
    def outcome(self, state: CupState) -> Outcome | None:
        outcome = super().outcome(state)
        return outcome and replace(outcome, ranking=((0,),))


class StrangerWins(Cups):
    def outcome(self, state: CupState) -> Outcome | None:
        outcome = super().outcome(state)
        return outcome and replace(outcome, winners=(7,))


class StrangerGoes(Cups):
    def outcome(self, state: CupState) -> Outcome | None:
        outcome = super().outcome(state)
        return outcome and replace(outcome, eliminated=7)


class Stumbles(Cups):
    """Fails on a certain highest bid."""

    def close(self, state: CupState, taken: ResolvedActions, rng: MatchRandom) -> Transition[CupState]:
        step = super().close(state, taken, rng)
        if step.state.highest[-1:] == (2,):
            raise KeyError(2)
        return step


class EmptyHanded(Cups):
    def outcome(self, state: CupState) -> Outcome | None:
        outcome = super().outcome(state)
        return outcome and replace(outcome, garnets={"0": 0})


class Undeclared(Event, frozen=True, kw_only=True, tag="undeclared"):
    audience: ClassVar[Audience] = Audience.PUBLIC


class TellsUndeclared(Cups):
    def close(self, state: CupState, taken: ResolvedActions, rng: MatchRandom) -> Transition[CupState]:
        step = super().close(state, taken, rng)
        return Transition(step.state, (*step.told, Addressed(Undeclared())))


class ShowsUndeclared(Cups):
    """A view of another form than declared."""

    def view(self, state: CupState, seat: int | None) -> Any:
        del state, seat
        return View()


class SeatsOutOfOrder(Cups):
    def window(self, state: CupState) -> Window | None:
        window = super().window(state)
        return window and replace(window, owed=window.owed[::-1])


class Unguessable(Cups):
    """No bid but the default is legal, and nothing says which that might be."""

    default = Bid(amount=0, marks=(123_456,))

    def window(self, state: CupState) -> Window | None:
        window = super().window(state)
        if window is None or window.name != "bid":
            return window
        return Window("bid", tuple(PendingSeat(owed.seat, self.default) for owed in window.owed))

    def check(self, state: CupState, seat: int, action: Action) -> Action:
        if isinstance(action, Bid) and action != self.default:
            raise Illegal("not that")
        return super().check(state, seat, action)


class Word(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    word: Literal["yes", "no"]


class Spoken(Event, frozen=True, kw_only=True, tag="spoken"):
    audience: ClassVar[Audience] = Audience.PUBLIC
    word: str


class AloudState(View, frozen=True, kw_only=True):
    word: str | None = None


class Aloud(Game[AloudState, Options, Setup, AloudState]):
    """Seat 0 says a word to all: nothing is hidden, so there is nothing to swap."""

    name = "aloud"
    variants = (Variant("plain", TimeTerms({"speak": 1000})),)
    actions = {"speak": Word}  # noqa: RUF012 - a ClassVar of the contract
    events = (Spoken,)
    options = Options
    view_type = AloudState

    def seats(self, options: Options) -> int:
        del options
        return 2

    def deal(self, variant: str, options: Options, setup: Setup, rng: MatchRandom) -> Transition[AloudState]:
        del variant, options, setup, rng
        return Transition(AloudState())

    def window(self, state: AloudState) -> Window | None:
        return None if state.word else Window("speak", (PendingSeat(0, Word(word="no")),))

    def check(self, state: AloudState, seat: int, action: Action) -> Action:
        del state, seat
        return action

    def close(self, state: AloudState, taken: ResolvedActions, rng: MatchRandom) -> Transition[AloudState]:
        del state, rng
        word = cast("Word", cast("ResolvedAction", taken[0]).action).word
        return Transition(AloudState(word=word), (Addressed(Spoken(word=word)),))

    def view(self, state: AloudState, seat: int | None) -> AloudState:
        del seat
        return state

    def host_view(self, state: AloudState) -> View:
        return state

    def outcome(self, state: AloudState) -> Outcome | None:
        spoken = Outcome(ranking=((0, 1),), winners=(), eliminated=None, scores=None, reason="spoken")
        return spoken if state.word else None


FAULTS: dict[type[AnyGame], str] = {
    AnsweredInOrder: "answers of an `asap` window commute",
    LuckOfItsOwn: "same journal, same bytes",
    IllegalDefault: "every default is legal",
    IllegalDrawnDefault: "every default is legal",
    SloppyDefault: "every default is canonical",
    OpenAfterTheEnd: "a window is open exactly while there is no outcome",
    NeverEnds: "a window is open exactly while there is no outcome",
    LosesASeat: "the ranking partitions the seats",
    StrangerWins: "winners are seats",
    StrangerGoes: "the eliminated is a seat",
    Stumbles: "nothing that is legal fails",
    EmptyHanded: "seats without tokens or garnets are left out",
    TellsUndeclared: "events are of declared types",
    ShowsUndeclared: "it reads as CupView",
    SeatsOutOfOrder: "a window's seats are ascending",
    Unguessable: "every window that opens is played",
    Aloud: "secret swap compares something",
}
