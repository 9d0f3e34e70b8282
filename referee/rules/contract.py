"""The contract of a game. One contract serves all: a turn is a window with one seat, a secret round one with many.

A game is pure. It holds no state of its own: every function takes the state and gives back a new one. It never
reads a clock, never rolls dice but with the luck it is handed, and says whom each event is for.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from random import Random
from typing import Any, ClassVar, Generic, TypeVar, cast

import msgspec
from msgspec import Raw, Struct

from protocol.codec import Refused, decode_action
from protocol.words import Action, Event, Options, Outcome, Setup, View
from referee.rules.legal import Building, LegalActions
from referee.rules.rng import Luck

StateT = TypeVar("StateT")

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
SPECTATOR = None
"""The `seat` of a view that knows only what is public."""


class Illegal(Exception):  # noqa: N818 - a refusal, not an error of ours
    """An action that breaks a rule. The reason tells only what the action's sender may know."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NoWorldInTimeError(TimeoutError):
    """No world was found before the caller's time was over. Others may exist."""


class BadSetupError(ValueError):
    """A given setup, or an option's value, that breaks the game's rules. The text names the place."""


class Addressed(Struct, frozen=True, gc=False):
    """An event and whom it is for: one seat, or everyone where `seat` is None."""

    event: Event
    seat: int | None = None


class Quoted(Event, tag="quoted", frozen=True):
    """A message of an earlier match that one seat is sent again as it stands, by a game that retells the match."""

    frame: Raw
    event: Raw | None = None
    """The event in the message, if it holds one: a bot that comes back can ask for it again."""


class Step(Struct, Generic[StateT], frozen=True, gc=False):
    """What a deal, an answer or a closed window leads to: the new state, and what is told, in order."""

    state: StateT
    told: tuple[Addressed, ...] = ()


class Owed(Struct, frozen=True, gc=False):
    """One seat's part in an open window."""

    seat: int
    default: Action | None
    """The action taken if none comes. None: nothing at all, or (`drawn`) one drawn when the window closes."""
    drawn: bool = False
    """The default comes from `Game.draw_default` when the window closes."""
    shown: Any = None
    """What the window itself tells this seat, beyond its events (who stands in a vote): its view may show it."""


class Retold(Struct, frozen=True, kw_only=True):
    """How a window of an earlier match was opened, for a game that asks its one seat again.

    The seat has the time that it had. The window closes as soon as it has answered, whatever the pacing. No
    `closed` is sent: the game tells what came of the window.
    """

    number: int
    """The seat's own count of its windows."""
    main_ms: int
    reserve_ms: int
    unlimited: bool = False
    """The seat's time never ends, whatever it is told."""


class Window(Struct, frozen=True, gc=False):
    """A span of time in which the seats that owe an action may submit it, in secret."""

    name: str
    owed: tuple[Owed, ...]
    """Ascending by seat; never empty."""
    asap: bool = False
    """Each seat is answered by `Game.answer` as soon as its submission is final, not when the window closes."""
    timed: bool = False
    """A rule depends on the time a seat took (`Taken.elapsed_ms`)."""
    retold: Retold | None = None
    """Set by a game that retells an earlier match."""


class Announced(Enum):
    """What everyone may know of an open window, spectators included."""

    NAME = "name"
    """That it is open, and what it is; not who owes an action in it."""
    SEATS = "seats"
    """Who owes an action in it, too."""


class Taken(Struct, frozen=True, gc=False):
    """What a seat's part in a closed window came to."""

    action: Action | None
    by_default: bool = False
    elapsed_ms: int = 0


class TimeTerms(Struct, frozen=True):
    """The times that a variant's published rules give, in milliseconds."""

    main_ms: dict[str, int]
    """Window name to its main time."""
    reserve_ms: int = 0


class Variant(Struct, frozen=True):
    """One published rule set of a game."""

    name: str
    time: TimeTerms


class Game(ABC, Generic[StateT]):
    """What a game must say for itself. `proofs.conformance.check_game` proves that it keeps these promises."""

    name: ClassVar[str]
    """The game's id, as on the command line."""
    variants: ClassVar[tuple[Variant, ...]]
    """All its variants, the default first."""
    actions: ClassVar[dict[str, type[Action]]]
    """Window name to the form of its actions."""
    announced: ClassVar[dict[str, Announced]] = {}
    """Window name to what everyone may know of it while it is open; of one left out, not even that it is."""
    events: ClassVar[tuple[type[Event], ...]]
    """Every event it may tell."""
    options: ClassVar[type[Options]]
    setup: ClassVar[type[Setup]] = Setup
    """The host's secrets; as it stands for a game that has none."""
    view_type: ClassVar[type[View]]
    choices: ClassVar[tuple[str, ...]] = ()
    """What actions are built of, by number: names for people, the same numbers in all windows (`rules.legal`)."""

    def read_options(self, variant: str, given: Raw | None) -> Options:
        """The options of a match: those given, checked, and defaults for the rest.

        A game whose defaults depend on the variant, or whose options depend on each other, extends this.

        Raises:
            BadSetupError: an unknown option, or a value that breaks its rule.
        """
        return read_given(self.options, given, "options")

    def read_setup(self, variant: str, options: Options, given: Raw | None, luck: Luck) -> Setup:
        """The setup of a match: the given one, checked, or one drawn. A game without secrets takes `{}` only.

        Raises:
            BadSetupError: the given one breaks the game's rules; names the count or place that is off.
        """
        return read_given(Setup, given, "setup")

    @abstractmethod
    def seats(self, options: Options) -> int:
        """How many seats there are."""

    @abstractmethod
    def deal(self, variant: str, options: Options, setup: Setup, luck: Luck) -> Step[StateT]:
        """The state before the first window, and what is told before it."""

    @abstractmethod
    def window(self, state: StateT) -> Window | None:
        """The open window; None exactly when there is an outcome."""

    @abstractmethod
    def check(self, state: StateT, seat: int, action: Action) -> Action:
        """The canonical spelling of an action by a seat that owes one in the open window.

        Raises:
            Illegal: it breaks a rule.
        """

    def draw_default(self, state: StateT, seat: int, luck: Luck) -> Action:
        """The default of a seat whose `Owed.drawn` is set."""
        raise NotImplementedError(f"{self.name} draws no default in {self.window(state)} for {seat}, {luck}")

    def answer(self, state: StateT, seat: int, action: Action, luck: Luck) -> Step[StateT]:
        """Answers one final submission to an `asap` window. The order of answers must not matter.

        A seat that is settled by default is not answered. `close` is told all that was taken, and must not tell
        again what `answer` told.
        """
        raise NotImplementedError(f"{self.name} answers nothing at once: {seat}, {action}, {luck}")

    @abstractmethod
    def close(self, state: StateT, taken: tuple[Taken | None, ...], luck: Luck) -> Step[StateT]:
        """Closes the open window. `taken` is indexed by seat, None for seats that owed nothing."""

    @abstractmethod
    def view(self, state: StateT, seat: int | None) -> View:
        """Everything that seat may know now, the open window's terms included, built up from nothing.

        `seat` None is a spectator, who knows what is public.
        """

    @abstractmethod
    def host_view(self, state: StateT) -> View:
        """Everything, secrets included: for the host's own eyes, never sent to a bot."""

    @abstractmethod
    def outcome(self, state: StateT) -> Outcome | None:
        """The outcome, once there is one."""

    def legal_actions(self, source: StateT | View, seat: int) -> LegalActions:
        """What this seat may submit to the open window, in which it owes an action.

        Args:
            source: the state, or the view of that seat, which is all that it depends on.
            seat: the seat.

        Raises:
            ValueError: the view is another seat's or a spectator's.
            TypeError: it is plain JSON values.
        """
        is_view = isinstance(source, (self.view_type, dict))
        view: Any = source if is_view else self.view(cast("StateT", source), seat)
        check_own(view, seat)
        return LegalActions(self, view, seat)

    def build(self, view: Any, seat: int) -> Building:
        """Builds a legal action to the window that this view shows open, choice by choice."""
        raise NotImplementedError(f"{self.name} cannot build actions: {view}, {seat}")

    def spell(self, view: Any, action: Action) -> Sequence[int]:
        """The choices with which `build` makes this legal action, given in its canonical spelling."""
        raise NotImplementedError(f"{self.name} cannot build actions: {view}, {action}")

    def listed(self, view: Any, seat: int) -> Sequence[Action] | None:
        """Every legal action once, always in the same order; None where they are too many."""
        return None

    def worlds(
        self,
        view: Any,
        events: Sequence[Event],
        seat: int,
        luck: Random,
        *,
        variant: str | None = None,
        options: Options | None = None,
    ) -> Iterator[StateT]:
        """Draws states in which this seat would have been told exactly what it was, without an end.

        Args:
            view: what the seat knows now.
            events: all that it was told in this match, in order. Not read by games whose views hold all of it:
                of the five, only Mist reads them.
            seat: the seat.
            luck: where chance comes from.
            variant: the match's, as in `welcome`; None: the default.
            options: the match's, of the game's own type, `convert(welcome.options, game.options)`; None: the
                defaults. A field that is left out there has the variant's default.

        Raises:
            ValueError: the view is another seat's or a spectator's, or the options are not this match's; or, when
                a world is asked for: the match is over, or none was found that fits.
            TypeError: the view is plain JSON values.
        """
        raise NotImplementedError(f"{self.name} cannot draw worlds: {view}, {events}, {seat}, {luck}")

    def worlds_until(
        self,
        over: Callable[[], bool],
        view: Any,
        events: Sequence[Event],
        seat: int,
        luck: Random,
        *,
        variant: str | None = None,
        options: Options | None = None,
    ) -> Iterator[StateT]:
        """Draw the same states as `worlds`, but end as soon as `over()` is true.

        `over` is called for each number that is drawn from `luck`, so it must be quick.

        Raises:
            NoWorldInTimeError: `over()` was true before the first was found.
            ValueError, TypeError: as `worlds`.
        """
        drawn = self.worlds(view, events, seat, _Watched(luck, over), variant=variant, options=options)
        found = False
        try:
            for world in drawn:
                found = True
                yield world
                if over():
                    return
        except _TimeOver:
            if not found:
                raise NoWorldInTimeError(f"{self.name}: no world was found in time") from None

    def plausible(self, state: StateT, seat: int, luck: Random) -> Any:
        """A likely legal submission of that seat to the open window: an action, or plain JSON values.

        For playing without players, in conformance and golden matches: a game overrides it where a guess from the
        form of an action alone would hardly ever be legal; None leaves it at that guess. It is the host's own and
        may look at secrets.
        """
        return None

    def reseat(self, action: Action, seat_of: tuple[int, ...]) -> Action:
        """The action as it reads where everyone has moved, from seat `s` to `seat_of[s]`.

        For conformance, which holds anonymous events to their word. A game whose actions name seats extends this.
        """
        return action

    def disguise(self, state: StateT, observer: int | None, luck: Random) -> StateT:
        """Another state in which the observer (None: a spectator) was told the same, as unlike as can be drawn.

        For conformance: a game whose secrets chance would hardly ever change unnoticed says here what they are.
        """
        return state

    def variant(self, name: str) -> Variant:
        """The variant of that name; KeyError where there is none."""
        return {variant.name: variant for variant in self.variants}[name]

    def read_action(self, state: StateT, seat: int, raw: bytes | Raw) -> Action:
        """Decodes and checks a submission to the open window.

        Raises:
            Illegal: it is not of the window's form, or breaks a rule.
        """
        window = self.window(state)
        if window is None:
            raise Illegal("the match is over")
        try:
            action = decode_action(raw, self.actions[window.name])
        except Refused as refused:
            raise Illegal(refused.text) from None
        return self.check(state, seat, action)


class _TimeOver(BaseException):
    """Time was over while a number was drawn. No search handles it as a failed try."""


class _Watched(Random):
    """The numbers of another generator, as long as there is time."""

    def __init__(self, luck: Random, over: Callable[[], bool]) -> None:
        super().__init__(0)
        self._luck = luck
        self._over = over

    def random(self) -> float:
        """Draw from 0 to 1. Raises _TimeOver."""
        if self._over():
            raise _TimeOver
        return self._luck.random()

    def getrandbits(self, k: int, /) -> int:
        """Draw so many bits. Raises _TimeOver."""
        if self._over():
            raise _TimeOver
        return self._luck.getrandbits(k)


def check_own(view: View, seat: int | None) -> None:
    """Raises ValueError: the view is not this seat's. Raises TypeError: it is plain JSON values."""
    if isinstance(view, dict):
        raise TypeError("view: plain values; a bot is shown the game's own view if its annotations name that type")
    shown = getattr(view, "seat", seat)
    if seat is None or shown != seat or seat < 0:
        raise ValueError(f"seat: {seat}, and the view is of {'a spectator' if shown is None else f'seat {shown}'}")


GivenT = TypeVar("GivenT", bound=Options | Setup)


def read_given(form: type[GivenT], given: Raw | None, place: str) -> GivenT:
    """Decodes a host's options or setup; None and null count as left out.

    Raises:
        BadSetupError: names `place` and the key within it.
    """
    try:
        return form() if given in (None, Raw(b"null")) else msgspec.json.decode(given, type=form)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BadSetupError(f"{place}: {error}") from None
