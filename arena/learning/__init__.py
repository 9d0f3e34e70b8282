"""Environments for PettingZoo, Gymnasium and OpenSpiel, and self-play, by the rules of the referee.

`Episode`, encoders and self-play need only NumPy. The rest requires extras of the package. Importing this package
registers `arena/Mist-v0` and the other games with Gymnasium, if it is installed.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from referee.games import ENCODERS

if TYPE_CHECKING:
    from arena.learning.episode import EnvironmentSpec, Episode
    from arena.learning.gym import GymArena, gym_env
    from arena.learning.openspiel import openspiel_game
    from arena.learning.pettingzoo_envs import AecArena, ParallelArena, aec_env, parallel_env
    from arena.learning.self_play import (
        Policy,
        PolicyError,
        SelfPlay,
        SelfPlayReport,
        Shard,
        ShardError,
        read_shard,
        read_shards,
        uniform,
    )
    from referee.encoding import Encoder

__all__ = [
    "ENCODERS",
    "AecArena",
    "Encoder",
    "EnvironmentSpec",
    "Episode",
    "GymArena",
    "ParallelArena",
    "Policy",
    "PolicyError",
    "SelfPlay",
    "SelfPlayReport",
    "Shard",
    "ShardError",
    "aec_env",
    "gym_env",
    "openspiel_game",
    "parallel_env",
    "read_shard",
    "read_shards",
    "uniform",
]

_NAMES = {
    "arena.learning.episode": ("EnvironmentSpec", "Episode"),
    "arena.learning.gym": ("GymArena", "gym_env"),
    "arena.learning.openspiel": ("openspiel_game",),
    "arena.learning.pettingzoo_envs": ("AecArena", "ParallelArena", "aec_env", "parallel_env"),
    "arena.learning.self_play": (
        *("Policy", "PolicyError", "SelfPlay", "SelfPlayReport", "uniform"),
        *("Shard", "ShardError", "read_shard", "read_shards"),
    ),
    "referee.encoding": ("Encoder",),
}
"""The names that are imported on first use, by module."""
NAMESPACE, VERSION = "arena", 0
"""Parts of the ids in Gymnasium's registry, such as `arena/HiveMind-v0` for `hive-mind`."""
_EXTRA = {"gymnasium": "learning", "pettingzoo": "learning", "pyspiel": "openspiel", "open_spiel": "openspiel"}


def __getattr__(name: str) -> Any:
    """Import a name of the API on first use.

    If its dependency is missing, the error names the extra to install.
    """
    module = next((module for module, names in _NAMES.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        extra = _EXTRA.get(error.name or "")
        if extra is None:
            raise
        raise ModuleNotFoundError(
            f"{name} needs {error.name}, which comes with an extra: pip install 'mist-arena[{extra}]'",
            name=error.name,
        ) from error


def _register() -> None:
    """Register each game that has an encoder with Gymnasium, once, if it is installed."""
    try:
        gymnasium = import_module("gymnasium.envs.registration")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "gymnasium":
            raise
        return
    for game in ENCODERS:
        words = "".join(word.capitalize() for word in game.split("-"))
        env_id = f"{NAMESPACE}/{words}-v{VERSION}"
        if env_id not in gymnasium.registry:
            gymnasium.register(id=env_id, entry_point="arena.learning:gym_env", kwargs={"game": game})


_register()


def __dir__() -> list[str]:
    """List the API without importing it, and the submodules that have been imported."""
    return sorted({*__all__, *(name for name, value in globals().items() if isinstance(value, ModuleType))})
