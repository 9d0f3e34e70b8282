"""What an encoder of observations is. It sees views, never states: it cannot tell more than a seat knows."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Observation = npt.NDArray[Any]


class Encoder(ABC):
    """Makes arrays of one shape of a game's views, and of the choices that are made of an action so far."""

    shape: ClassVar[tuple[int, ...]]
    dtype: ClassVar[type[np.generic]]
    bounds: ClassVar[tuple[int, int]]
    """The least and the greatest value."""

    def remember(self, memory: Any, view: Any) -> Any:
        """What a seat remembers after this view, of what it knew before (None at the start of a match).

        To see a view twice changes nothing. Where views hold all that was told, there is nothing to remember.
        """
        return None

    @abstractmethod
    def frame(self, memory: Any, view: Any) -> Any:
        """All of an observation but the choices, for `encode`; `memory` is as after this view."""

    @abstractmethod
    def encode(self, frame: Any, choices: Sequence[int] = ()) -> Observation:
        """The observation, a new array of `shape`, after these choices of the action that is being built."""
