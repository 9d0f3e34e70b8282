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
    from arena.learning.self_play import Policy, PolicyError, SelfPlay, SelfPlayReport, uniform
    from arena.learning.shards import Shard, ShardError, read_shard, read_shards
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

_FROM = {
    "AecArena": "arena.learning.pettingzoo_envs",
    "Encoder": "referee.encoding",
    "EnvironmentSpec": "arena.learning.episode",
    "Episode": "arena.learning.episode",
    "GymArena": "arena.learning.gym",
    "ParallelArena": "arena.learning.pettingzoo_envs",
    "aec_env": "arena.learning.pettingzoo_envs",
    "gym_env": "arena.learning.gym",
    "openspiel_game": "arena.learning.openspiel",
    "parallel_env": "arena.learning.pettingzoo_envs",
    "Policy": "arena.learning.self_play",
    "PolicyError": "arena.learning.self_play",
    "SelfPlay": "arena.learning.self_play",
    "SelfPlayReport": "arena.learning.self_play",
    "uniform": "arena.learning.self_play",
    "Shard": "arena.learning.shards",
    "ShardError": "arena.learning.shards",
    "read_shard": "arena.learning.shards",
    "read_shards": "arena.learning.shards",
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
        return getattr(import_module(_FROM[name]), name)
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
