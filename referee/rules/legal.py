"""Legal actions: listed if there are few enough, otherwise built choice by choice. Pure.

An action is a sequence of numbered choices, with the same numbers in all windows of a game (`Game.choices` names
them). Before each choice a mask tells which choices are legal: bit `n` is set if choice `n` is. Every legal choice
leads to a legal action. So a policy with one output per choice can play any game, and a random one always plays
legally.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from operator import index
from random import Random
from typing import Any, Protocol

from protocol.words import Action, View

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


class BuildsActions(Protocol):
    """The methods of `Game` that build actions."""

    def build(self, view: Any, seat: int) -> Building:
        """See `Game.build`."""

    def spell(self, view: Any, action: Action) -> Sequence[int]:
        """See `Game.spell`."""

    def listed(self, view: Any, seat: int) -> Sequence[Action] | None:
        """See `Game.listed`."""


class LegalActions:
    """The legal actions of a seat in the open window; made by `Game.legal_actions`.

    If the actions are listed (`count` is not None), iteration yields each once, and `sample` is uniform. Otherwise
    `sample` draws each choice uniformly from its mask: it can return every legal action, but those with few
    choices more often than those with many.
    """

    __slots__ = ("_game", "_listed", "_seat", "_view")

    def __init__(self, game: BuildsActions, view: View, seat: int) -> None:
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
