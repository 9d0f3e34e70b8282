"""Matches with people: watched, hosted, or played from a terminal."""

from arena.live.chat_seat import LanguageModelSeat
from arena.live.console import clock_text, console_seat
from arena.live.debugging import at_terminal, in_place, presses, under_pdb
from arena.live.drawing import board_text, joined, laid_out, part_of, with_names
from arena.live.hosted_match import play_hosted
from arena.live.single_match import play_match
from arena.live.watch import Eyes, Watcher, read_eyes

__all__ = [
    "Eyes",
    "LanguageModelSeat",
    "Watcher",
    "at_terminal",
    "board_text",
    "clock_text",
    "console_seat",
    "in_place",
    "joined",
    "laid_out",
    "part_of",
    "play_hosted",
    "play_match",
    "presses",
    "read_eyes",
    "under_pdb",
    "with_names",
]
