"""Encoders of observations: the interface, and one for rows of numbers. They see views and never states.

Each game's own encoder is `encoder.py` in its folder of `referee/games/`. Only encoders need NumPy.
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Observation = npt.NDArray[Any]
RECENT = 6
"""Number of the latest choices that are encoded one by one."""
MOST_CHOICES = 64
Part = tuple[str, int]
"""A name and a length."""


class Encoder(ABC):
    """An encoder of a game's views, with the choices so far of an unfinished action, into arrays of one shape."""

    shape: ClassVar[tuple[int, ...]]
    dtype: ClassVar[type[np.generic]]
    bounds: ClassVar[tuple[int, int]]
    """The smallest and the largest value."""

    def remember(self, memory: Any, view: Any) -> Any:
        """Return a seat's memory after this view; `memory` is the previous one, None at the start of a match.

        Seeing a view twice has no effect. Where views contain all events, no memory is needed.
        """
        return None

    @abstractmethod
    def frame(self, memory: Any, view: Any) -> Any:
        """Return everything of an observation except the choices, for `encode`. `memory` includes this view."""

    @abstractmethod
    def encode(self, frame: Any, choices: Sequence[int] = ()) -> Observation:
        """Return the observation, a new array of `shape`, after these choices of an unfinished action."""


class Filling:
    """A row of numbers that is filled part by part. All start at 0."""

    def __init__(self, size: int, places: dict[str, tuple[int, int]]) -> None:
        self.values = array("f", bytes(4 * size))
        self._places = places

    def put(self, part: str, index: int, value: float = 1.0) -> None:
        """Set a number of a part, clipped to the range from -1 to 1."""
        start, length = self._places[part]
        if not 0 <= index < length:
            raise IndexError(f"{part} has no number {index}")
        self.values[start + index] = max(-1.0, min(1.0, value))

    def mark(self, part: str, indices: Iterable[int]) -> None:
        """Set these numbers of a part to 1."""
        for index in indices:
            self.put(part, index)

    def scaled(self, part: str, value: float, by: float, index: int = 0) -> None:
        """Set a number of a part to a value divided by `by`."""
        # An option may be arbitrarily large, so it is clipped before it becomes a float.
        self.put(part, index, max(-by, min(by, value)) / by)


class VectorEncoder(Encoder):
    """A row of numbers: `parts` in their order, then those of the choices so far."""

    dtype = np.float32
    bounds = (-1, 1)
    parts: ClassVar[tuple[Part, ...]]
    choices: ClassVar[int]
    """The number of choices of the game."""
    one_choice: ClassVar[bool] = False
    """True if every action is a single choice, so that there never are choices so far."""

    def __init_subclass__(cls) -> None:
        """Compute the layout of the parts."""
        choosing = tuple((f"choice {back} back", cls.choices) for back in range(1, RECENT + 1))
        so_far = (*choosing, ("times chosen, each / 6", cls.choices), ("number of choices / 64", 1))
        cls.layout = cls.parts if cls.one_choice else (*cls.parts, *so_far)
        cls.places = {}
        at = 0
        for name, length in cls.layout:
            cls.places[name] = at, length
            at += length
        cls.shape = (at,)

    layout: ClassVar[tuple[Part, ...]]
    """All parts in their order."""
    places: ClassVar[dict[str, tuple[int, int]]]
    """The start and the length of each part."""

    @abstractmethod
    def fill(self, row: Filling, view: Any) -> None:
        """Encode the view in the game's own parts."""

    def frame(self, memory: Any, view: Any) -> npt.NDArray[np.float32]:
        """See `Encoder.frame`."""
        row = Filling(self.shape[0], self.places)
        self.fill(row, view)
        return np.frombuffer(row.values, np.float32)

    def encode(self, frame: npt.NDArray[np.float32], choices: Sequence[int] = ()) -> npt.NDArray[np.float32]:
        """See `Encoder.encode`."""
        row = frame.copy()
        if choices and not self.one_choice:
            for back, choice in enumerate(reversed(choices[-RECENT:]), start=1):
                row[self.places[f"choice {back} back"][0] + choice] = 1
            start, length = self.places["times chosen, each / 6"]
            row[start : start + length] = np.minimum(np.bincount(choices, minlength=length) / RECENT, 1)
            row[-1] = min(len(choices) / MOST_CHOICES, 1)
        return row
