"""Games as command lines request them: variants, options, and files with a clock or a setup."""

from arena.game_options.clock_file import clock_json, clock_text, read_clock
from arena.game_options.games import game_named, rules_asked, variant_named
from arena.game_options.setup_file import drawn_setup, read_setup

__all__ = [
    "clock_json",
    "clock_text",
    "drawn_setup",
    "game_named",
    "read_clock",
    "read_setup",
    "rules_asked",
    "variant_named",
]
