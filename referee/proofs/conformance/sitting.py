"""A table with all its observers, each seat and the spectator; random choices for its seats; and the error.

All messages to an observer are stored as one hash, extended by each: the terms of the match, events, its windows
and its own actions in them, the outcome. Two histories with equal hashes look the same to the observer. The view
of a spectator includes the match's live feed.

Random actions and options of any game are made from their types alone. Their strings come from the game's own
JSON, which names cells, colours and titles, or from the `examples` of a type:
`Annotated[str, Meta(examples=["ADE", "HKL"])]`.
"""

from copy import copy
from functools import cache
from hashlib import blake2b
from random import Random
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct, inspect

from protocol.codec import encode
from referee.host import Feed, FeedTerms
from referee.match import Ended, Policy, SeatTime, WindowTime, clock_terms
from referee.rules import SPECTATOR, Addressed, Illegal, ResolvedAction, Table, Window, reveal

LONGEST_LIST = 4
LONGEST_WORD = 40
HALF = 1 / 2
LOWER = 1 / 8
"""Share of the words that are tried in lower case."""
NUMBERS = (-1, 0, 0, 1, 1, 2, 3, 4, 5, 6, 8, 13, 21, 60)
"""Whole numbers worth trying. Those outside the bounds of a type are skipped."""
GUESSES = 20
"""Number of guesses of an action before the seat gets its default."""
IDLE = 1 / 10
"""Probability that a seat submits nothing."""
WILD = 1 / 5
"""Probability that a guess uses the type alone, although the game offers a plausible action."""
SLOWEST_MS = 60_000
AROUND = 40
"""Number of bytes that are shown before and after a difference."""
Observer = int | None
Chosen = dict[int, ResolvedAction]
"""The actions that the open window takes, keyed by seat."""


class ConformanceError(AssertionError):
    """A game breaks its contract. The text names the promise, match, window, seat and difference."""

    def __init__(
        self,
        promise: str,
        what: str,
        *,
        variant: str,
        seed: int | None = None,
        window: int | None = None,
        seat: int | None = None,
    ) -> None:
        where = variant
        for name, number in (("seed", seed), ("window", window), ("seat", seat)):
            if number is not None:
                where += f", {name} {number}"
        super().__init__(f"{promise} ({where}): {what}")
        self.promise = promise
        self.variant = variant
        self.seed = seed
        self.window = window
        self.seat = seat


def difference(one: bytes, other: bytes) -> str:
    """Describe where two messages first differ, with an excerpt of each."""
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    around = slice(max(0, at - AROUND), at + AROUND)
    shown, but = one[around].decode(errors="replace"), other[around].decode(errors="replace")
    return f"from byte {at} of {len(one)} and {len(other)}: …{shown}… but …{but}…"


class MatchPlace(Struct, frozen=True):
    """The match that is checked."""

    variant: str
    seed: int

    def error(
        self, promise: str, what: str, window: int | None = None, seat: int | None = None
    ) -> ConformanceError:
        """Return an error of this match."""
        return ConformanceError(promise, what, variant=self.variant, seed=self.seed, window=window, seat=seat)


class Guesser:
    """A generator of random values of types. `words` are the known strings, sorted."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self.words: list[str] = []

    def learn(self, *said: bytes) -> None:
        """Add the strings of JSON texts, keys as well as values, to the known words."""
        found = set(self.words)
        for text in said:
            _collect(msgspec.json.decode(text), found)
        self.words = sorted(found)

    def guess(self, form: Any) -> Any:
        """Return a random plain value of a type; the rules may still reject it."""
        return self._guess(_described(form))

    def _guess(self, kind: inspect.Type) -> Any:
        match kind:
            case inspect.StructType(fields=fields):
                guess: Any = {}
                for field in fields:
                    if field.required or self._rng.random() < HALF:
                        guess[field.encode_name] = self._guess(field.type)
            case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
                guess = [self._guess(item) for _ in range(self._rng.randrange(LONGEST_LIST + 1))]
            case inspect.TupleType(item_types=items):
                guess = list(map(self._guess, items))
            case inspect.DictType(key_type=key, value_type=value):
                entries = range(self._rng.randrange(LONGEST_LIST))
                guess = {str(self._guess(key)): self._guess(value) for _ in entries}
            case inspect.UnionType(types=types):
                guess = self._guess(self._rng.choice(types))
            case inspect.Metadata(type=inner, extra_json_schema=extra):
                if extra and extra.get("examples"):
                    return self._rng.choice(extra["examples"])
                return self._guess(inner)
            case _:
                guess = self._guess_plain(kind)
        return guess

    def _guess_plain(self, kind: inspect.Type) -> Any:
        match kind:
            case inspect.LiteralType(values=values):
                return self._rng.choice(values)
            case inspect.StrType():
                word = self._rng.choice(self.words or [""])
                if self._rng.random() < LOWER:
                    return word.lower()
                return word
            case inspect.IntType(ge=least, le=most):
                numbers = [number for number in NUMBERS if _between(least, number, most)]
                return self._rng.choice(numbers or [most if least is None else least])
            case inspect.BoolType():
                return self._rng.random() < HALF
            case _:
                return None


@cache
def _described(form: Any) -> inspect.Type:
    return inspect.type_info(form)


def _between(least: int | None, number: int, most: int | None) -> bool:
    return (least is None or least <= number) and (most is None or number <= most)


def _collect(value: Any, found: set[str]) -> None:
    if isinstance(value, dict):
        for key, entry in value.items():
            _collect(key, found)
            _collect(entry, found)
    elif isinstance(value, list):
        for entry in value:
            _collect(entry, found)
    elif isinstance(value, str) and len(value) <= LONGEST_WORD:
        found.add(value)


class ObservedTable:
    """One match with the messages and views of all observers."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.observers: tuple[Observer, ...] = (*range(table.seats), SPECTATOR)
        terms = encode([table.deal.variant, table.options])
        self.told: dict[Observer, bytes] = dict.fromkeys(self.observers, terms)
        """Hash of all messages to each observer, keyed by observer."""
        self.last: dict[Observer, tuple[bytes, ...]] = {}
        """Events of the last step, encoded; keyed by observer."""
        self.fed: list[bytes] = []
        """Messages of the feed since the start of the last step, each after its topic."""
        clock = clock_terms(table.game, table.deal.variant, Policy())
        spectated = FeedTerms(match="", players=(), clock=clock, started="")
        self.feed = Feed(table, spectated, self.publish, lambda: 0)
        self.feed.begin()
        self._hear(table.start)
        self._open()

    def fork(self) -> "ObservedTable":
        """Return an independent copy at the same position."""
        fork = copy(self)
        fork.table, fork.told, fork.fed = self.table.fork(), self.told.copy(), self.fed.copy()
        fork.feed = self.feed.fork(fork.table, fork.publish)
        return fork

    def owes(self, observer: Observer) -> bool:
        """Return whether the open window is open to this observer."""
        return self.table.window is not None and observer in self.table.window.seats

    def shown(self, observer: Observer) -> bytes:
        """Return the bytes that the observer would receive now: the message that opens its window, or its view.

        A spectator also receives the feed's messages of the last step and its snapshot for late subscribers.
        """
        game, state, window = self.table.game, self.table.state, self.table.window
        for owed in self.table.owed:
            if window and owed.seat == observer:
                main_ms = game.variant(self.table.deal.variant).time.main_ms[window.name]
                return encode(reveal.opened(game, state, window, owed, number=0, main_ms=main_ms, reserve_ms=0))
        view = encode(reveal.shown(game, state, observer))
        if observer is SPECTATOR:
            return b"\n".join((view, *self.fed, self._snapshot()))
        return view

    def disguised(self, state: Any) -> "ObservedTable":
        """Return a copy of this match in another state."""
        other = self.fork()
        other.table.state, other.table.window = state, self.table.game.window(state)
        return other

    def response(self, seat: int, action: bytes) -> bytes:
        """Return the answer to a submission of a seat: the canonical action, or the reason of the rejection."""
        try:
            return b"accepted " + encode(self.table.read(seat, action))
        except Illegal as illegal:
            return b"rejected " + illegal.reason.encode()

    def play(self, chosen: Chosen) -> None:
        """Close the open window with these actions; an `asap` window first answers the seats in that order."""
        window = open_window(self.table)
        self.last = dict.fromkeys(self.observers, ())
        self.fed.clear()
        if window.asap:
            for seat in answered(chosen):
                self.answer(seat, chosen[seat])
        for seat, taken in chosen.items():
            elapsed = taken.elapsed_ms if window.timed else 0
            self._note(seat, b"taken", encode([window.name, taken.action, taken.by_default, elapsed]))
        self.feed.record(_window_time(self.table.number, window, chosen))
        self._hear(self.table.close(tuple(map(chosen.get, range(self.table.seats)))))
        # A spectator sees that the match goes on; a seat sees its own windows only.
        self._note(SPECTATOR, b"window", b"")
        self._open()

    def answer(self, seat: int, taken: ResolvedAction) -> tuple[Addressed, ...]:
        """Answer one seat of an `asap` window, and return the events with their recipients."""
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
        """See `observers.Publish`."""
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
    """Return the record of a window. If it had several seats, their times depend on their submissions."""
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
    """Return the seats that an `asap` window answers: those that submitted something."""
    return [seat for seat, taken in chosen.items() if not taken.by_default and taken.action is not None]


def open_window(table: Table) -> Window:
    """Return the open window. Raise RuntimeError if the match is over."""
    if table.window is None:
        raise RuntimeError("the match is over")
    return table.window


class Chooser:
    """A random player of all seats: it chooses legal actions as far as they can be guessed, or nothing."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._guesser = Guesser(rng)
        self._learnt: set[str] = set()
        self.legal: set[str] = set()
        """Names of the windows in which a legal action was guessed."""

    def guess(self, table: Table, seat: int) -> bytes:
        """Return an encoded action of that seat for the open window, legal or not."""
        window = open_window(table)
        plausible = table.game.plausible(table.state, seat, self._rng)
        if plausible is not None and self._rng.random() >= WILD:
            return encode(plausible)
        if window.name not in self._learnt:
            self._learnt.add(window.name)
            self._guesser.learn(encode(table.game.host_view(table.state)))
        return encode(self._guesser.guess(table.game.actions[window.name]))

    def choose(self, table: Table, seat: int) -> ResolvedAction:
        """Choose an action of one seat of the open window."""
        window = open_window(table)
        elapsed = 0
        if window.timed:
            elapsed = self._rng.randrange(SLOWEST_MS)
        if self._rng.random() < IDLE:
            return table.resolve(seat, None, elapsed)
        for _ in range(GUESSES):
            try:
                action = table.read(seat, self.guess(table, seat))
            except Illegal:
                continue
            self.legal.add(window.name)
            return table.resolve(seat, action, elapsed)
        return table.resolve(seat, None, elapsed)

    def choose_all(self, table: Table) -> Chosen:
        """Choose an action of every seat of the open window."""
        return {owed.seat: self.choose(table, owed.seat) for owed in table.owed}
