"""Agents, spaces and infos that the environments of PettingZoo and Gymnasium have in common."""

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
"""The arrays `observation` and `action_mask`."""
NO_WINDOW = -1
"""Window number in the infos of a seat that owes no action."""


def agents_of(episode: Episode) -> list[str]:
    """Return the names of the agents: `seat_0`, `seat_1` and so on."""
    return [f"seat_{seat}" for seat in range(episode.seats)]


def check_begun(agents: Sequence[str]) -> None:
    """Raise ResetNeeded if no agent remains that may step."""
    if not agents:
        raise ResetNeeded("the match is over, or not begun: call reset()")


def observation_space(episode: Episode) -> Dict:
    """Return the space of a seat's observations and masks."""
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
    """Return the observations of all seats as one vector, in order of seats, for critics that see everything."""
    return np.concatenate([episode.observation(seat).ravel() for seat in range(episode.seats)])


def info_of(episode: Episode, seat: int, *, text: bool) -> dict[str, Any]:
    """Return the infos of a seat: numbers only, unless `text` adds the window's name.

    `window` is the index of the window's name among the game's window names, or -1 if the seat owes no action.
    `refused` counts its refused choices in this match.
    """
    window = episode.window
    name = window.name if window is not None and seat in episode.drafts else ""
    number = list(episode.game.actions).index(name) if name else NO_WINDOW
    info: dict[str, Any] = {"window": number, "refused": episode.refused[seat]}
    return info | {"window_name": name} if text else info


def metadata(episode: Episode, *, parallel: bool) -> dict[str, Any]:
    """Return the metadata that PettingZoo requires."""
    return {
        "name": f"{episode.game.name.replace('-', '_')}_v0",
        "render_modes": list(MODES),
        "render_fps": FRAMES_A_SECOND,
        "is_parallelizable": parallel,
    }
