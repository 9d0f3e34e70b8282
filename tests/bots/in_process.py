"""Plays bots against each other in one process: the kit's sessions on one side, the rules' table on the other.

No wire, no clock and no sandbox, so that strength and legality are tested without any of them. Every message
passes through the codec, so that bots get exactly what they would get over the wire.
"""

import importlib
from collections.abc import Callable
from random import Random
from time import perf_counter
from typing import Any

from msgspec import Raw, Struct

from bots.kit import Bot, FunctionBot, Session
from protocol.codec import decode_server_message, encode
from protocol.messages import (
    PROTOCOL,
    Accepted,
    ClientMessage,
    ClockTerms,
    Closed,
    EventMessage,
    Opened,
    Over,
    Submit,
    Welcome,
)
from protocol.messages import ServerMessage as Message
from protocol.words import Event, Outcome
from referee.games.registry import GAMES
from referee.rules import reveal
from referee.rules.contract import Addressed, Owed, Taken
from referee.rules.table import Deal, Table

Maker = Callable[[], Bot[Any, Any]]
MAIN_MS = 60_000
"""Main time of every window, if a test asks for no other."""


def _made(folder: str, name: str) -> Maker:
    """How to make a fresh bot of a folder: bot.py holds a class, or a function from window to action."""

    def make() -> Bot[Any, Any]:
        made = getattr(importlib.import_module(f"bots.{folder}.bot"), name)
        return made() if isinstance(made, type) else FunctionBot(made)

    return make


BOTS: dict[str, dict[str, Maker]] = {
    "fight-for-a-name": {
        "random": _made("fight_for_a_name_random", "decide"),
        "herald": _made("fight_for_a_name_herald", "decide"),
    },
    "mist": {
        "random": _made("mist_random", "decide"),
        "cautious": _made("mist_cautious", "Cautious"),
        "hunter": _made("mist_hunter", "Hunter"),
        "tracker": _made("mist_tracker", "Tracker"),
    },
    "hive-mind": {
        "random": _made("hive_mind_random", "decide"),
        "counter": _made("hive_mind_counter", "decide"),
    },
    "pointing": {
        "random": _made("pointing_random", "decide"),
        "planner": _made("pointing_planner", "decide"),
    },
    "runes-to-ruins": {
        "random": _made("runes_to_ruins_random", "decide"),
        "seeker": _made("runes_to_ruins_seeker", "decide"),
    },
}
"""Game to its sample bots, the weakest first."""
MIST_BOTS = BOTS["mist"]
MIST_VARIANTS = tuple(variant.name for variant in GAMES["mist"].variants)


class Played(Struct, frozen=True):
    """One match: how it ended, how many windows each seat had, and its slowest answer."""

    outcome: Outcome
    windows: tuple[int, ...]
    slowest_ms: tuple[float, ...]


class _Seat:
    """A bot at its seat."""

    def __init__(self, bot: Bot[Any, Any], seat: int, table: Table) -> None:
        self.seat = seat
        self.windows = self.events = 0
        self.slowest_ms = 0.0
        self._said: list[ClientMessage] = []
        self._session = Session(bot, self._said.append)
        self.tell(
            Welcome(
                protocol=PROTOCOL,
                match="in-process",
                game=table.game.name,
                variant=table.deal.variant,
                seat=seat,
                seats=table.seats,
                options=table.options,
                clock=ClockTerms(main_ms={}),
                seed=Random(f"{table.deal.seed}/bot/{seat}").getrandbits(32),
            )
        )

    def tell(self, message: Message) -> None:
        self._session.hear(decode_server_message(encode(message)))

    def tell_event(self, event: Event) -> None:
        self.tell(EventMessage(self.events, event))
        self.events += 1

    def ask(self, opened: Opened) -> Raw:
        """What the bot submits last to a window."""
        started = perf_counter()
        self.tell(opened)
        self.slowest_ms = max(self.slowest_ms, (perf_counter() - started) * 1000)
        self.windows += 1
        submit = self._said.pop()
        assert isinstance(submit, Submit)
        assert (opened.id, True) == (submit.window, submit.final)
        return submit.action


def play(
    makers: tuple[Maker, ...], *, variant: str, seed: int, game: str = "mist", main_ms: int = MAIN_MS
) -> Played:
    """Plays one match to its end, bots in the order of their seats. They are told `main_ms`; no clock runs.

    Raises:
        Illegal: a bot broke a rule.
    """
    table = Table(GAMES[game], Deal(variant, seed))
    seats = [_Seat(make(), seat, table) for seat, make in enumerate(makers)]
    _tell(seats, table.start)
    while table.window is not None:
        taken: list[Taken | None] = [None] * table.seats
        answers_at_once = table.window.asap
        for owed in table.window.owed:
            action = _ask(seats[owed.seat], table, owed, main_ms)
            taken[owed.seat] = Taken(action)
            if answers_at_once and action is not None:
                _tell(seats, table.answer(owed.seat, action))
        _tell(seats, table.close(tuple(taken)))
    assert table.outcome is not None
    for seat in seats:
        seat.tell(Over(table.outcome))
    return Played(table.outcome, tuple(seat.windows for seat in seats), tuple(seat.slowest_ms for seat in seats))


def _ask(seat: _Seat, table: Table, owed: Owed, main_ms: int) -> Any:
    window = table.window
    assert window is not None
    number = seat.windows
    opened = reveal.opened(table.game, table.state, window, owed, number=number, main_ms=main_ms, reserve_ms=0)
    raw = seat.ask(opened)
    if bytes(raw) == b"null":
        return table.default(owed.seat)
    action = table.read(owed.seat, raw)
    seat.tell(Accepted(number, action))
    seat.tell(Closed(number, action, by_default=False, charged_ms=0, reserve_ms=0))
    return action


def _tell(seats: list[_Seat], events: tuple[Addressed, ...]) -> None:
    for told in events:
        for seat in reveal.audience(told, len(seats)):
            seats[seat].tell_event(told.event)
