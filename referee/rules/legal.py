"""Legal actions: listed where there are few enough, and built choice by choice where there are not. Pure.

An action is spelled with numbered choices, the same numbers in all windows of a game (`Game.choices` names them).
Before each choice a mask says which may come next: bit `n` is set if choice `n` may. Every choice of a mask leads
to a legal action. So a policy with one output a choice can play any game, and a random one is always legal.
"""

from collections.abc import Generator, Iterator, Sequence
from operator import index
from random import Random
from typing import Any, Protocol

from protocol.words import Action, View

Building = Generator[int, int, Action]
"""How a game builds an action: it yields the mask of what may come next, is sent a choice, and returns the action.

At least one choice is made; no mask is 0.
"""


class IllegalChoiceError(ValueError):
    """A choice that the mask does not hold, or one more for an action that is complete."""


class Draft:
    """An action under construction."""

    __slots__ = ("_building", "action", "choices", "mask")

    def __init__(self, building: Building) -> None:
        self._building = building
        self.choices: tuple[int, ...] = ()
        """What has been chosen so far."""
        self.mask = next(building)
        """Bit `n` is set if choice `n` may come next; 0 once the action is complete."""
        self.action: Action | None = None
        """The action, in its canonical spelling, once it is complete."""

    def choose(self, choice: int) -> None:
        """Makes the next choice.

        Raises:
            IllegalChoiceError: it may not come here.
            TypeError: it is no whole number.
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
    """What these functions of a game say is told at `Game`."""

    def build(self, view: Any, seat: int) -> Building:
        """See `Game.build`."""

    def spell(self, view: Any, action: Action) -> Sequence[int]:
        """See `Game.spell`."""

    def listed(self, view: Any, seat: int) -> Sequence[Action] | None:
        """See `Game.listed`."""


class LegalActions:
    """What one seat may submit to the open window; `Game.legal_actions` makes it.

    Where the actions are listed (`count` is not None), iterating gives each once, and `sample` is uniform.
    Elsewhere `sample` takes each choice uniformly from its mask: it can draw every legal action, and one of few
    choices more often than one of many.
    """

    __slots__ = ("_game", "_listed", "_seat", "_view")

    def __init__(self, game: BuildsActions, view: View, seat: int) -> None:
        """Takes whose actions they are, and what that seat knows."""
        self._game = game
        self._view = view
        self._seat = seat
        self._listed = game.listed(view, seat)

    @property
    def count(self) -> int | None:
        """How many legal actions there are; None where they are not listed."""
        return None if self._listed is None else len(self._listed)

    def __iter__(self) -> Iterator[Action]:
        """Every legal action once, canonical, always in the same order. Raises TypeError where none are listed."""
        if self._listed is None:
            raise TypeError("these actions are too many to list: take `sample`, or build one with `draft`")
        return iter(self._listed)

    def sample(self, luck: Random) -> Action:
        """A random legal action, in its canonical spelling."""
        if self._listed is not None:
            return self._listed[int(luck.random() * len(self._listed))]
        draft = self.draft()
        while draft.action is None:
            draft.choose(drawn(draft.mask, luck))
        return draft.action

    def draft(self, choices: Sequence[int] = ()) -> Draft:
        """An action under construction, after these choices.

        Raises:
            IllegalChoiceError: one of them may not come there.
        """
        draft = Draft(self._game.build(self._view, self._seat))
        for choice in choices:
            draft.choose(choice)
        return draft

    def choices(self, action: Action) -> tuple[int, ...]:
        """The choices that build this legal action, which must be in its canonical spelling."""
        return tuple(self._game.spell(self._view, action))


def drawn(mask: int, luck: Random) -> int:
    """The number of one of the mask's bits, each as likely."""
    for _ in range(int(luck.random() * mask.bit_count())):
        mask &= mask - 1
    return (mask & -mask).bit_length() - 1
