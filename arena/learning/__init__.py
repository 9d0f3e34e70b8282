"""Environments for PettingZoo, Gymnasium and OpenSpiel, and self-play, by the rules of the referee.

`Episode`, encoders and self-play need only NumPy. The rest requires extras of the package. Importing this package
registers `arena/Mist-v0` and the other games with Gymnasium, if it is installed.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.learning.encoders import ENCODERS, Encoder
    from arena.learning.episode import EnvironmentSpec, Episode
    from arena.learning.gym import GymArena, gym_env
    from arena.learning.openspiel import openspiel_game
    from arena.learning.pettingzoo_envs import AecArena, ParallelArena, aec_env, parallel_env
    from arena.learning.self_play import Policy, PolicyError, SelfPlay, SelfPlayReport, uniform
    from arena.learning.shards import Shard, ShardError, read_shard, read_shards

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

_FROM = {
    "ENCODERS": "encoders",
    "AecArena": "pettingzoo_envs",
    "Encoder": "encoders",
    "EnvironmentSpec": "episode",
    "Episode": "episode",
    "GymArena": "gym",
    "ParallelArena": "pettingzoo_envs",
    "aec_env": "pettingzoo_envs",
    "gym_env": "gym",
    "openspiel_game": "openspiel",
    "parallel_env": "pettingzoo_envs",
    "Policy": "self_play",
    "PolicyError": "self_play",
    "SelfPlay": "self_play",
    "SelfPlayReport": "self_play",
    "uniform": "self_play",
    "Shard": "shards",
    "ShardError": "shards",
    "read_shard": "shards",
    "read_shards": "shards",
}
NAMESPACE, VERSION = "arena", 0
"""Parts of the ids in Gymnasium's registry, such as `arena/HiveMind-v0` for `hive-mind`."""
_EXTRA = {"gymnasium": "learning", "pettingzoo": "learning", "pyspiel": "openspiel", "open_spiel": "openspiel"}


def __getattr__(name: str) -> Any:
    """Import a name of the API on first use.

    If its dependency is missing, the error names the extra to install.
    """
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"arena.learning.{_FROM[name]}"), name)
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
    for game in import_module("arena.learning.encoders").ENCODERS:
        words = "".join(word.capitalize() for word in game.split("-"))
        env_id = f"{NAMESPACE}/{words}-v{VERSION}"
        if env_id not in gymnasium.registry:
            gymnasium.register(id=env_id, entry_point="arena.learning:gym_env", kwargs={"game": game})


_register()


def __dir__() -> list[str]:
    """List the API without importing it, and the submodules that have been imported."""
    return sorted({*__all__, *(name for name, value in globals().items() if isinstance(value, ModuleType))})
