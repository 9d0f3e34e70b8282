"""The error that names a broken promise, and checks of the promises that need one match only."""

from itertools import chain
from typing import Any

import msgspec
from msgspec import Raw, Struct

from protocol.codec import encode
from protocol.words import Event, Outcome
from referee.proofs.conformance.sitting import ObservedTable
from referee.rules import Deal, AnyGame, Illegal, Move, Table

AROUND = 40
"""Number of bytes that are shown before and after a difference."""


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
        places = (("seed", seed), ("window", window), ("seat", seat))
        where = ", ".join([variant, *(f"{name} {value}" for name, value in places if value is not None)])
        super().__init__(f"{promise} ({where}): {what}")
        self.promise = promise
        self.variant = variant
        self.seed = seed
        self.window = window
        self.seat = seat


def difference(one: bytes, other: bytes) -> str:
    """Describe where two messages first differ, with an excerpt of each."""
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    shown = [text[max(0, at - AROUND) : at + AROUND].decode(errors="replace") for text in (one, other)]
    return f"from byte {at} of {len(one)} and {len(other)}: …{shown[0]}… but …{shown[1]}…"


class MatchPlace(Struct, frozen=True):
    """The match that is checked."""

    variant: str
    seed: int

    def error(
        self, promise: str, what: str, window: int | None = None, seat: int | None = None
    ) -> ConformanceError:
        """Return an error of this match."""
        return ConformanceError(promise, what, variant=self.variant, seed=self.seed, window=window, seat=seat)


def check_position(sitting: ObservedTable, where: MatchPlace) -> None:
    """Check a position between two steps: a window or an outcome, legal defaults, views of the declared type."""
    table = sitting.table
    if (table.window is None) == (table.outcome is None):
        raise where.error("a window is open exactly while there is no outcome", f"{table.window}", table.number)
    _check_window(table, where)
    for observer in sitting.observers:
        view = encode(table.game.view(table.state, observer))
        _check_spelling(table.game.view_type, view, where, table.number, observer)
    for seat, owed in ((owed.seat, owed) for owed in table.owed if owed.default is not None):
        default = encode(owed.default)
        try:
            canonical = encode(table.read(seat, default))
        except Illegal as illegal:
            raise where.error("every default is legal", illegal.reason, table.number, seat) from None
        if canonical != default:
            raise where.error("every default is canonical", difference(default, canonical), table.number, seat)


def check_drawn_defaults(table: Table, where: MatchPlace) -> None:
    """Check that each random default is legal, and the same if it is drawn again."""
    for seat in (owed.seat for owed in table.owed if owed.drawn):
        drawn = encode(table.default(seat))
        if drawn != encode(table.default(seat)):
            raise where.error("same journal, same bytes", "a default drawn twice differs", table.number, seat)
        try:
            table.read(seat, drawn)
        except Illegal as illegal:
            raise where.error(
                "every default is legal", f"{drawn!r}: {illegal.reason}", table.number, seat
            ) from None


def check_events(sitting: ObservedTable, where: MatchPlace) -> None:
    """Check that the events of the last step have declared types and survive decoding and encoding."""
    types: dict[str, type[Event]] = {str(each.__struct_config__.tag): each for each in sitting.table.game.events}
    number = sitting.table.number
    for observer, events in sitting.last.items():
        for event in events:
            tag = msgspec.json.decode(event)["type"]
            if tag not in types:
                raise where.error("events are of declared types", f"{tag} is not in `events`", number, observer)
            _check_spelling(types[tag], event, where, number, observer)


def check_outcome(outcome: Outcome, seats: int, where: MatchPlace) -> None:
    """Check that the ranking contains every seat once, and that every seat in the outcome exists."""
    everyone = list(range(seats))
    ranked = sorted(chain.from_iterable(outcome.ranking))
    keyed = [*(outcome.scores or {}), *outcome.tokens, *outcome.garnets]
    complaints = {
        "the ranking partitions the seats": ranked != everyone,
        "no group of the ranking is empty": not all(outcome.ranking),
        "winners are seats, ascending": list(outcome.winners) != sorted(set(outcome.winners) & set(everyone)),
        "the eliminated is a seat or null": outcome.eliminated not in (None, *everyone),
        "scores, tokens and garnets are keyed by seats": not set(keyed) <= set(map(str, everyone)),
        "scores have every seat": outcome.scores is not None and len(outcome.scores) != seats,
        "seats without tokens or garnets are left out": 0 in (*outcome.tokens.values(), *outcome.garnets.values()),
        "an outcome has a reason": not outcome.reason,
    }
    for promise, broken in complaints.items():
        if broken:
            raise where.error(promise, repr(outcome))


def check_replay(table: Table, where: MatchPlace) -> None:
    """Check that the journal replays to the same bytes, with options and setup drawn again or passed."""
    spelled = Deal(table.deal.variant, table.deal.seed, Raw(encode(table.options)), Raw(encode(table.setup)))
    once, again = (_retold(table.game, deal, table.journal) for deal in (table.deal, spelled))
    if once != again:
        raise where.error("same journal, same bytes", difference(once, again))
    if not once.endswith(encode(table.game.host_view(table.state))):
        raise where.error("same journal, same bytes", "a replay ends in another state")


def _retold(game: AnyGame, deal: Deal, journal: list[Move]) -> bytes:
    table = Table(game, deal)
    lines = [encode(table.start)]
    for move in journal:
        lines.append(encode(table.apply(move)))
        lines += [encode(game.view(table.state, seat)) for seat in (*range(table.seats), None)]
    return b"\n".join((*lines, encode(table.outcome), encode(game.host_view(table.state))))


def _check_window(table: Table, where: MatchPlace) -> None:
    if (window := table.window) is None:
        return
    seats = [owed.seat for owed in window.owed]
    if not seats or seats != sorted(set(seats) & set(range(table.seats))):
        raise where.error("a window's seats are ascending and not none", f"{window.name}: {seats}", table.number)
    if window.name not in table.game.actions:
        raise where.error("every window has a form", f"{window.name} is not in `actions`", table.number)
    if window.name not in table.game.variant(table.deal.variant).time.main_ms:
        raise where.error(
            "every window has its time", f"{window.name} is not in the variant's times", table.number
        )


def _check_spelling(form: type[Any], text: bytes, where: MatchPlace, window: int, seat: int | None) -> None:
    """Check that a message decodes as its declared type, and encodes to the same bytes again."""
    try:
        again = encode(msgspec.json.decode(text, type=form))
    except msgspec.ValidationError as error:
        raise where.error(f"it reads as {form.__name__}", str(error), window, seat) from None
    if again != text:
        raise where.error(f"it reads as {form.__name__}", difference(text, again), window, seat)
