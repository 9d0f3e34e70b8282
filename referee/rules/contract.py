"""The contract of a game, and the legal actions that it offers. Pure.

It fits all games: a turn is a window with one seat, a secret round is one with many seats.

A game is pure. It has no state of its own: every method takes the state and returns a new one. It never reads a
clock, draws random numbers only from the `MatchRandom` passed in, and names the audience of each event.

Legal actions are listed if there are few enough, otherwise built choice by choice. An action is a sequence of
numbered choices, with the same numbers in all windows of a game (`Game.choices` names them). Before each choice a
mask tells which choices are legal: bit `n` is set if choice `n` is. Every legal choice leads to a legal action. So
a policy with one output per choice can play any game, and a random one always plays legally.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from enum import Enum
from itertools import count, groupby
from operator import index
from random import Random
from typing import Any, ClassVar, Generic, TypeVar, cast

import msgspec
from msgspec import Raw, Struct

from protocol.codec import Refused, decode_action
from protocol.words import Action, Event, Options, Outcome, Setup, View
from referee.rules.rng import MatchRandom

ItemT = TypeVar("ItemT")
StateT = TypeVar("StateT")
OptionsT = TypeVar("OptionsT", bound=Options)
SetupT = TypeVar("SetupT", bound=Setup)
ViewT = TypeVar("ViewT", bound=View)

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
SPECTATOR = None
"""The `seat` of a view that knows only what is public."""


class Illegal(Exception):  # noqa: N818 - a refusal, not an error of ours
    """An action breaks a rule. The reason contains only facts that the action's sender may know."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NoWorldInTimeError(TimeoutError):
    """No world was found before the caller's time ran out, although some may exist."""


class BadSetupError(ValueError):
    """A setup or an option breaks the game's rules. The text names the place."""


class Addressed(Struct, frozen=True, gc=False):
    """An event with its audience: one seat, or everyone if `seat` is None."""

    event: Event
    seat: int | None = None


class Quoted(Event, tag="quoted", frozen=True):
    """A message of an earlier match that is sent to a seat again unchanged, by a game that repeats the match."""

    frame: Raw
    event: Raw | None = None
    """The event in the message, if it contains one, which is sent again to a bot that reconnects."""


class Transition(Struct, Generic[StateT], frozen=True, gc=False):
    """The result of a deal, an answer or a closed window: the new state, and the events in order."""

    state: StateT
    told: tuple[Addressed, ...] = ()


class PendingSeat(Struct, frozen=True, gc=False):
    """A seat's part in an open window."""

    seat: int
    default: Action | None
    """The action used if none arrives. None: no action, or (`drawn`) one drawn when the window closes."""
    drawn: bool = False
    """True if `Game.draw_default` draws the default when the window closes."""
    shown: Any = None
    """Facts that the window itself reveals to this seat, besides its events, such as the candidates of a vote. The
    seat's view may show them."""


class Retold(Struct, frozen=True, kw_only=True):
    """The terms of a window of an earlier match, for a game that puts it to its one seat again.

    The seat has the same time as then. The window closes as soon as it has answered, whatever the pacing. No
    `closed` is sent: the game sends the window's result.
    """

    number: int
    """The window's number in the seat's own count."""
    main_ms: int
    reserve_ms: int
    unlimited: bool = False
    """True if the seat's time never ends, regardless of the times sent to it."""


class Window(Struct, frozen=True, gc=False):
    """A span of time in which the seats that owe an action may submit it in secret."""

    name: str
    owed: tuple[PendingSeat, ...]
    """The parts, ascending by seat; never empty."""
    asap: bool = False
    """True if `Game.answer` answers each seat as soon as its submission is final, before the window closes."""
    timed: bool = False
    """True if a rule depends on the time that a seat used (`ResolvedAction.elapsed_ms`)."""
    retold: Retold | None = None
    """The terms of an earlier match's window, set by a game that repeats the match."""

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that owe an action, ascending."""
        return tuple(owed.seat for owed in self.owed)


class Announced(Enum):
    """The public knowledge about an open window, also for spectators."""

    NAME = "name"
    """Its name and the fact that it is open, but not which seats owe an action."""
    SEATS = "seats"
    """Also the seats that owe an action."""


class ResolvedAction(Struct, frozen=True, gc=False):
    """The result of a seat's part in a closed window."""

    action: Action | None
    by_default: bool = False
    elapsed_ms: int = 0


ResolvedActions = tuple[ResolvedAction | None, ...]
"""The results of a closed window, indexed by seat; None for a seat that owed nothing."""


class TimeTerms(Struct, frozen=True):
    """The times of a variant's published rules, in milliseconds."""

    main_ms: dict[str, int]
    """Main times, keyed by window name."""
    reserve_ms: int = 0


class Variant(Struct, frozen=True):
    """A published rule set of a game."""

    name: str
    time: TimeTerms


Building = Generator[int, int, Action]
"""A generator that builds an action: it yields masks of legal choices, receives choices, and returns the action.

There is at least one choice, and no mask is 0.
"""


class IllegalChoiceError(ValueError):
    """A choice is not in the mask, or the action is already complete."""


class Draft:
    """An action under construction."""

    __slots__ = ("_building", "action", "choices", "mask")

    def __init__(self, building: Building) -> None:
        self._building = building
        self.choices: tuple[int, ...] = ()
        """The choices made so far."""
        self.mask = next(building)
        """The legal choices: bit `n` is set if choice `n` is legal; 0 if the action is complete."""
        self.action: Action | None = None
        """The complete action in canonical form; None: not complete yet."""

    def choose(self, choice: int) -> None:
        """Make the next choice.

        Raises:
            IllegalChoiceError: it is not legal here.
            TypeError: it is not a whole number.
        """
        choice = index(choice)  # A mask of many bits cannot be shifted by NumPy's numbers.
        if choice < 0 or not self.mask >> choice & 1:
            before = f" after {', '.join(map(str, self.choices))}" if self.choices else ""
            raise IllegalChoiceError(f"choice {choice} is not legal here{before}")
        self.choices += (choice,)
        try:
            self.mask = self._building.send(choice)
        except StopIteration as end:
            self.mask, self.action = 0, end.value


class LegalActions:
    """The legal actions of a seat in the open window; made by `Game.legal_actions`.

    If the actions are listed (`count` is not None), iteration yields each once, and `sample` is uniform. Otherwise
    `sample` draws each choice uniformly from its mask: it can return every legal action, but those with few
    choices more often than those with many.
    """

    __slots__ = ("_game", "_listed", "_seat", "_view")

    def __init__(self, game: "AnyGame", view: View, seat: int) -> None:
        """Set up the legal actions of a seat, given its view."""
        self._game = game
        self._view = view
        self._seat = seat
        self._listed = game.listed(view, seat)

    @property
    def count(self) -> int | None:
        """The number of legal actions; None if they are not listed."""
        return None if self._listed is None else len(self._listed)

    def __iter__(self) -> Iterator[Action]:
        """Yield every legal action once in canonical form, always in the same order.

        Raises:
            TypeError: they are not listed.
        """
        if self._listed is None:
            raise TypeError("these actions are too many to list: take `sample`, or build one with `draft`")
        return iter(self._listed)

    def sample(self, rng: Random) -> Action:
        """Return a random legal action in canonical form."""
        if self._listed is not None:
            return self._listed[int(rng.random() * len(self._listed))]
        draft = self.draft()
        while draft.action is None:
            draft.choose(drawn(draft.mask, rng))
        return draft.action

    def draft(self, choices: Sequence[int] = ()) -> Draft:
        """Return an action under construction, after some choices.

        Raises:
            IllegalChoiceError: one of them is not legal at its place.
        """
        draft = Draft(self._game.build(self._view, self._seat))
        for choice in choices:
            draft.choose(choice)
        return draft

    def choices(self, action: Action) -> tuple[int, ...]:
        """Return the choices that build a legal action, which must be in canonical form."""
        return tuple(self._game.spell(self._view, action))


def choice_mask(numbers: Iterable[int], first: int = 0) -> int:
    """Return the mask of some choices of one kind: bit `first + n` is set for each `n` in `numbers`."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask << first


def drawn(mask: int, rng: Random) -> int:
    """Return the number of a random bit of a mask, drawn uniformly."""
    for _ in range(int(rng.random() * mask.bit_count())):
        mask &= mask - 1
    return (mask & -mask).bit_length() - 1


class Game(ABC, Generic[StateT, OptionsT, SetupT, ViewT]):
    """The base class of games, generic in the types of state, options, setup and view.

    The setup of a game without secrets of the host is `Setup`. `proofs.conformance.check_game` checks that a game
    keeps these promises.
    """

    name: ClassVar[str]
    """The game's id, as on the command line."""
    variants: ClassVar[tuple[Variant, ...]]
    """All variants, the default first."""
    actions: ClassVar[dict[str, type[Action]]]
    """The types of actions, keyed by window name."""
    announced: ClassVar[dict[str, Announced]] = {}
    """The public knowledge about open windows, keyed by window name. Windows that are left out are secret."""
    events: ClassVar[tuple[type[Event], ...]]
    """All types of events that the game sends."""
    options: type[OptionsT]
    setup: type[SetupT] = cast("Any", Setup)
    """The type of the host's secrets. Keep the default for a game without secrets."""
    view_type: type[ViewT]
    choices: ClassVar[tuple[str, ...]] = ()
    """Names of the choices of which actions are built, indexed by number; the same in all windows."""

    def read_options(self, variant: str, given: Raw | None) -> OptionsT:
        """Return the options of a match: those passed, checked, and defaults for the rest.

        Extend this if defaults depend on the variant, or options on each other.

        Raises:
            BadSetupError: an unknown option, or a value that breaks its rule.
        """
        return read_given(self.options, given, "options")

    def read_setup(self, variant: str, options: OptionsT, given: Raw | None, rng: MatchRandom) -> SetupT:
        """Return the setup of a match: the one passed, checked, or a drawn one.

        A game without secrets accepts only `{}`.

        Raises:
            BadSetupError: the setup breaks the game's rules; the text names the wrong count or place.
        """
        return read_given(self.setup, given, "setup")

    @abstractmethod
    def seats(self, options: OptionsT) -> int:
        """Return the number of seats."""

    @abstractmethod
    def deal(self, variant: str, options: OptionsT, setup: SetupT, rng: MatchRandom) -> Transition[StateT]:
        """Return the state before the first window, and the events before it."""

    @abstractmethod
    def window(self, state: StateT) -> Window | None:
        """Return the open window; None exactly if there is an outcome."""

    @abstractmethod
    def check(self, state: StateT, seat: int, action: Action) -> Action:
        """Return the canonical form of an action by a seat that owes one in the open window.

        Raises:
            Illegal: the action breaks a rule.
        """

    def draw_default(self, state: StateT, seat: int, rng: MatchRandom) -> Action:
        """Return the drawn default of a seat whose `PendingSeat.drawn` is set."""
        raise NotImplementedError(f"{self.name} draws no default in {self.window(state)} for {seat}, {rng}")

    def answer(self, state: StateT, seat: int, action: Action, rng: MatchRandom) -> Transition[StateT]:
        """Answer a final submission to an `asap` window. The order of answers must not matter.

        Seats that take the default are not answered. `close` gets all actions, and must not send the events of
        answers again.
        """
        raise NotImplementedError(f"{self.name} answers nothing at once: {seat}, {action}, {rng}")

    @abstractmethod
    def close(self, state: StateT, taken: ResolvedActions, rng: MatchRandom) -> Transition[StateT]:
        """Close the open window. `taken` is indexed by seat, with None for seats that owed nothing."""

    @abstractmethod
    def view(self, state: StateT, seat: int | None) -> ViewT:
        """Return everything that a seat may know now, with the terms of the open window.

        Build it up from nothing rather than removing secrets from the state. `seat` is None for a spectator, who
        knows only public facts.
        """

    @abstractmethod
    def host_view(self, state: StateT) -> View:
        """Return the whole state with its secrets, for the host. It is never sent to a bot."""

    @abstractmethod
    def outcome(self, state: StateT) -> Outcome | None:
        """Return the outcome; None: the match is not over."""

    def legal_actions(self, source: StateT | ViewT, seat: int) -> LegalActions:
        """Return the legal actions of a seat that owes one in the open window.

        Args:
            source: the state, or the view of that seat; the result depends only on the view.
            seat: the seat.

        Raises:
            ValueError: the view is another seat's or a spectator's.
            TypeError: the view consists of plain JSON values.
        """
        is_view = isinstance(source, (self.view_type, dict))
        view: Any = source if is_view else self.view(cast("StateT", source), seat)
        check_own(view, seat)
        return LegalActions(self, view, seat)

    def build(self, view: ViewT, seat: int) -> Building:
        """Build a legal action for the open window of a view, choice by choice."""
        raise NotImplementedError(f"{self.name} cannot build actions: {view}, {seat}")

    def spell(self, view: ViewT, action: Action) -> Sequence[int]:
        """Return the choices with which `build` makes a legal action, which must be in canonical form."""
        raise NotImplementedError(f"{self.name} cannot build actions: {view}, {action}")

    def listed(self, view: ViewT, seat: int) -> Sequence[Action] | None:
        """Return every legal action once, always in the same order; None if there are too many."""
        return None

    def worlds(
        self,
        view: ViewT,
        events: Sequence[Event],
        seat: int,
        rng: Random,
        *,
        variant: str | None = None,
        options: OptionsT | None = None,
    ) -> Iterator[StateT]:
        """Yield random states in which the seat would have received exactly its events and view. Never ends.

        Args:
            view: the seat's current view.
            events: all events sent to the seat in this match, in order. Games whose views contain all of them do
                not read these: of the five games, only Mist does.
            seat: the seat.
            rng: the source of random numbers.
            variant: the match's variant, as in `welcome`; None: the default one.
            options: the match's options in the game's own type, `convert(welcome.options, game.options)`; None:
                the defaults. Missing fields have the variant's defaults.

        Raises:
            ValueError: the view is another seat's or a spectator's, or the options are not those of this match;
                or, at the first `next`: the match is over, or no state was found that fits.
            TypeError: the view consists of plain JSON values.
        """
        raise NotImplementedError(f"{self.name} cannot draw worlds: {view}, {events}, {seat}, {rng}")

    def worlds_until(
        self,
        over: Callable[[], bool],
        view: ViewT,
        events: Sequence[Event],
        seat: int,
        rng: Random,
        *,
        variant: str | None = None,
        options: OptionsT | None = None,
    ) -> Iterator[StateT]:
        """Yield the same states as `worlds`, but end as soon as `over()` is true.

        `over` is called for each number that is drawn from `rng`, so it must be quick.

        Raises:
            NoWorldInTimeError: `over()` was true before the first state was found.
            ValueError, TypeError: as in `worlds`.
        """
        drawn = self.worlds(view, events, seat, _Watched(rng, over), variant=variant, options=options)
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

    def setups(self, variant: str, options: OptionsT) -> Sequence[SetupT] | None:
        """Return every setup that may be drawn, all equally likely; None: too many, or chance also draws later.

        No match uses it. In OpenSpiel, chance deals one of these instead of a few seeds.
        """
        return None

    def most_choices(self, options: OptionsT) -> int | None:
        """Return the most choices that all seats together make in a match; None: not known.

        No match uses it. OpenSpiel needs it.
        """
        return None

    def plausible(self, state: StateT, seat: int, rng: Random) -> Any:
        """Return a probably legal submission of a seat to the open window: an action, or plain JSON values.

        It serves conformance and golden matches, which have no players. Override it if a guess from the type of an
        action alone would rarely be legal; None uses that guess. It may use secrets.
        """
        return None

    def reseat(self, action: Action, seat_of: tuple[int, ...]) -> Action:
        """Return the action with its seats renamed, from `s` to `seat_of[s]`.

        It serves conformance, which checks that anonymous events are anonymous. Override it if actions name seats.
        """
        return action

    def disguise(self, state: StateT, observer: int | None, rng: Random) -> StateT:
        """Return another state in which the observer (None: a spectator) would have received the same events.

        It should differ as much as possible. It serves conformance: override it if random play rarely changes the
        game's secrets without changing events.
        """
        return state

    def variant(self, name: str) -> Variant:
        """Return the variant of a name.

        Raises:
            KeyError: there is none.
        """
        return {variant.name: variant for variant in self.variants}[name]

    def read_action(self, state: StateT, seat: int, raw: bytes | Raw) -> Action:
        """Decode and check a submission to the open window.

        Raises:
            Illegal: it is not of the window's type, or breaks a rule.
        """
        window = self.window(state)
        if window is None:
            raise Illegal("the match is over")
        try:
            action = decode_action(raw, self.actions[window.name])
        except Refused as refused:
            raise Illegal(refused.text) from None
        return self.check(state, seat, action)


AnyGame = Game[Any, Any, Any, Any]
"""A game whose types are not known to the type checker."""


class _TimeOver(BaseException):
    """The time ran out while a number was drawn.

    It is no Exception, so that no search takes it for a failed try.
    """


class _Watched(Random):
    """The numbers of another generator, until the time runs out."""

    def __init__(self, rng: Random, over: Callable[[], bool]) -> None:
        super().__init__(0)
        self._rng = rng
        self._over = over

    def random(self) -> float:
        """Return a number from 0 to 1.

        Raises:
            _TimeOver: the time has run out.
        """
        if self._over():
            raise _TimeOver
        return self._rng.random()

    def getrandbits(self, k: int, /) -> int:
        """Return a number of `k` random bits.

        Raises:
            _TimeOver: the time has run out.
        """
        if self._over():
            raise _TimeOver
        return self._rng.getrandbits(k)


def check_own(view: View, seat: int | None) -> None:
    """Check that a view is a seat's own.

    Raises:
        ValueError: it is another seat's or a spectator's.
        TypeError: it consists of plain JSON values.
    """
    if isinstance(view, dict):
        raise TypeError("view: plain values; a bot is shown the game's own view if its annotations name that type")
    shown = getattr(view, "seat", seat)
    if seat is None or shown != seat or seat < 0:
        raise ValueError(f"seat: {seat}, and the view is of {'a spectator' if shown is None else f'seat {shown}'}")


def by_seat(values: Iterable[ItemT]) -> dict[str, ItemT]:
    """Return values that are indexed by seat, keyed by the seat as text, as messages have them."""
    return dict(zip(map(str, count()), values, strict=False))


def ranked(seats: Iterable[int], key: Callable[[int], Any]) -> tuple[tuple[int, ...], ...]:
    """Return groups of seats with equal keys, the highest first; within a group seats keep their order."""
    order = sorted(seats, key=key, reverse=True)
    return tuple(tuple(group) for _, group in groupby(order, key))


GivenT = TypeVar("GivenT", bound=Options | Setup)


def read_given(form: type[GivenT], given: Raw | None, place: str) -> GivenT:
    """Decode a host's options or setup. None and null stand for the defaults.

    Raises:
        BadSetupError: they are not valid; the text names `place` and the key in it.
    """
    try:
        return form() if given in (None, Raw(b"null")) else msgspec.json.decode(given, type=form)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BadSetupError(f"{place}: {error}") from None
