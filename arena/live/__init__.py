"""Matches with people: watched, hosted, or played from a terminal."""

from arena.live.chat_seat import ChatHere
from arena.live.console import person_here
from arena.live.debugging import at_terminal, in_place, presses, under_pdb
from arena.live.drawing import board_text, with_names
from arena.live.frame import joined, laid_out, part_of
from arena.live.hosted_match import play_hosted
from arena.live.single_match import play_match
from arena.live.time_left import clock_text
from arena.live.watch import Eyes, Watcher, read_eyes

__all__ = [
    "ChatHere",
    "Eyes",
    "Watcher",
    "at_terminal",
    "board_text",
    "clock_text",
    "in_place",
    "joined",
    "laid_out",
    "part_of",
    "person_here",
    "play_hosted",
    "play_match",
    "presses",
    "read_eyes",
    "under_pdb",
    "with_names",
]
