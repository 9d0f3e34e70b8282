"""The interface of encoders of observations. They see views and never states, so they cannot reveal secrets."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Observation = npt.NDArray[Any]


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
