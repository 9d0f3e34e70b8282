"""A game for the fuzzer that consists of windows only: its options list them, with their kinds and seats.

There are three kinds: `turn` and `sealed` windows close on the submitted actions, `asked` windows answer at once.
An action is a number; negative ones are illegal.
"""

from typing import ClassVar, cast

from msgspec import Struct
from msgspec.structs import replace

from protocol.words import Action, Audience, Event, Options, Outcome, Setup, View
from referee.rules import Addressed, Game, Illegal, Luck, Owed, Step, Taken, TimeTerms, Variant, Window

KINDS = ("turn", "sealed", "asked")
NOTHING = -1
"""Number that represents the default in an event."""


class DrillOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Number of seats, and the list of windows."""

    seats: int = 2
    windows: tuple[tuple[str, tuple[int, ...]], ...] = (("turn", (0,)),)


class Choose(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A choice of a number that is at least 0."""

    choice: int


class Chosen(Event, frozen=True, kw_only=True, tag="chosen"):
    """A closed window, with the choices indexed by seat."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    choices: tuple[int, ...]


class Answer(Event, frozen=True, kw_only=True, tag="answer"):
    """The answer to a seat in an `asked` window."""

    choice: int


class DrillView(View, frozen=True, kw_only=True):
    """The number of closed windows, the only visible fact."""

    number: int


class DrillState(Struct, frozen=True):
    """Options and number of closed windows."""

    options: DrillOptions
    number: int = 0


class Drill(Game[DrillState]):
    """A game that consists of windows only."""

    name = "drill"
    variants = (Variant("plain", TimeTerms(dict.fromkeys(KINDS, 1000))),)
    actions = dict.fromkeys(KINDS, Choose)
    events = (Chosen, Answer)
    options = DrillOptions
    view_type = DrillView

    def seats(self, options: Options) -> int:
        """See `Game.seats`."""
        return cast("DrillOptions", options).seats

    def deal(self, variant: str, options: Options, setup: Setup, luck: Luck) -> Step[DrillState]:
        """Start before the first window, without events."""
        return Step(DrillState(cast("DrillOptions", options)))

    def window(self, state: DrillState) -> Window | None:
        """Return the next window of the options."""
        if state.number == len(state.options.windows):
            return None
        kind, seats = state.options.windows[state.number]
        return Window(kind, tuple(Owed(seat, None) for seat in seats), asap=kind == "asked")

    def check(self, state: DrillState, seat: int, action: Action) -> Action:
        """Accept numbers that are at least 0."""
        if cast("Choose", action).choice < 0:
            raise Illegal("a choice is a number from 0 on")
        return action

    def answer(self, state: DrillState, seat: int, action: Action, luck: Luck) -> Step[DrillState]:
        """Send the choice back to its seat."""
        return Step(state, (Addressed(Answer(choice=cast("Choose", action).choice), seat),))

    def close(self, state: DrillState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[DrillState]:
        """Send the choices to everyone."""
        actions = [cast("Choose | None", part.action) if part else None for part in taken]
        choices = tuple(NOTHING if action is None else action.choice for action in actions)
        return Step(replace(state, number=state.number + 1), (Addressed(Chosen(choices=choices)),))

    def view(self, state: DrillState, seat: int | None) -> View:
        """Return the same view to everyone."""
        return DrillView(number=state.number)

    def host_view(self, state: DrillState) -> View:
        """Return the same view as to players, since there are no secrets."""
        return DrillView(number=state.number)

    def outcome(self, state: DrillState) -> Outcome | None:
        """Return a draw once all windows are closed."""
        if state.number < len(state.options.windows):
            return None
        return Outcome(
            ranking=(tuple(range(state.options.seats)),),
            winners=(),
            eliminated=None,
            scores=None,
            reason="finished",
        )
