"""A game of nothing but windows: its options say which come, of what kind, and who owes an answer. For the fuzzer.

It knows three kinds: `turn` and `sealed` are closed on what was taken, `asked` is answered at once. An action is a
number; those below zero are illegal.
"""

from typing import ClassVar, cast

from msgspec import Struct
from msgspec.structs import replace

from protocol.words import Action, Audience, Event, Options, Outcome, Setup, View
from referee.rules import Addressed, Game, Illegal, Luck, Owed, Step, Taken, TimeTerms, Variant, Window

KINDS = ("turn", "sealed", "asked")
NOTHING = -1
"""What the default stands for in an event."""


class DrillOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many seats there are, and which windows come."""

    seats: int = 2
    windows: tuple[tuple[str, tuple[int, ...]], ...] = (("turn", (0,)),)


class Choose(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Any number from 0 on."""

    choice: int


class Chosen(Event, frozen=True, kw_only=True, tag="chosen"):
    """A window was closed: what was taken, by seat."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    choices: tuple[int, ...]


class Answer(Event, frozen=True, kw_only=True, tag="answer"):
    """An asked seat's answer."""

    choice: int


class DrillView(View, frozen=True, kw_only=True):
    """There is nothing to see but how far it is."""

    number: int


class DrillState(Struct, frozen=True):
    """How far it is."""

    options: DrillOptions
    number: int = 0


class Drill(Game[DrillState]):
    """See the top of the file."""

    name = "drill"
    variants = (Variant("plain", TimeTerms(dict.fromkeys(KINDS, 1000))),)
    actions = dict.fromkeys(KINDS, Choose)
    events = (Chosen, Answer)
    options = DrillOptions
    view_type = DrillView

    def seats(self, options: Options) -> int:
        """As the options say."""
        return cast("DrillOptions", options).seats

    def deal(self, variant: str, options: Options, setup: Setup, luck: Luck) -> Step[DrillState]:
        """Nothing is told."""
        return Step(DrillState(cast("DrillOptions", options)))

    def window(self, state: DrillState) -> Window | None:
        """The next of those planned."""
        if state.number == len(state.options.windows):
            return None
        kind, seats = state.options.windows[state.number]
        return Window(kind, tuple(Owed(seat, None) for seat in seats), asap=kind == "asked")

    def check(self, state: DrillState, seat: int, action: Action) -> Action:
        """Numbers from 0 on are legal."""
        if cast("Choose", action).choice < 0:
            raise Illegal("a choice is a number from 0 on")
        return action

    def answer(self, state: DrillState, seat: int, action: Action, luck: Luck) -> Step[DrillState]:
        """Told to the one who asked."""
        return Step(state, (Addressed(Answer(choice=cast("Choose", action).choice), seat),))

    def close(self, state: DrillState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[DrillState]:
        """Told to all."""
        actions = [cast("Choose | None", part.action) if part else None for part in taken]
        choices = tuple(NOTHING if action is None else action.choice for action in actions)
        return Step(replace(state, number=state.number + 1), (Addressed(Chosen(choices=choices)),))

    def view(self, state: DrillState, seat: int | None) -> View:
        """The same for all."""
        return DrillView(number=state.number)

    def host_view(self, state: DrillState) -> View:
        """There are no secrets."""
        return DrillView(number=state.number)

    def outcome(self, state: DrillState) -> Outcome | None:
        """All are equal once all windows are closed."""
        if state.number < len(state.options.windows):
            return None
        return Outcome(
            ranking=(tuple(range(state.options.seats)),),
            winners=(),
            eliminated=None,
            scores=None,
            reason="finished",
        )
