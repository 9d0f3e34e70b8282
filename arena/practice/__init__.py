"""Practice matches of people in the browser: each has a referee's process of its own, which the web server starts.

The server passes on what a person says and is told; it never decides a match.
"""

from arena.practice.order import (
    PACES,
    Order,
    OrderError,
    Terms,
    bots_of,
    game_of,
    order_of_form,
    seats_of,
    terms_of,
)
from arena.practice.protocol import (
    MOST_LOG,
    REPLAY,
    TRANSCRIPT,
    Answer,
    Request,
    Said,
    SeatsFile,
    answer_of,
    ask,
    connect,
    hash_of,
    log_file,
    read_line,
    read_seats,
)
from arena.practice.remote_seat import RemoteSeat, write_pipe_bot
from arena.practice.seat_log import OVER, gone, messages_after
from arena.practice.tables import NoRoomError, OwnMatch, Tables
