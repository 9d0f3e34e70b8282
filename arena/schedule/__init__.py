"""Who plays whom, from which deal, in which seats: the formats. Pure."""

from arena.schedule.balance import Design, design_of
from arena.schedule.blocks import MOST_BLOCKS, SEED_BITS, SWAPPED, Block, Match
from arena.schedule.contract import Cells, Contest, ScheduleSpec, Tie
from arena.schedule.formats import TWO, FormatName, complaint, format_of
from arena.schedule.own_table import HOUSE, conduct_columns
from arena.schedule.queue import Agenda, Ticket
from arena.schedule.round_robin import round_robin
from arena.schedule.rounds import Blocks, Fixed, Schedule, blocks_so_far, rounds_of
from arena.schedule.seating import shifts_of

__all__ = [
    "HOUSE",
    "MOST_BLOCKS",
    "SEED_BITS",
    "SWAPPED",
    "TWO",
    "Agenda",
    "Block",
    "Blocks",
    "Cells",
    "Contest",
    "Design",
    "Fixed",
    "FormatName",
    "Match",
    "Schedule",
    "ScheduleSpec",
    "Ticket",
    "Tie",
    "blocks_so_far",
    "complaint",
    "conduct_columns",
    "design_of",
    "format_of",
    "round_robin",
    "rounds_of",
    "shifts_of",
]
