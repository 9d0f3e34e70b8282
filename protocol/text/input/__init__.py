"""The notation of actions: one file per game, listed in `protocol.text.registry`."""

from protocol.text.input import fight_for_a_name, hive_mind, mist, pointing, runes_to_ruins

__all__ = ["fight_for_a_name", "hive_mind", "mist", "pointing", "runes_to_ruins"]
