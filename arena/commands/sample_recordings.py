"""Recorded messages for a new bot's test: those to one seat in a match of random bots."""

import importlib
from itertools import takewhile

from arena.simulation import BotGiven, messages_to_seats
from protocol.codec import decode_server_message
from protocol.messages import Opened
from referee.games import GAMES

SEED = 7
MOST_WINDOWS = 40
"""Maximum windows in a record: enough for a test, and still a small file."""


def recorded(game: str, variant: str) -> bytes:
    """Return the messages to one seat in a match of random bots, one per line.

    The seat is the one with most kinds of windows.

    Without a random sample bot, all seats take the defaults.
    """
    rules = GAMES[game]
    seats = rules.seats(rules.read_options(variant, None))
    records = map(_record, messages_to_seats(game, [_random_player(game)] * seats, variant=variant, seed=SEED))
    best, _ = max(records, key=lambda each: len(each[1]))
    return b"".join(line + b"\n" for line in best)


def _record(frames: list[bytes]) -> tuple[list[bytes], set[str]]:
    """Return the first messages to a seat, and the names of the windows in them."""
    opened = [message.window for message in map(decode_server_message, frames) if isinstance(message, Opened)]
    short = takewhile(lambda frame: _number(frame) < MOST_WINDOWS, frames)
    return list(short), set(opened[:MOST_WINDOWS])


def _number(frame: bytes) -> int:
    """Return the number of the window that a message opens; 0 for other messages."""
    message = decode_server_message(frame)
    return message.id if isinstance(message, Opened) else 0


def _random_player(game: str) -> BotGiven:
    try:
        decide: BotGiven = importlib.import_module(f"bots.{game.replace('-', '_')}_random.bot").decide
    except ModuleNotFoundError:
        return lambda window: window.default
    return decide
