"""A table with all its observers: each seat and the spectator, what each has been told, and what it is shown.

What an observer was told is kept as a hash that grows with everything sent to it: the terms of the match, events,
windows opened to it, what was taken of it, the outcome. Two histories with equal hashes look the same from there.
What a spectator is shown includes the match's live feed.
"""

from hashlib import blake2b
from random import Random
from typing import Any
from zlib import crc32

from protocol.codec import encode
from referee.host import Feed, FeedTerms
from referee.match import Ended, Policy, SeatTime, WindowTime, clock_terms
from referee.proofs.conformance.guessing import Guesser
from referee.rules import SPECTATOR, Addressed, Illegal, Table, Taken, Window, reveal

GUESSES = 20
"""How many guesses an action is given before the seat is left with its default."""
IDLE = 1 / 10
"""How often a seat submits nothing."""
WILD = 1 / 5
"""How often a guess is made from the form alone, though the game itself can say what is plausible."""
SLOWEST_MS = 60_000

Observer = int | None
Chosen = dict[int, Taken]
"""By seat: what the open window is to take of it."""


class Sitting:
    """One match under way, seen from every side."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.observers: tuple[Observer, ...] = (*range(table.seats), SPECTATOR)
        terms = encode([table.deal.variant, table.options])
        self.told: dict[Observer, bytes] = dict.fromkeys(self.observers, terms)
        """Observer to the hash of all it was told."""
        self.last: dict[Observer, tuple[bytes, ...]] = {}
        """Observer to the events it was told by the last step."""
        self.fed: list[bytes] = []
        """What the feed published since the last step began, with its topics."""
        clock = clock_terms(table.game, table.deal.variant, Policy())
        spectated = FeedTerms(match="", players=(), clock=clock, started="")
        self.feed = Feed(table, spectated, self.publish, lambda: 0)
        self.feed.begin()
        self._hear(table.start)
        self._open()

    def fork(self) -> "Sitting":
        """A sitting of its own that stands where this one does."""
        fork = Sitting.__new__(Sitting)
        fork.table = self.table.fork()
        fork.observers = self.observers
        fork.told = self.told.copy()
        fork.last = self.last
        fork.fed = self.fed.copy()
        fork.feed = self.feed.fork(fork.table, fork.publish)
        return fork

    def owes(self, observer: Observer) -> bool:
        """Whether the open window is open to this observer."""
        return any(owed.seat == observer for owed in self.table.owed)

    def shown(self, observer: Observer) -> bytes:
        """What the observer would be sent now: the message that opens its window, or else its view.

        A spectator's view comes with what the feed told in the last step, and with what it tells who comes late.
        """
        game, state, window = self.table.game, self.table.state, self.table.window
        for owed in self.table.owed:
            if window and owed.seat == observer:
                main_ms = game.variant(self.table.deal.variant).time.main_ms[window.name]
                return encode(reveal.opened(game, state, window, owed, number=0, main_ms=main_ms, reserve_ms=0))
        view = encode(reveal.shown(game, state, observer))
        return view if observer is not SPECTATOR else b"\n".join((view, *self.fed, self._snapshot()))

    def disguised(self, state: Any) -> "Sitting":
        """This match in another state."""
        other = self.fork()
        other.table.state, other.table.window = state, self.table.game.window(state)
        return other

    def response(self, seat: int, action: bytes) -> bytes:
        """What a seat hears when it submits this: the canonical action, or the reason it is turned down."""
        try:
            return b"accepted " + encode(self.table.read(seat, action))
        except Illegal as illegal:
            return b"rejected " + illegal.reason.encode()

    def play(self, chosen: Chosen) -> None:
        """Takes this from the open window: answers at once whom it answers, in the order given, and closes it."""
        window = open_window(self.table)
        self.last = dict.fromkeys(self.observers, ())
        self.fed.clear()
        for seat in answered(chosen) if window.asap else ():
            self.answer(seat, chosen[seat])
        for seat, taken in chosen.items():
            elapsed = taken.elapsed_ms if window.timed else 0
            self._note(seat, b"taken", encode([window.name, taken.action, taken.by_default, elapsed]))
        self.feed.record(_window_time(self.table.number, window, chosen))
        self._hear(self.table.close(tuple(chosen.get(seat) for seat in range(self.table.seats))))
        # A spectator sees that the match goes on; a seat is told of its own windows only.
        self._note(SPECTATOR, b"window", b"")
        self._open()

    def answer(self, seat: int, taken: Taken) -> tuple[Addressed, ...]:
        """Answers one seat of a window that answers at once; says what was told to whom."""
        if taken.action is None:
            return ()
        told = self.table.answer(seat, taken.action)
        self._hear(told)
        return told

    def _open(self) -> None:
        for owed in self.table.owed:
            self._note(owed.seat, b"opened", encode([open_window(self.table).name, owed.shown]))
        if self.table.outcome:
            self.feed.record(Ended(at=0, outcome=self.table.outcome, conduct=(), refused=()))
            self.feed.over("head")
            for observer in self.observers:
                self._note(observer, b"over", encode(self.table.outcome))

    def _hear(self, told: tuple[Addressed, ...]) -> None:
        for each in told:
            event = encode(each.event)
            for observer in self.observers if each.seat is None else (each.seat,):
                self._note(observer, b"event", event)
                self.last[observer] = (*self.last.get(observer, ()), event)
        self.feed.told(told)

    def publish(self, topic: str, message: bytes) -> None:
        """See `feed.Publish`."""
        self.fed.append(topic.encode() + message)

    def _snapshot(self) -> bytes:
        before = len(self.fed)
        self.feed.snapshot(0)
        snapshot = b"\n".join(self.fed[before:])
        del self.fed[before:]
        return snapshot

    def _note(self, observer: Observer, what: bytes, text: bytes) -> None:
        self.told[observer] = blake2b(b"%b %b %b" % (self.told[observer], what, text), digest_size=16).digest()


def _window_time(number: int, window: Window, chosen: Chosen) -> WindowTime:
    """The record of a window. Where it had several seats, their times differ with what they submitted."""
    sealed = len(chosen) > 1
    return WindowTime(
        at=0,
        number=number,
        window=window.name,
        seats=tuple(
            SeatTime(
                seat=seat,
                opened=0,
                deadline=0,
                arrived=None if taken.by_default else 0,
                taken=taken.action,
                by_default=taken.by_default,
                charged_ms=(spent := crc32(encode(taken.action)) if sealed else 0),
                reserve_ms=spent,
            )
            for seat, taken in chosen.items()
        ),
        lateness=0,
    )


def answered(chosen: Chosen) -> list[int]:
    """The seats that an `asap` window answers: those that submitted something."""
    return [seat for seat, taken in chosen.items() if not taken.by_default and taken.action is not None]


def open_window(table: Table) -> Window:
    """The open window of a match that is not over."""
    if table.window is None:
        raise RuntimeError("the match is over")
    return table.window


class Chooser:
    """Chooses for every seat at random: legal actions as far as they can be guessed, or nothing."""

    def __init__(self, luck: Random) -> None:
        self._luck = luck
        self._guesser = Guesser(luck)
        self._learnt: set[str] = set()
        self.legal: set[str] = set()
        """Windows in which a legal action was guessed."""

    def guess(self, table: Table, seat: int) -> bytes:
        """An action of that seat for the open window, legal or not."""
        window = open_window(table)
        plausible = table.game.plausible(table.state, seat, self._luck)
        if plausible is not None and self._luck.random() >= WILD:
            return encode(plausible)
        if window.name not in self._learnt:
            self._learnt.add(window.name)
            self._guesser.learn(encode(table.game.host_view(table.state)))
        return encode(self._guesser.guess(table.game.actions[window.name]))

    def choose(self, table: Table, seat: int) -> Taken:
        """What one seat of the open window submits."""
        window = open_window(table)
        elapsed = self._luck.randrange(SLOWEST_MS) if window.timed else 0
        if self._luck.random() < IDLE:
            return Taken(table.default(seat), by_default=True, elapsed_ms=elapsed)
        for _ in range(GUESSES):
            try:
                action = table.read(seat, self.guess(table, seat))
            except Illegal:
                continue
            self.legal.add(window.name)
            return Taken(action, elapsed_ms=elapsed)
        return Taken(table.default(seat), by_default=True, elapsed_ms=elapsed)

    def choose_all(self, table: Table) -> Chosen:
        """What every seat of the open window submits."""
        return {owed.seat: self.choose(table, owed.seat) for owed in table.owed}
