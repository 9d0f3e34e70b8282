"""Plays a match in this process by the whole referee in virtual time, for transcripts and tests of clocks.

Every message passes through the codec, as on the wire. Only the bots' stated thinking time passes.
"""

import heapq
import platform
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import isnan
from numbers import Real
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Raw, to_builtins

from arena.simulation.bots import Source
from arena.simulation.match import PlayedResult, result_of
from arena.simulation.player import NAME, Player, Rules
from protocol.codec import decode_server_message, encode
from protocol.games import package_of
from protocol.messages import PROTOCOL, ClientMessage, ClockTerms, Hello, Opened, Rejected
from protocol.refusals import Refusal
from referee import __version__
from referee.match import (
    FORMAT,
    MICROSECONDS_PER_MS,
    BotIdentity,
    ClockTable,
    Frame,
    Handed,
    Header,
    Left,
    Match,
    Out,
    Policy,
    Record,
    Woke,
    bot_seed,
    clock_terms,
)
from referee.rules import Addressed, Table

TOKEN = "in-process"  # noqa: S105 - no other process can reach these lines
ThinkMs = Callable[[int, Opened], float]
"""Returns the milliseconds that a seat thinks about a window."""
MOST_MS = 10**15
"""Maximum thinking time in milliseconds; it exceeds all clocks and replaces infinity."""


class _Surroundings:
    """Environment of the match: see `referee.match.MatchIO`."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.sent: deque[tuple[int, bytes, bool]] = deque()
        self.news: list[Addressed] = []

    def record(self, record: Record) -> None:
        """Add a line to the transcript."""
        self.records.append(record)

    def send(self, seat: int, frame: bytes, *, timed: bool = False) -> None:
        """Queue a frame for a bot."""
        self.sent.append((seat, frame, timed))

    def told(self, told: tuple[Addressed, ...]) -> None:
        """Collect events."""
        self.news += told

    def _pass_over(self, *_: Any, **__: Any) -> None:
        """Ignore what concerns only bots in processes."""

    nobody_handed = reconnected = hang_up = restart = paused = resumed = _pass_over


class VirtualReferee:
    """A match, its bots, and the messages between them, in virtual microseconds."""

    def __init__(
        self,
        table: Table,
        sources: Sequence[Source],
        rules: Rules,
        terms: ClockTerms,
        policy: Policy,
        *,
        think_ms: ThinkMs | None = None,
    ) -> None:
        """Prepare the match. Raise BotError if a bot's annotations are wrong."""
        self._table, self._sources, self._terms, self._policy = table, sources, terms, policy
        self._think_ms = think_ms
        self._players = [Player(source.make(), seat, rules) for seat, source in enumerate(sources)]
        self._bots = tuple(_identity(source, table.deal.seed, seat) for seat, source in enumerate(sources))
        self._started = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._io = _Surroundings()
        self._match = Match(NAME, table, terms=terms, policy=policy, bots=self._bots, io=self._io)
        self._coming: list[tuple[int, int, int, ClientMessage]] = []
        """Heap of the bots' messages: arrival time, order, seat, message."""
        self._count = 0
        self._busy_until = [0] * len(sources)
        self._now = 0

    def play(self) -> PlayedResult:
        """Play to the end. Raise IllegalActionError and BotError as the rules demand."""
        self.play_windows(None)
        ended = self._match.ended
        assert ended is not None  # noqa: S101 - the match is over
        assert ended.outcome is not None  # noqa: S101 - in virtual time nothing is the referee's fault
        for player, seat in zip(self._players, self._match.seats, strict=True):
            player.windows, player.defaults = seat.windows, seat.defaults
        return result_of(self._table, self._sources, self._players, ended.outcome, self._io.news)

    def play_windows(self, most: int | None) -> None:
        """Play until `most` windows have closed, or to the end if None. Raise as `play`."""
        self._match.begin()
        for player in self._players:
            self._say(player.seat, 0, Hello(token=TOKEN, name="", version="", protocol=PROTOCOL))
        while not self._match.over and (most is None or self._table.number < most):
            self._step()

    def write(self, path: Path) -> str:
        """Write the transcript of the match. Raise TranscriptError if that fails."""
        from referee.transcript import write_transcript  # noqa: PLC0415 - it needs trio

        write_transcript(path, self.header, self._io.records)
        return str(path)

    @property
    def records(self) -> list[Record]:
        """Lines of the transcript so far, without the header."""
        return self._io.records

    @property
    def header(self) -> Header:
        """First line of the transcript."""
        return Header(
            format=FORMAT,
            arena=__version__,
            match=NAME,
            game=self._table.game.name,
            package=package_of(self._table.game.name) or UNSET,
            variant=self._table.deal.variant,
            seed=self._table.deal.seed,
            options=Raw(encode(self._table.options)),
            setup=Raw(encode(self._table.setup)),
            clock=self._terms,
            policy=to_builtins(self._policy),
            bots=self._bots,
            isolation="none",
            machine=f"{platform.system()} {platform.machine()}, virtual time",
            started=self._started,
        )

    def messages_to(self, seat: int) -> list[bytes]:
        """Return all messages sent to a seat."""
        return [bytes(each.frame) for each in self._io.records if isinstance(each, Out) and each.seat == seat]

    def _step(self) -> None:
        deadline = self._match.next_deadline()
        if self._coming and (deadline is None or self._coming[0][0] <= deadline):
            self._now, _, seat, said = heapq.heappop(self._coming)
            frame = encode(said)
            self._match.apply(Frame(self._now, seat, frame, len(frame)))
        else:
            assert deadline is not None  # noqa: S101 - a match waits for a bot or for the time
            self._now = deadline
            self._match.apply(Woke(at=deadline, deadline=deadline))
        self._deliver()

    def _deliver(self) -> None:
        """Deliver the match's frames to the bots; their replies arrive after their thinking time."""
        while self._io.sent:
            seat, frame, timed = self._io.sent.popleft()
            player = self._players[seat]
            if timed:
                self._match.apply(Handed(at=self._now, seat=seat))
            message = decode_server_message(frame)
            if isinstance(message, Rejected) and message.reason is Refusal.ILLEGAL:
                player.refused(message.text)
            player.hear_any(message)
            if player.gone:
                self._match.apply(Left(at=self._now, seat=seat, exit=1))
            at = max(self._now, self._busy_until[seat])
            if isinstance(message, Opened) and self._think_ms is not None:
                at += _microseconds(self._think_ms(seat, message))
                self._busy_until[seat] = at
            for said in player.take():
                self._say(seat, at, said)

    def _say(self, seat: int, at: int, said: ClientMessage) -> None:
        heapq.heappush(self._coming, (at, self._count, seat, said))
        self._count += 1


def _microseconds(think_ms: Any) -> int:
    """Return a thinking time in microseconds. Raise ValueError if it is not a number."""
    if not isinstance(think_ms, Real) or isnan(think_ms):
        raise ValueError(f"think_ms: it gave {think_ms!r:.100}; expected milliseconds")
    return round(min(max(0.0, float(think_ms)), MOST_MS) * MICROSECONDS_PER_MS)


def terms_of(table: Table, policy: Policy, clock: Mapping[str, Any] | None) -> ClockTerms:
    """Return the times of a match, by default the variant's own.

    Raises:
        ValueError: the fields of the clock are invalid.
    """
    return clock_terms(table.game, table.deal.variant, policy, _clock(clock))


def _identity(source: Source, seed: int, seat: int) -> BotIdentity:
    own_seed = bot_seed(seed, seat)
    return BotIdentity(
        name=source.name, version=source.version, content=source.content, seed=own_seed, token=TOKEN
    )


def _clock(given: Mapping[str, Any] | None) -> ClockTable | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ValueError(f"clock: {given!r:.100} is not a table of fields")  # noqa: TRY004 - as of what is in it
    try:
        table = msgspec.convert(dict(given), ClockTable)
    except msgspec.ValidationError as error:
        raise ValueError(f"clock: {error}") from None
    if table.kind == "cpu":
        raise ValueError("clock.kind: there is no processor time to count in this process; wall, or left out")
    return table
