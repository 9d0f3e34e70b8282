"""Gymnasium's registry: `gymnasium.make("arena/Mist-v0")` once `arena.learning` is imported."""

from gymnasium.envs.registration import register, registry

from arena.learning.encoders import ENCODERS

NAMESPACE, VERSION = "arena", 0


def env_id(game: str) -> str:
    """Return the id of a game in Gymnasium's registry: `arena/HiveMind-v0` for `hive-mind`."""
    words = "".join(word.capitalize() for word in game.split("-"))
    return f"{NAMESPACE}/{words}-v{VERSION}"


def register_games() -> None:
    """Register each game that has an encoder, once."""
    for game in ENCODERS:
        if env_id(game) not in registry:
            register(id=env_id(game), entry_point="arena.learning:gym_env", kwargs={"game": game})
