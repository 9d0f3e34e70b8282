"""Matches that are played choice by choice: the common part of all environments.

A step of an environment is one choice (`referee.rules.LegalActions`). A seat that owes an action chooses until the
action is complete. Its window closes once all actions are complete. A seat that owes no action can only `pass`.
"""

from collections.abc import Callable, Sequence
from copy import copy
from operator import index
from random import Random
from typing import Any, Literal, SupportsIndex, TypedDict, Unpack, get_args

import numpy as np
import numpy.typing as npt
from msgspec import Raw, Struct
from msgspec.structs import replace

from arena.quantities import require_int
from arena.simulation import new_table, seed_of
from arena.statistics import points
from protocol.codec import encode
from protocol.words import Action, Outcome, Setup, View
from referee.encoding import Encoder
from referee.games import ENCODERS
from referee.rules import Addressed, Draft, IllegalChoiceError, ResolvedAction, Table, Window

ELAPSED_MS = 1_000
"""Milliseconds that every action takes, for rules that use time: no time passes in an environment."""
SEED_BITS = 31
Given = Struct | dict[str, Any] | None
Reward = Literal["rank", "win", "score"] | Callable[[Outcome, int], float]
"""The reward of a seat at the end: `rank`, `win`, `score`, or a function of outcome and seat.

`rank`: 2s - 1, where s is the share of the other seats ranked below (a tie counts half). `win`: 1 for the winners
that the game names, -1 for the others. `score`: the seat's score, in games that have one.
"""
OnRefused = Literal["raise", "ask", "lose"]
"""The effect of a choice that is not in the mask.

`raise`: IllegalChoiceError is raised. `ask`: nothing changes, and the seat has to choose again. `lose`: the seat
loses the match at once.
"""
MOST_REFUSED = 1_000
Mask = npt.NDArray[np.int8]


class EpisodeArguments(TypedDict, total=False):
    """The arguments of an episode besides its game: see `EnvironmentSpec`."""

    variant: str | None
    options: Given
    setup: Given
    reward: Reward
    max_windows: int | None
    encoder: Encoder | None


class EnvironmentArguments(EpisodeArguments, total=False):
    """The arguments of environments besides the game and a bound on their steps: see `aec_env`."""

    on_refused: OnRefused | None
    max_refused: int | None
    info_text: bool
    render_mode: str | None


_OWN = ("_memory", "_answered", "_views", "_frames", "refused")
"""Attributes that change while a window is open."""


class Refusals(Struct, frozen=True):
    """The effects of choices that are not in the mask."""

    on_refused: OnRefused = "ask"
    max_refused: int | None = MOST_REFUSED
    """The number of refused choices in a match at which a seat loses it; None: no limit."""

    def __post_init__(self) -> None:
        """Raise ValueError if a value is not allowed."""
        if self.on_refused not in get_args(OnRefused):
            words = ", ".join(get_args(OnRefused))
            raise ValueError(f"on_refused: there is no {self.on_refused!r}; there are {words}")
        if self.max_refused is not None:
            require_int("max_refused", self.max_refused, 1)

    def lost(self, refused: int) -> bool:
        """Return True if a seat with that number of refused choices loses."""
        if self.on_refused == "lose":
            return refused > 0
        return self.max_refused is not None and refused >= self.max_refused


class EnvironmentSpec(Struct, frozen=True, kw_only=True):
    """Everything that defines an environment, and so the matches that an episode deals."""

    game: str
    """The game's name, as on the command line."""
    variant: str | None = None
    """The variant; None for the default."""
    options: Given = None
    """The options, as Struct or plain values."""
    setup: Given = None
    """The secrets of every deal, as Struct or plain values; None to draw them per deal."""
    reward: Reward = "rank"
    """The rewards of the seats at the end."""
    max_windows: int | None = None
    """The number of windows after which the match is truncated, without rewards."""
    encoder: Encoder | None = None
    """The encoder of the observations; None for the game's own."""
    on_refused: OnRefused | None = None
    """The effect of a choice that is not in the mask; None for the environment's default."""
    max_refused: int | None = MOST_REFUSED
    """The number of refused choices in a match at which a seat loses it; None: no limit."""
    info_text: bool = False
    """True to add the name of the window to infos."""
    render_mode: str | None = None
    """`ansi` or `rgb_array`."""

    def episode(self, on_refused: OnRefused = "ask") -> "Episode":
        """Create an episode, with a default for `on_refused`. Raise ValueError if a value is wrong."""
        episode = Episode(self)
        episode.refusals = Refusals(self.on_refused or on_refused, self.max_refused)
        return episode


class Episode:
    """A match that is played choice by choice, and the next one after each `reset`."""

    def __init__(self, game: str | EnvironmentSpec, **arguments: Unpack[EpisodeArguments]) -> None:
        """Prepare the episode. `reset` deals the first match.

        Args:
            game: name of the game, or what defines the whole episode.
            arguments: `variant`, `options`, `setup`, `reward`, `max_windows` and `encoder`: see `EnvironmentSpec`.

        Raises:
            ValueError: the game, variant or reward does not exist, or options or setup break the game's rules.
        """
        spec = EnvironmentSpec(game=game, **arguments) if isinstance(game, str) else game
        table = new_table(spec.game, spec.variant, 0, spec.options, spec.setup)
        if spec.encoder is None and spec.game not in ENCODERS:
            raise ValueError(f"encoder: {spec.game} has none of its own; give one")
        self.game = table.game
        self.variant = table.deal.variant
        self.seats = table.seats
        self.max_windows = None if spec.max_windows is None else require_int("max_windows", spec.max_windows, 1)
        self.encoder = spec.encoder or ENCODERS[spec.game]
        self.pass_choice = len(table.game.choices)
        """The last choice, the only one of a seat that owes no action."""
        self.choices = self.pass_choice + 1
        self.refusals = Refusals()
        """The effects of choices that are not in the mask; replace it before the first match."""
        self.refused = [0] * self.seats
        """Number of choices refused in this match; indexed by seat."""
        self._deal = table.deal
        self._reward = _reward(spec.reward)
        self._mask_bytes = (self.choices + 7) // 8
        self._pass_mask = 1 << self.pass_choice
        self._rng = Random()
        self.table = table
        self.told: list[Addressed] = []
        """The events of the last closed window, including its closing; at first, the events of the start."""
        self.taken: Sequence[ResolvedAction | None] = ()
        """The resolved actions of the last closed window; indexed by seat."""
        self.drafts: dict[int, Draft] = {}
        """The drafts of all seats that owe an action in the open window, complete or not; by seat."""
        self._memory: list[Any] = []
        self._views: dict[int, View] = {}
        self._frames: dict[int, Any] = {}
        self._opening: dict[int, View] = {}
        self._answered: list[Addressed] = []
        self._forfeit: Outcome | None = None

    def reset(self, seed: SupportsIndex | None = None, *, setup: Setup | None = None) -> None:
        """Deal a match.

        Args:
            seed: the seed of the match. None draws it from a stream that the last given seed started.
            setup: the setup of this match; None for that of the episode.

        Raises:
            ValueError: the seed is not a whole number, or too large.
        """
        if seed is None:
            seed = self._rng.getrandbits(SEED_BITS)
        else:
            seed = seed_of(seed)
            self._rng = Random(seed)
        deal = replace(self._deal, seed=seed)
        if setup is not None:
            deal = replace(deal, setup=Raw(encode(setup)))
        self.table = Table(self.game, deal)
        self.told = list(self.table.start)
        self.refused = [0] * self.seats
        self._forfeit = None
        self._memory = [None] * self.seats
        self._open()

    @property
    def seed(self) -> int:
        """The seed of this match."""
        return self.table.deal.seed

    @property
    def window(self) -> Window | None:
        """The open window; None at the end."""
        return None if self.over else self.table.window

    @property
    def begun(self) -> bool:
        """True once a match has been dealt."""
        return bool(self._memory)

    @property
    def outcome(self) -> Outcome | None:
        """The outcome; None before the end. Seats with too many refused choices are last in it, tied."""
        return self._forfeit or self.table.outcome

    @property
    def over(self) -> bool:
        """True if there is an outcome."""
        return self.outcome is not None

    @property
    def truncated(self) -> bool:
        """True if `max_windows` windows have closed without an outcome."""
        return not self.over and self.table.number == self.max_windows

    @property
    def choosing(self) -> Sequence[int]:
        """The seats that owe a choice now, ascending."""
        return [seat for seat, draft in self.drafts.items() if draft.mask]

    def owed(self, seat: int) -> bool:
        """Return True if the seat owes a choice."""
        return seat in self.drafts and self.drafts[seat].mask != 0

    def may(self, seat: int, choice: int) -> bool:
        """Return True if the choice is in the seat's mask."""
        return choice >= 0 and bool(self.mask_bits(seat) >> index(choice) & 1)

    def choose(self, seat: int, choice: int) -> None:
        """Make the next choice of a seat that owes one. The window stays open until `close`.

        Raises:
            IllegalChoiceError: the choice is not in the mask.
        """
        if not 0 <= index(choice) < self.choices:
            name = self.table.game.name
            raise IllegalChoiceError(f"choice {choice} does not exist: {name} has 0 to {self.choices - 1}")
        draft = self.drafts[seat]
        try:
            draft.choose(choice)
        except IllegalChoiceError:
            raise IllegalChoiceError(self._why_illegal(choice)) from None
        if draft.action is not None:
            self._complete(seat, draft.action)

    def attempt(self, seat: int, choice: int) -> bool:
        """Make a choice for a seat that owes one, or count it as refused if it is not in the mask.

        Returns True if the choice was made. A seat with too many refused choices loses when `close` is called.

        Raises:
            IllegalChoiceError: the choice is refused, and `on_refused` is `raise`.
        """
        if self.may(seat, choice) or self.refusals.on_refused == "raise":
            self.choose(seat, choice)
            return True
        self.refused[seat] += 1
        return False

    def submit(self, seat: int, action: Action | None) -> None:
        """Submit a complete action, legal and canonical, for a seat that owes one; None for the default."""
        self.drafts[seat].mask = 0
        if action is None:
            self.table.submit(seat, None)
        else:
            self._complete(seat, action)

    def close(self) -> bool:
        """Close the window and open the next if all its actions are complete; otherwise return False.

        Ends the match instead if a seat has had too many choices refused.
        """
        if losers := [seat for seat, refused in enumerate(self.refused) if self.refusals.lost(refused)]:
            self._end_without(losers)
            return True
        if len(self.table.submitted) < len(self.drafts):
            return False
        self.taken = self.table.results()
        self.told = [*self._answered, *self.table.close(self.taken)]
        self._open()
        return True

    def view(self, seat: int) -> View:
        """Return the seat's current view."""
        if seat not in self._views:
            self._views[seat] = self.game.view(self.table.state, seat)
        return self._views[seat]

    def mask_bits(self, seat: int) -> int:
        """Return the seat's mask as an integer: bit `n` is set if the seat may choose `n` next."""
        if self.owed(seat):
            return self.drafts[seat].mask
        return self._pass_mask

    def mask(self, seat: int) -> Mask:
        """Return the seat's mask as an array of 0 and 1, of length `choices`."""
        raw = np.frombuffer(self.mask_bits(seat).to_bytes(self._mask_bytes, "little"), np.uint8)
        return np.unpackbits(raw, count=self.choices, bitorder="little").view(np.int8)

    def observation(self, seat: int) -> npt.NDArray[Any]:
        """Encode the seat's view and its choices so far."""
        if seat not in self._frames:
            view, memory = self.view(seat), self._memory[seat]
            if seat not in self.drafts:
                memory = self.encoder.remember(memory, view)
            self._frames[seat] = self.encoder.frame(memory, view)
        if self.owed(seat):
            return self.encoder.encode(self._frames[seat], self.drafts[seat].choices)
        return self.encoder.encode(self._frames[seat], ())

    def observe(self, seat: int) -> dict[str, npt.NDArray[Any]]:
        """Return the seat's `observation` and `action_mask`."""
        return {"observation": self.observation(seat), "action_mask": self.mask(seat)}

    def copy(self) -> "Episode":
        """Return an independent copy in the same state. Episodes can be pickled, too."""
        return copy(self)

    def in_world(self, state: Any, seat: int, seed: int) -> "Episode":
        """Return a copy of this episode in another state, such as one of the seat's worlds (`Game.worlds`).

        The seat keeps its memory and its choices so far. The others know only what the state shows, and have not
        chosen in the open window. Random draws from now on use `seed`.
        """
        other = self.copy()
        table = other.table
        table.deal = replace(table.deal, seed=seed)
        table.state = state
        table.window = self.game.window(state)
        table.journal, table.submitted = [], {}
        other._memory = [None] * self.seats  # noqa: SLF001 - a copy
        other._memory[seat] = self._memory[seat]  # noqa: SLF001 - a copy
        other._open(keep=seat)  # noqa: SLF001 - a copy
        if seat in self.drafts:
            for choice in self.drafts[seat].choices:
                other.choose(seat, choice)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> "Episode":
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        # Drafts are generators, which cannot be copied: they are rebuilt from their choices.
        drafts = {seat: (draft.choices, draft.mask == 0) for seat, draft in self.drafts.items()}
        own = {name: self.__dict__[name].copy() for name in _OWN}
        return self.__dict__ | own | {"table": self.table.fork(), "drafts": drafts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.drafts = {}
        for seat, (choices, done) in state["drafts"].items():
            draft = self.drafts[seat] = self.game.legal_actions(self._opening[seat], seat).draft(choices)
            if done:
                draft.mask = 0

    def rewards(self) -> list[float]:
        """Return the rewards, indexed by seat; all 0 before there is an outcome."""
        outcome = self.outcome
        if outcome is None:
            return [0.0] * self.seats
        return [self._reward(outcome, seat) for seat in range(self.seats)]

    def _why_illegal(self, choice: int) -> str:
        names = self.game.choices
        if not 0 <= choice < len(names):
            return f"choice {choice} does not exist: {self.game.name} has 0 to {len(names) - 1}"
        return f"choice {choice}, {names[choice]}, is not allowed here: the mask does not hold it"

    def _end_without(self, losers: Sequence[int]) -> None:
        """End the match with these seats as its losers."""
        others = tuple(sorted(set(range(self.seats)) - set(losers)))
        self._forfeit = Outcome(
            ranking=tuple(filter(None, (others, tuple(losers)))),
            winners=others,
            eliminated=losers[0] if len(losers) == 1 else None,
            scores=None,
            reason="refused",
        )
        self.taken, self.told = (None,) * self.seats, []
        for draft in self.drafts.values():
            draft.mask = 0

    def _complete(self, seat: int, action: Action) -> None:
        self._answered += self.table.submit(seat, action, ELAPSED_MS)
        if self.table.window is not None and self.table.window.asap:
            self._views.pop(seat, None)
            self._frames.pop(seat, None)

    def _open(self, keep: int | None = None) -> None:
        """Prepare the drafts of the window that has opened, and the views and memories of their seats.

        The memory of seat `keep` includes this window already.
        """
        table, game = self.table, self.game
        self._views, self._frames, self.drafts = {}, {}, {}
        self._answered = []
        for owed in table.owed:
            seat = owed.seat
            view = self._views[seat] = game.view(table.state, seat)
            if seat != keep:
                self._memory[seat] = self.encoder.remember(self._memory[seat], view)
            self.drafts[seat] = game.legal_actions(view, seat).draft()
        self._opening = self._views.copy()


def _rank(outcome: Outcome, seat: int) -> float:
    return 2 * points(outcome, seat) - 1


def _win(outcome: Outcome, seat: int) -> float:
    return 1.0 if seat in outcome.winners else -1.0


def _score(outcome: Outcome, seat: int) -> float:
    if outcome.scores is None:
        raise ValueError("reward: this game has no scores")
    return float(outcome.scores[str(seat)])


_REWARDS: dict[str, Callable[[Outcome, int], float]] = {"rank": _rank, "win": _win, "score": _score}


def _reward(reward: Reward) -> Callable[[Outcome, int], float]:
    if callable(reward):
        return reward
    if reward not in _REWARDS:
        raise ValueError(f"reward: there is no {reward!r}; there are {', '.join(_REWARDS)}, or give a function")
    return _REWARDS[reward]
