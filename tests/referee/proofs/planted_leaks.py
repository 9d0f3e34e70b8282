"""Games with a leak planted in each, for the test of the tests: `LEAKS` says which promise each one breaks."""

from typing import ClassVar, cast

from msgspec.structs import asdict, replace

from protocol.games.mist import MistView, Placed, Turn
from protocol.words import Action, View
from referee.games.mist import BOARD, Mist, MistState
from referee.rules.contract import Addressed, Announced, Game, Illegal, Owed, Step, Taken, Window
from referee.rules.rng import Luck
from tests.referee.toy import CUPS, Bid, Cups, CupState, CupView, Look, RoundOver


def hidden(state: MistState, seat: int | None) -> int:
    """The mask of the opponent's pieces; to a spectator, of seat 0's."""
    return state.pieces[0 if seat is None else 1 - seat]


class MistViewWithMore(MistView, frozen=True, kw_only=True):
    more: str | int | tuple[str, ...]


class LeakInView(Mist):
    """Every view counts the opponent's pieces."""

    view_type: ClassVar[type[MistView]] = MistViewWithMore

    def view(self, state: MistState, seat: int | None) -> MistView:
        return MistViewWithMore(**asdict(super().view(state, seat)), more=hidden(state, seat).bit_count())


class LeakInSize(LeakInView):
    """Every view is as many blanks longer as the opponent has pieces."""

    def view(self, state: MistState, seat: int | None) -> MistView:
        return MistViewWithMore(**asdict(Mist.view(self, state, seat)), more=" " * hidden(state, seat).bit_count())


class LeakInOrder(LeakInView):
    """Every view lists all cells, the opponent's first."""

    def view(self, state: MistState, seat: int | None) -> MistView:
        theirs = hidden(state, seat)
        cells = (*BOARD.cells(theirs), *BOARD.cells(BOARD.all & ~theirs))
        return MistViewWithMore(**asdict(Mist.view(self, state, seat)), more=cells)


class LeakToSpectator(LeakInView):
    """Only the spectator's view knows where a piece is."""

    def view(self, state: MistState, seat: int | None) -> MistView:
        first = BOARD.cells(hidden(state, seat))[:1] if seat is None else ()
        return MistViewWithMore(**asdict(Mist.view(self, state, seat)), more=first)


class OrderOfSet(Mist):
    """The cells in sight come in the order of a set of strings."""

    def view(self, state: MistState, seat: int | None) -> MistView:
        view = super().view(state, seat)
        return replace(view, visible={cell: view.visible[cell] for cell in set(view.visible)})


class LeakInReason(Mist):
    """A cell that holds a piece is rejected, whether the mover can see it or not."""

    def check(self, state: MistState, seat: int, action: Action) -> Action:
        checked = super().check(state, seat, action)
        if isinstance(checked, Turn) and checked.cells and hidden(state, seat) & BOARD.mask(checked.cells):
            raise Illegal("that cell is taken")
        return checked


class LeakInReasonText(Mist):
    """What is rejected in any case is rejected with a reason that depends on the opponent's pieces."""

    def check(self, state: MistState, seat: int, action: Action) -> Action:
        try:
            return super().check(state, seat, action)
        except Illegal as illegal:
            raise Illegal(illegal.reason + "." * (hidden(state, seat).bit_count() % 2)) from None


class LeakInDefault(Mist):
    """The default is the first cell that is empty in truth."""

    def window(self, state: MistState) -> Window | None:
        window = super().window(state)
        if window is None or window.name != "turn" or not state.turns:
            return window
        empty = BOARD.cells(BOARD.all & ~state.pieces[0] & ~state.pieces[1] & ~BOARD.bit["E5"])
        return Window("turn", (Owed(window.owed[0].seat, Turn(cells=empty[:1])),))


class LeakInAudience(Mist):
    """What became of the mover's pieces is told to all."""

    def close(self, state: MistState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[MistState]:
        step = super().close(state, taken, luck)
        told = tuple(Addressed(each.event) if isinstance(each.event, Placed) else each for each in step.told)
        return Step(step.state, told)


class LeakOfHand(Cups):
    """A secret that differs from deal to deal is in every view."""

    def view(self, state: CupState, seat: int | None) -> View:
        return replace(cast("CupView", super().view(state, seat)), lucky=state.lucky[0])


class LeakOfSetup(Cups):
    """The reason of a rejection depends on the host's secret."""

    def check(self, state: CupState, seat: int, action: Action) -> Action:
        if isinstance(action, Look) and action.cup >= CUPS:
            raise Illegal(f"no such cup {state.cups[0]}")
        return super().check(state, seat, action)


class LeakInAnswer(Cups):
    """What one seat asks is told to the others before the window closes."""

    def answer(self, state: CupState, seat: int, action: Action, luck: Luck) -> Step[CupState]:
        step = super().answer(state, seat, action, luck)
        return Step(step.state, (*step.told, Addressed(RoundOver(highest=0))))


class LeakOfAnswered(Cups):
    """A view changes when another seat has been answered."""

    def view(self, state: CupState, seat: int | None) -> View:
        view = cast("CupView", super().view(state, seat))
        return replace(view, spent=sum(map(len, state.looked))) if state.lookers else view


class LeakOfSealed(Cups):
    """The game itself remembers what was last submitted, and shows it."""

    def __init__(self) -> None:
        self.last = 0

    def check(self, state: CupState, seat: int, action: Action) -> Action:
        if isinstance(action, Bid):
            self.last = action.amount
        return super().check(state, seat, action)

    def view(self, state: CupState, seat: int | None) -> View:
        return replace(cast("CupView", super().view(state, seat)), spent=self.last)


class LeakOfLookers(Cups):
    """Everyone may know, it says, who looks under a cup: those who bid most, in secret."""

    announced: ClassVar[dict[str, Announced]] = {**Cups.announced, "look": Announced.SEATS}


SECRET = "secret swap: told the same"  # noqa: S105 - a promise, not a password
SEALED = "sealed swap"

LEAKS: dict[type[Game], str] = {  # type: ignore[type-arg]
    LeakInView: SECRET,
    LeakInSize: SECRET,
    LeakInOrder: SECRET,
    LeakToSpectator: SECRET,
    LeakInReason: SECRET,
    LeakInReasonText: SECRET,
    LeakInDefault: SECRET,
    LeakInAudience: "events keep to their audience",
    OrderOfSet: "two PYTHONHASHSEEDs",
    LeakOfHand: SECRET,
    LeakOfSetup: SECRET,
    LeakInAnswer: SEALED,
    LeakOfAnswered: SEALED,
    LeakOfSealed: SEALED,
    LeakOfLookers: SECRET,
}
