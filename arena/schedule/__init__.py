"""Who plays whom, from which deal, in which seats: the formats. Pure."""

from arena.schedule.balance import Design, design_of
from arena.schedule.blocks import MOST_BLOCKS, SEED_BITS, SWAPPED, Block, Match, round_robin
from arena.schedule.contest import HOUSE, Contest, Row, conduct, format_rows, in_order, order_text
from arena.schedule.formats import TWO, Form, Format, complaint, matches_in_all, schedule_of
from arena.schedule.knockout import Knockout, Tie, bracket_of
from arena.schedule.ladder import Ladder, final_ratings
from arena.schedule.queue import Agenda, Ticket
from arena.schedule.rounds import Blocks, Fixed, Schedule, blocks_so_far, rounds_of
from arena.schedule.seating import shifts_of
from arena.schedule.swiss import Swiss, swiss_lines

__all__ = [
    "HOUSE",
    "MOST_BLOCKS",
    "SEED_BITS",
    "SWAPPED",
    "TWO",
    "Agenda",
    "Block",
    "Blocks",
    "Contest",
    "Design",
    "Fixed",
    "Form",
    "Format",
    "Knockout",
    "Ladder",
    "Match",
    "Row",
    "Schedule",
    "Swiss",
    "Ticket",
    "Tie",
    "blocks_so_far",
    "bracket_of",
    "complaint",
    "conduct",
    "design_of",
    "final_ratings",
    "format_rows",
    "in_order",
    "matches_in_all",
    "order_text",
    "round_robin",
    "rounds_of",
    "schedule_of",
    "shifts_of",
    "swiss_lines",
]
