"""Messages for a new bot's test: what one seat of a match of random bots hears."""

import importlib
from collections.abc import Callable
from random import Random
from typing import Any

from bots.kit import FunctionBot, Session
from protocol.codec import decode_server_message, encode
from protocol.messages import (
    PROTOCOL,
    ClientMessage,
    ClockTerms,
    EventMessage,
    Opened,
    ServerMessage,
    Submit,
    Welcome,
)
from referee.games import GAMES
from referee.rules import Addressed, Deal, Owed, Table, Taken, audience, opened

SEED = 7
MAIN_MS = 60_000
MOST_WINDOWS = 40
"""That a record holds: enough to test with, and not much to carry."""

Decide = Callable[[Any], Any]


class _Seat:
    """One seat, and all that it has heard."""

    def __init__(self, decide: Decide, table: Table, seat: int) -> None:
        self.seat = seat
        self.record: list[bytes] = []
        self.windows: list[str] = []
        self._said: list[ClientMessage] = []
        self._session = Session(FunctionBot(decide), self._said.append)
        self._events = 0
        self._hear(
            Welcome(
                protocol=PROTOCOL,
                match="recorded",
                game=table.game.name,
                variant=table.deal.variant,
                seat=seat,
                seats=table.seats,
                options=table.options,
                clock=ClockTerms(main_ms={}),
                seed=Random(f"{SEED}/{seat}").getrandbits(32),
            )
        )

    def told(self, event: Any) -> None:
        self._hear(EventMessage(self._events, event))
        self._events += 1

    def asked(self, table: Table, owed: Owed) -> Taken | None:
        """What it submits to the open window."""
        window = table.window
        assert window is not None  # noqa: S101 - it is owed something
        number = len(self.windows)
        self.windows.append(window.name)
        self._hear(opened(table.game, table.state, window, owed, number=number, main_ms=MAIN_MS, reserve_ms=0))
        submit = self._said[-1]
        assert isinstance(submit, Submit)  # noqa: S101 - the kit's last word to a window
        action = (
            table.default(self.seat) if bytes(submit.action) == b"null" else table.read(self.seat, submit.action)
        )
        return Taken(action) if action is not None else None

    def _hear(self, message: ServerMessage | Opened) -> None:
        if len(self.windows) <= MOST_WINDOWS:
            self.record.append(encode(message))
        self._session.hear(decode_server_message(encode(message)))


def recorded(game: str, variant: str) -> bytes:
    """What one seat hears in a match of random samples, a message a line: the seat with most kinds of windows.

    A game without such a sample is played by defaults.
    """
    table = Table(GAMES[game], Deal(variant, SEED))
    decide = _random_player(game)
    seats = [_Seat(decide, table, seat) for seat in range(table.seats)]
    _tell(seats, table.start)
    while table.window is not None and any(len(seat.windows) <= MOST_WINDOWS for seat in seats):
        taken: list[Taken | None] = [None] * table.seats
        at_once = table.window.asap
        for owed in table.window.owed:
            taken[owed.seat] = answer = seats[owed.seat].asked(table, owed)
            if at_once and answer is not None and answer.action is not None:
                _tell(seats, table.answer(owed.seat, answer.action))
        _tell(seats, table.close(tuple(taken)))
    best = max(seats, key=lambda seat: len(set(seat.windows)))
    return b"".join(line + b"\n" for line in best.record)


def _random_player(game: str) -> Decide:
    try:
        decide: Decide = importlib.import_module(f"bots.{game.replace('-', '_')}_random.bot").decide
    except ModuleNotFoundError:
        return lambda window: window.default
    return decide


def _tell(seats: list[_Seat], events: tuple[Addressed, ...]) -> None:
    for each in events:
        for seat in audience(each, len(seats)):
            seats[seat].told(each.event)
