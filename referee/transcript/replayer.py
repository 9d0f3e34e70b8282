"""Verifies a transcript's records: their form, and the rules. Pure.

`reader` reads the file, and checks that its bytes are unchanged. But a forger can compute new hashes for a changed
file. So no record is trusted here: one that no match can have written at its place is found before it is used, and
so are impossible terms in the header, from which the match is dealt. Then a new match gets the transcript's
inputs, and must make every other record, byte for byte.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from protocol.codec import MAX_COMPLAINT_CHARACTERS, decode_json, encode
from protocol.messages import ClockTerms
from protocol.refusals import Refusal
from referee.games import GAMES
from referee.match import (
    LONGEST_MS,
    MOST_WALL_FACTOR,
    AnyRecord,
    Cpu,
    Ended,
    Footer,
    Handed,
    Header,
    In,
    Judged,
    Left,
    Match,
    MatchTerms,
    Out,
    Policy,
    Record,
    SeatEnded,
    SeatHeader,
    Started,
    Used,
    kept_of,
)
from referee.rules import Addressed, AnyGame, BadSetupError, Deal, Table
from referee.wire import MAX_TAKEN_BYTES, stands_for_parts

MOST_PARTS_BYTES = MAX_TAKEN_BYTES + 1_024
"""The largest message of several parts on the wire in bytes, with the last part's head and encryption."""
_SALT = re.compile(r"[0-9a-f]{32}")
_HASH = re.compile(r"[0-9a-f]{64}")
_OF_FRAMES = frozenset({Refusal.TOO_MUCH, Refusal.FLOOD, Refusal.OVERSIZED, Refusal.MALFORMED, Refusal.NO_MESSAGE})
"""The refusals of a frame for its content or size."""
_SEATED = In | Out | Handed | Cpu | Started | Left | Used | Judged
_OWN = In | Out | Handed | Left | SeatEnded | Footer
"""The records that may follow the header of a seat's own transcript."""
_ONLY_OWN = SeatHeader | SeatEnded


class Form:
    """Checks the records of one transcript, in order. Every error is a ValueError that names the fault."""

    def __init__(self) -> None:
        self._seats = 0
        self._own: int | None = None
        """The seat, if this is a seat's own transcript; None: it is a whole one."""
        self._began = False
        self._ended = False

    def check(self, record: AnyRecord) -> None:
        """Check the next record.

        Raises:
            ValueError: no match can have written it at this place.
        """
        if not self._began:
            self._began = True
            self._begin(record)
            return
        if self._ended and not isinstance(record, Footer):
            raise ValueError("comes after the end of the match")
        if self._own is None:
            self._check_whole(record)
        else:
            self._check_own(record, self._own)
        if isinstance(record, In):
            _check_frame(record)

    def _begin(self, header: AnyRecord) -> None:
        if not isinstance(header, Header | SeatHeader):
            raise ValueError("is no header")  # noqa: TRY004 - the type is right, the place is not
        _check_plain(header.options, "options")
        if isinstance(header, SeatHeader):
            self._seats, self._own = header.seats, header.seat
            if header.seat >= header.seats:
                raise ValueError(f"there is no seat {header.seat} of {header.seats}")
            salts: tuple[str, ...] = (header.salt,)
        else:
            self._seats = len(header.bots)
            _check_plain(header.setup, "setup")
            salts = header.salts
            if len(salts) != self._seats:
                raise ValueError(f"{len(salts)} salts for {self._seats} bots")
            if header.unexcused is not msgspec.UNSET:
                for seat in header.unexcused:
                    self._check_seat(seat)
        if not all(map(_SALT.fullmatch, salts)):
            raise ValueError("a salt is 32 hexadecimal digits")

    def _check_whole(self, record: AnyRecord) -> None:
        if isinstance(record, _ONLY_OWN):
            raise ValueError("is of one seat's own transcript, and this is a whole one")  # noqa: TRY004 - see above
        if isinstance(record, _SEATED):
            self._check_seat(record.seat)
        if isinstance(record, Used):
            for blocking in record.blocking_seats:
                self._check_seat(blocking)
        elif isinstance(record, Ended):
            self._ended = True
            if (len(record.conduct), len(record.refused)) != (self._seats, self._seats):
                raise ValueError(f"conduct and refused: one for each of {self._seats} seats")
        elif isinstance(record, Footer) and not self._are_heads(record.heads):
            raise ValueError(f"heads: one hash for each of {self._seats} seats")

    def _check_own(self, record: AnyRecord, own: int) -> None:
        if not isinstance(record, _OWN):
            raise ValueError("is of a whole transcript, and this is one seat's own")  # noqa: TRY004 - see above
        if isinstance(record, SeatEnded):
            self._ended = True
        elif isinstance(record, Footer):
            if not self._ended:
                raise ValueError("the end of the match is missing before it")
            if record.heads:
                raise ValueError("heads: none in one seat's own transcript")
        else:
            if record.seat != own:
                raise ValueError(f"is of seat {record.seat}, and this is the transcript of seat {own} alone")
            if isinstance(record, Out):
                _check_plain(record.frame, "frame")

    def _are_heads(self, heads: tuple[str, ...]) -> bool:
        return len(heads) == self._seats and all(map(_HASH.fullmatch, heads))

    def _check_seat(self, seat: int) -> None:
        if seat >= self._seats:
            raise ValueError(f"there is no seat {seat}: the seats are 0 to {self._seats - 1}")


def _check_frame(record: In) -> None:
    """Check that the record of a frame has the form that `In.of` writes."""
    if not record.spelled():
        raise ValueError("frame and octets: not one frame, as text or, if it is not UTF-8, as base64")
    if record.closed and record != In(at=record.at, seat=record.seat, closed=record.closed):
        raise ValueError("closed: stands for bytes that are no frame")
    if not record.cut:
        if record.refused or record.text:
            raise ValueError("refused and text: only of a frame that was cut")
        return
    if record.refused not in _OF_FRAMES:
        raise ValueError(f"refused: no frame is refused as {record.refused!r}")
    kept = len(record.raw())
    if stands_for_parts(record.raw()):
        if not kept < record.cut <= MOST_PARTS_BYTES:
            raise ValueError(f"cut: {record.cut} bytes are more than a message of parts may have")
    elif kept != (due := kept_of(Refusal(record.refused))) or record.cut <= kept:
        raise ValueError(f"cut: {kept} bytes kept of {record.cut}; of a longer frame {due} are")
    if len(record.text) > MAX_COMPLAINT_CHARACTERS:
        raise ValueError(f"text: longer than {MAX_COMPLAINT_CHARACTERS} characters")


def _check_plain(raw: msgspec.Raw, field: str) -> None:
    """Check raw JSON: it may not repeat keys, or contain anything that parsers read differently."""
    if encode(decode_json(raw)) != bytes(raw):
        raise ValueError(f"{field}: not as JSON is written here, or a key stands twice")


class BadTermsError(ValueError):
    """Terms are not possible for a match. The text names the field."""


def dealt(header: Header) -> tuple[Table, Policy]:
    """Return the table that a header describes, and the match's policy.

    Raises:
        BadTermsError: there is no such game, variant or policy, they contradict one another, or the options or
        setup
            break the game's rules.
    """
    game = _game(header)
    try:
        table = Table(game, Deal(header.variant, header.seed, header.options, header.setup))
        policy = msgspec.convert(header.policy, Policy)
    except BadSetupError as error:
        raise BadTermsError(str(error)) from None
    except msgspec.ValidationError as error:
        raise BadTermsError(f"policy: {error}") from None
    if len(header.bots) != table.seats:
        raise BadTermsError(f"bots: {len(header.bots)} for the {table.seats} seats of {game.name}")
    _check_clock(header.clock, game, header.variant)
    if (header.clock.pauses, header.clock.pause_ms, header.clock.pacing) != (
        policy.pauses,
        policy.pause_ms,
        policy.pacing,
    ):
        raise BadTermsError("clock: its pauses and pacing are not the policy's")
    return table, policy


def check_seat_terms(header: SeatHeader) -> None:
    """Check the terms of a seat's own transcript.

    Raises:
        BadTermsError: they are not possible.
    """
    game = _game(header)
    try:
        seats = game.seats(game.read_options(header.variant, header.options))
    except BadSetupError as error:
        raise BadTermsError(str(error)) from None
    if header.seats != seats:
        raise BadTermsError(f"seats: {header.seats}, and {game.name} has {seats}")
    _check_clock(header.clock, game, header.variant)


def _game(header: Header | SeatHeader) -> AnyGame:
    if header.game not in GAMES:
        comes_from = "" if header.package is UNSET else f", which comes with the package {header.package}"
        raise BadTermsError(f"game: there is no {header.game!r}{comes_from}; there are {', '.join(GAMES)}")
    game = GAMES[header.game]
    if header.variant not in (variants := [variant.name for variant in game.variants]):
        raise BadTermsError(f"variant: {game.name} has no {header.variant!r}; it has {', '.join(variants)}")
    return game


def _check_clock(terms: ClockTerms, game: AnyGame, variant: str) -> None:
    windows = game.variant(variant).time.main_ms
    if terms.main_ms.keys() != windows.keys():
        raise BadTermsError(f"clock.main_ms: the windows are {', '.join(windows)}")
    times = {
        **{f"main_ms.{window}": main_ms for window, main_ms in terms.main_ms.items()},
        "reserve_ms": terms.reserve_ms,
        "pauses": terms.pauses,
        "pause_ms": terms.pause_ms,
        "increment_ms": terms.increment_ms,
        "bronstein_ms": terms.bronstein_ms,
    }
    for field, value in times.items():
        if value is not UNSET and not 0 <= value <= LONGEST_MS:
            raise BadTermsError(f"clock.{field}: from 0 to {LONGEST_MS}")
    if terms.pacing not in ("prompt", "fixed"):
        raise BadTermsError("clock.pacing: prompt or fixed")
    if terms.kind not in (UNSET, "cpu"):
        raise BadTermsError("clock.kind: cpu, or left out")
    if (terms.wall_factor is UNSET) != (terms.kind is UNSET):
        raise BadTermsError("clock.wall_factor: of a cpu clock, and only of one")
    if terms.wall_factor is not UNSET and not 1 <= terms.wall_factor <= MOST_WALL_FACTOR:
        raise BadTermsError(f"clock.wall_factor: from 1 to {MOST_WALL_FACTOR}")


class Differs(Exception):  # noqa: N818 - the answer to a question, not a failure of ours
    """The rules contradict a transcript."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line


class Replayed:
    """A match that is being replayed, with its `MatchIO`. Messages are compared instead of sent."""

    def __init__(self, header: Header, watch: "Watch | None" = None) -> None:
        """Deal the match of a header. `watch` is called with the events, as in the match.

        Raises:
            Differs: the header's terms are not possible.
        """
        self.header = header
        self.made: deque[Record] = deque()
        """Records that are made but not compared yet."""
        self._watch = watch
        try:
            self.table, policy = dealt(header)
        except BadTermsError as error:
            raise Differs(1, f"cannot be dealt: {error}") from None
        terms = MatchTerms(
            match=header.match,
            clock=header.clock,
            policy=policy,
            bots=header.bots,
            measured=header.measured,
            unexcused=header.unexcused or (),
        )
        self.match = Match(self.table, terms, io=self)
        self.match.begin()

    def record(self, record: Record) -> None:
        """See `MatchIO`."""
        self.made.append(record)

    def told(self, told: tuple[Addressed, ...]) -> None:
        """See `MatchIO`."""
        if self._watch is not None:
            self._watch(self, told)

    def _pass_over(self, *_: Any, **__: Any) -> None:
        """Ignore a request of the match that matters only if bots play."""

    send = nobody_handed = reconnected = hang_up = restart = paused = resumed = _pass_over


Watch = Callable[[Replayed, tuple[Addressed, ...]], None]


def replay(records: Iterable[AnyRecord], watch: Watch | None = None) -> Replayed:
    """Replay a whole transcript, given its records from the header on.

    Returns:
        The match at its end.

    Raises:
        Differs: at the first line that the rules contradict, or at the end of an unfinished transcript.
    """
    walk = steps(records, watch)
    _, replayed = next(walk)
    deque(walk, maxlen=0)
    return replayed


def steps(records: Iterable[AnyRecord], watch: Watch | None = None) -> Iterator[tuple[AnyRecord, Replayed]]:
    """Yield the records from the header on, each after the rules have confirmed it, with the match at that point.

    The match includes all effects of the last input, also those in later records.

    Raises:
        Differs: as in `replay`.
    """
    lines = enumerate(records, start=1)
    _, header = next(lines, (0, None))
    if not isinstance(header, Header):
        raise Differs(1, "is no header of a whole match")
    replayed = Replayed(header, watch)
    yield header, replayed
    number = 1
    for number, record in lines:
        if isinstance(record, Footer):
            break
        try:
            _take(replayed, number, record)
        except RecursionError:
            # The limit of nesting depends on the caller.
            raise Differs(number, "nested too deeply") from None
        yield record, replayed
    if replayed.made or not replayed.match.over:
        raise Differs(number, "the match is not over here")


def _take(replayed: Replayed, number: int, record: AnyRecord) -> None:
    """Apply the next record to the match, and compare it with the match's own."""
    replayed.match.apply(record)
    if not replayed.made:
        raise Differs(number, f"the rules lead to no such line: {_short(record)}")
    made = replayed.made.popleft()
    if encode(made) != encode(record):
        raise Differs(number, f"the rules lead to {_short(made)}, the transcript says {_short(record)}")


def _short(record: AnyRecord) -> str:
    text = encode(record).decode()
    return text if len(text) <= 300 else f"{text[:300]}…"  # noqa: PLR2004 - as much as a line of a report takes
