"""Episodes played at random."""

from random import Random
from typing import Any, TypeVar

import pytest

from arena.learning import Episode
from referee.rules import drawn

DealtT = TypeVar("DealtT")


def dealt(environment: DealtT, seed: int = 1) -> DealtT:
    """Return an environment or an episode with the match of this seed."""
    environment.reset(seed=seed)  # type: ignore[attr-defined]
    return environment


def choose_randomly(episode: Episode, seed: int, windows: int | None = None) -> None:
    """Plays so many windows, or to the end."""
    rng = Random(seed)
    while not episode.over and windows != 0:
        for seat in episode.choosing:
            while episode.owed(seat):
                episode.choose(seat, drawn(episode.mask_bits(seat), rng))
        episode.close()
        windows = windows and windows - 1


def needs(module: str) -> Any:
    """Import a library; skip the test where it is not installed, and say who runs it."""
    return pytest.importorskip(module, reason=f"{module} is not installed: scripts/learning_libraries runs this")
