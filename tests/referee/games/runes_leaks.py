"""Runes to Ruins with a leak planted in each: `LEAKS` says which promise of conformance each one breaks.

`LeakOfUnasked` is of another kind: an answer is told on purpose, so that conformance takes it as told; that it
depends on nobody who was not asked is for `test_runes_secrets`.
"""

from typing import ClassVar, cast

from msgspec.structs import asdict, replace

from protocol.games.runes_to_ruins import PlayRound, Purse, RunesView, VisionAnswer
from protocol.words import Action, Event
from referee.games.runes_to_ruins import RunesToRuins
from referee.games.runes_to_ruins.state import RunesState, Standing
from referee.rules.contract import Addressed, Game, Illegal, Step, Taken
from referee.rules.rng import Luck


def neighbour(state: RunesState, seat: int | None) -> Standing:
    """The affairs of the next seat; to a spectator, of seat 0."""
    return state.standings[0 if seat is None else (seat + 1) % 5]


class RunesViewWithMore(RunesView, frozen=True, kw_only=True):
    more: tuple[int | str, ...]


class LeakInView(RunesToRuins):
    """Every view has the first rune of the next seat's symbol."""

    view_type: ClassVar[type[RunesView]] = RunesViewWithMore

    def view(self, state: RunesState, seat: int | None) -> RunesView:
        return RunesViewWithMore(**asdict(super().view(state, seat)), more=self.more(state, seat))

    def more(self, state: RunesState, seat: int | None) -> tuple[int | str, ...]:
        return (neighbour(state, seat).symbol or ())[:1]


class LeakOfPurse(LeakInView):
    """Every view has the next seat's mantra."""

    def more(self, state: RunesState, seat: int | None) -> tuple[int | str, ...]:
        return (neighbour(state, seat).mantra,)


class LeakInOrder(LeakInView):
    """Every view lists the seats, those with most insight first."""

    def more(self, state: RunesState, seat: int | None) -> tuple[int | str, ...]:
        return tuple(sorted(range(5), key=lambda other: -state.standings[other].insight))


class LeakInSize(LeakInView):
    """Every view is longer by how much mantra the next seat has received."""

    def more(self, state: RunesState, seat: int | None) -> tuple[int | str, ...]:
        return (" " * neighbour(state, seat).received,)


class LeakInReason(RunesToRuins):
    """A guess that begins with a rune of the next seat's symbol is rejected."""

    def check(self, state: RunesState, seat: int, action: Action) -> Action:
        checked = super().check(state, seat, action)
        symbol = neighbour(state, seat).symbol or ()
        if isinstance(checked, PlayRound) and any(guess[0] in symbol for guess in checked.guesses):
            raise Illegal("that rune is used")
        return checked


class LeakInReasonText(RunesToRuins):
    """What is rejected in any case is rejected with a reason that depends on the next seat's symbol."""

    def check(self, state: RunesState, seat: int, action: Action) -> Action:
        try:
            return super().check(state, seat, action)
        except Illegal as illegal:
            symbol = neighbour(state, seat).symbol or ("",)
            raise Illegal(illegal.reason + symbol[0][:1]) from None


class LeakInAudience(RunesToRuins):
    """Purses are told to all."""

    def close(self, state: RunesState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[RunesState]:
        step = super().close(state, taken, luck)
        told = tuple(Addressed(each.event) if isinstance(each.event, Purse) else each for each in step.told)
        return Step(step.state, told)


class LeakOfUnasked(RunesToRuins):
    """An answer to `pattern` counts all other seats, not only those named."""

    def close(self, state: RunesState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[RunesState]:
        step = super().close(state, taken, luck)
        told = tuple(replace(each, event=self.counted(state, each)) for each in step.told)
        return Step(step.state, told)

    def counted(self, state: RunesState, told: Addressed) -> Event:
        event = told.event
        if isinstance(event, VisionAnswer) and event.kind == "pattern":
            boxes = sum("Box" in symbol[0] for symbol in state.symbols)
            return replace(event, answer=(boxes, *cast("tuple[int, ...]", event.answer)[1:]))
        return event


SECRET = "secret swap: told the same"  # noqa: S105 - a promise, not a password

LEAKS: dict[type[Game], str] = {  # type: ignore[type-arg]
    LeakInView: SECRET,
    LeakOfPurse: SECRET,
    LeakInOrder: SECRET,
    LeakInSize: SECRET,
    LeakInReason: SECRET,
    LeakInReasonText: SECRET,
    LeakInAudience: "events keep to their audience",
}
