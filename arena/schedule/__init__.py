"""Tournament formats: they choose the entrants, the deal and the seats of each match. Pure."""

from arena.schedule.balance import Design, design_of
from arena.schedule.blocks import (
    DRAWN_BITS,
    MOST_BLOCKS,
    SEED_BITS,
    SWAPPED,
    Block,
    Match,
    match_name,
    match_of,
    sortable_match_name,
)
from arena.schedule.changes import (
    KEY_CONTENT,
    Closed,
    Deadline,
    Entered,
    Event,
    Extended,
    What,
    Withdrawn,
    kind_of,
)
from arena.schedule.columns import bot_column, format_table, place_column, places_of
from arena.schedule.contract import Contest, Tie
from arena.schedule.endless import EndlessLadder, ladder_json
from arena.schedule.fields import (
    FILE_FIELDS,
    WITHDRAWN_MARK,
    BadChangeError,
    ScheduleSpec,
    competing,
    entered,
    fields_of,
    labels_now,
    withdrawn,
)
from arena.schedule.formats import FORMATS, TWO, FormatName, complaint, format_of, refusal
from arena.schedule.knockout import round_title
from arena.schedule.ladder_state import LadderState
from arena.schedule.queue import MatchQueue, NotYetScheduled, Ticket
from arena.schedule.round_robin import round_robin
from arena.schedule.rounds import Blocks, Fixed, Schedule, blocks_so_far, next_round, rounds_of
from arena.schedule.seating import shifts_of
from arena.schedule.waves import EndlessLadderState, StrangeResultError

__all__ = [
    "DRAWN_BITS",
    "FILE_FIELDS",
    "FORMATS",
    "KEY_CONTENT",
    "MOST_BLOCKS",
    "SEED_BITS",
    "SWAPPED",
    "TWO",
    "WITHDRAWN_MARK",
    "BadChangeError",
    "Block",
    "Blocks",
    "Closed",
    "Contest",
    "Deadline",
    "Design",
    "EndlessLadder",
    "EndlessLadderState",
    "Entered",
    "Event",
    "Extended",
    "Fixed",
    "FormatName",
    "LadderState",
    "Match",
    "MatchQueue",
    "NotYetScheduled",
    "Schedule",
    "ScheduleSpec",
    "StrangeResultError",
    "Ticket",
    "Tie",
    "What",
    "Withdrawn",
    "blocks_so_far",
    "bot_column",
    "competing",
    "complaint",
    "design_of",
    "entered",
    "fields_of",
    "format_of",
    "format_table",
    "kind_of",
    "labels_now",
    "ladder_json",
    "match_name",
    "match_of",
    "next_round",
    "place_column",
    "places_of",
    "refusal",
    "round_robin",
    "round_title",
    "rounds_of",
    "shifts_of",
    "sortable_match_name",
    "withdrawn",
]
