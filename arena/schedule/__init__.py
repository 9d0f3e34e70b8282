"""Who plays whom, from which deal, in which seats: the formats. Pure."""

from arena.schedule.balance import Design, design_of
from arena.schedule.blocks import MOST_BLOCKS, SEED_BITS, SWAPPED, Block, Match
from arena.schedule.columns import conduct_columns, format_table
from arena.schedule.contract import FILE_FIELDS, Cells, Contest, ScheduleSpec, Tie
from arena.schedule.formats import FORMATS, TWO, FormatName, complaint, format_of
from arena.schedule.queue import MatchQueue, Ticket
from arena.schedule.round_robin import round_robin
from arena.schedule.rounds import Blocks, Fixed, Schedule, blocks_so_far, next_round, rounds_of
from arena.schedule.seating import shifts_of

__all__ = [
    "FILE_FIELDS",
    "FORMATS",
    "MOST_BLOCKS",
    "SEED_BITS",
    "SWAPPED",
    "TWO",
    "Block",
    "Blocks",
    "Cells",
    "Contest",
    "Design",
    "Fixed",
    "FormatName",
    "Match",
    "MatchQueue",
    "Schedule",
    "ScheduleSpec",
    "Ticket",
    "Tie",
    "blocks_so_far",
    "complaint",
    "conduct_columns",
    "design_of",
    "format_of",
    "format_table",
    "next_round",
    "round_robin",
    "rounds_of",
    "shifts_of",
]
