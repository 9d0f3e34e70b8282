"""Messages for a new bot's test: what one seat of a match of random bots hears."""

import importlib
from itertools import takewhile

from arena.simulation import BotGiven, messages_to_seats
from protocol.codec import decode_server_message
from protocol.messages import Opened
from referee.games import GAMES

SEED = 7
MOST_WINDOWS = 40
"""That a record holds: enough to test with, and not much to carry."""


def recorded(game: str, variant: str) -> bytes:
    """What one seat hears in a match of random samples, a message a line: the seat with most kinds of windows.

    A game without such a sample is played by defaults.
    """
    rules = GAMES[game]
    seats = rules.seats(rules.read_options(variant, None))
    records = map(_record, messages_to_seats(game, [_random_player(game)] * seats, variant=variant, seed=SEED))
    best, _ = max(records, key=lambda each: len(each[1]))
    return b"".join(line + b"\n" for line in best)


def _record(frames: list[bytes]) -> tuple[list[bytes], set[str]]:
    """The first messages to a seat, and the names of the windows in them."""
    opened = [message.window for message in map(decode_server_message, frames) if isinstance(message, Opened)]
    short = takewhile(lambda frame: _number(frame) < MOST_WINDOWS, frames)
    return list(short), set(opened[:MOST_WINDOWS])


def _number(frame: bytes) -> int:
    """The number of a window's message; 0 for others."""
    message = decode_server_message(frame)
    return message.id if isinstance(message, Opened) else 0


def _random_player(game: str) -> BotGiven:
    try:
        decide: BotGiven = importlib.import_module(f"bots.{game.replace('-', '_')}_random.bot").decide
    except ModuleNotFoundError:
        return lambda window: window.default
    return decide
