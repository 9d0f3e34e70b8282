"""What the environments of PettingZoo and Gymnasium tell of themselves alike: agents, spaces and infos."""

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


def infos_of(episode: Episode) -> list[dict[str, Any]]:
    """By seat: the name of the window in which it owes an action, or None."""
    window = episode.window
    name = None if window is None else window.name
    return [{"window": name if seat in episode.drafts else None} for seat in range(episode.seats)]


def metadata(episode: Episode, *, parallel: bool) -> dict[str, Any]:
    """As PettingZoo asks for it."""
    return {
        "name": f"{episode.game.name.replace('-', '_')}_v0",
        "render_modes": list(MODES),
        "render_fps": FRAMES_A_SECOND,
        "is_parallelizable": parallel,
    }
