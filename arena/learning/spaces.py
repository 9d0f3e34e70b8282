"""What the environments of PettingZoo and Gymnasium tell of themselves alike: agents, spaces and infos."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Dict

from arena.learning.episode import Episode
from arena.learning.rendering import FRAMES_A_SECOND, MODES

Observed = dict[str, npt.NDArray[Any]]
"""`observation` and `action_mask`."""
NO_WINDOW = -1
"""The number of the window in the infos of a seat that owes no action."""


def agents_of(episode: Episode) -> list[str]:
    """`seat_0`, `seat_1` and so on."""
    return [f"seat_{seat}" for seat in range(episode.seats)]


def check_begun(agents: Sequence[str]) -> None:
    """Whether there are agents left that may step. Raises ResetNeeded."""
    if not agents:
        raise ResetNeeded("the match is over, or not begun: call reset()")


def observation_space(episode: Episode) -> Dict:
    """What a seat of that game can observe."""
    encoder = episode.encoder
    low, high = encoder.bounds
    return Dict(
        {
            "observation": Box(low, high, encoder.shape, encoder.dtype),
            "action_mask": Box(0, 1, (episode.choices,), np.int8),
        }
    )


def state_space(episode: Episode) -> Box:
    """Return the space of `state_of`."""
    encoder = episode.encoder
    low, high = encoder.bounds
    dtype: Any = encoder.dtype
    return Box(low, high, (episode.seats * math.prod(encoder.shape),), dtype)


def state_of(episode: Episode) -> npt.NDArray[Any]:
    """Return the observations of all seats as one vector, in order of seats: for critics that see everything."""
    return np.concatenate([episode.observation(seat).ravel() for seat in range(episode.seats)])


def info_of(episode: Episode, seat: int, *, text: bool) -> dict[str, Any]:
    """Return what `infos` say of a seat: numbers only, unless `text` adds the window's name.

    `window` counts the names of the game's windows in order from 0; -1: the seat owes no action. `refused` counts
    its refused choices in this match.
    """
    window = episode.window
    name = window.name if window is not None and seat in episode.drafts else ""
    number = list(episode.game.actions).index(name) if name else NO_WINDOW
    info: dict[str, Any] = {"window": number, "refused": episode.refused[seat]}
    return info | {"window_name": name} if text else info


def metadata(episode: Episode, *, parallel: bool) -> dict[str, Any]:
    """As PettingZoo asks for it."""
    return {
        "name": f"{episode.game.name.replace('-', '_')}_v0",
        "render_modes": list(MODES),
        "render_fps": FRAMES_A_SECOND,
        "is_parallelizable": parallel,
    }
