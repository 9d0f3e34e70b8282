"""Encoders of observations, by game."""

from arena.learning.encoders.encoder import Encoder
from arena.learning.encoders.fight_for_a_name import FightEncoder
from arena.learning.encoders.hive_mind import HiveMindEncoder
from arena.learning.encoders.mist import MistEncoder
from arena.learning.encoders.pointing import PointingEncoder
from arena.learning.encoders.runes_to_ruins import RunesEncoder

ENCODERS: dict[str, Encoder] = {
    "mist": MistEncoder(),
    "hive-mind": HiveMindEncoder(),
    "pointing": PointingEncoder(),
    "fight-for-a-name": FightEncoder(),
    "runes-to-ruins": RunesEncoder(),
}

__all__ = ["ENCODERS", "Encoder"]
