"""The decisions of the referee in one match: windows, clocks, verdicts. Pure."""

from referee.match.match import Match, forfeited_at_once, with_forfeits
from referee.match.records import (
    BLOCKING_US,
    FORMAT,
    START,
    AnyRecord,
    BotIdentity,
    Cpu,
    Ended,
    Footer,
    Frame,
    Handed,
    Header,
    In,
    Input,
    Judged,
    Left,
    Out,
    PauseOrder,
    Record,
    SeatEnded,
    SeatHeader,
    SeatTime,
    Started,
    Used,
    Verdict,
    WindowTime,
    Woke,
    bot_seed,
    kept_of,
    remote_bot_seed,
)
from referee.match.seat import MatchIO, wrong_hello
from referee.match.seat_report import (
    TEXT,
    Complaint,
    Frequent,
    SeatReport,
    percentile,
    sentences,
    summed,
)
from referee.match.terms import (
    LONGEST_MS,
    MOST_WALL_FACTOR,
    BadClockError,
    ClockTable,
    MatchTerms,
    NotNegative,
    Policy,
    Positive,
    clock_terms,
    table_of,
)
from referee.match.verdicts import ClosedSeatWindow, HeldUp
from referee.match.window import MICROSECONDS_PER_MS
