"""Tournament formats: they choose the entrants, the deal and the seats of each match. Pure."""

from arena.schedule.blocks import (
    DRAWN_BITS,
    MOST_BLOCKS,
    SEED_BITS,
    SWAPPED,
    Block,
    ScheduledMatch,
    match_name,
    match_of,
    sortable_match_name,
)
from arena.schedule.contract import (
    Contest,
    Fixed,
    Schedule,
    Tie,
    blocks_so_far,
    bot_column,
    format_table,
    next_round,
    place_column,
    places_of,
    rounds_of,
)
from arena.schedule.fields import (
    FILE_FIELDS,
    KEY_CONTENT,
    WITHDRAWN_MARK,
    BadChangeError,
    Deadline,
    Entered,
    EntriesClosed,
    Extended,
    FieldChange,
    ScheduleSpec,
    What,
    Withdrawn,
    competing,
    entered,
    fields_of,
    kind_of,
    labels_now,
    remote_bots,
    withdrawn,
)
from arena.schedule.formats import TWO, FormatName, complaint, format_of, refusal
from arena.schedule.knockout import round_title
from arena.schedule.ladder import EndlessLadder, ladder_json
from arena.schedule.queue import MatchQueue, NotYetScheduled, Ticket
from arena.schedule.round_robin import round_robin
from arena.schedule.tables import Design, design_of, shifts_of
from arena.schedule.waves import EndlessLadderState, LadderState, StrangeResultError
