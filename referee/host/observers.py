"""Observers of a match while it is played: its spectators' feed, and the operator's log.

A feed's messages contain only public knowledge: public events, windows that the game announces, the spectator's
view, pauses. Submissions, charges, notes, seeds and setup are never read. The log contains what happens to the
bots. Secrets are never read for it while the match is played: no token, seed, setup, action or view. The texts of
refusals and the last line of a bot's output may contain some; both are logged after the match. Pure, but for the
log's own output.
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import UNSET, Raw, Struct

from protocol.codec import decode_server_message, encode
from protocol.feed import (
    MATCH,
    FeedBegun,
    FeedClosed,
    FeedEnded,
    FeedEvent,
    FeedMessage,
    FeedPaused,
    FeedResumed,
    FeedSnapshot,
    FeedWindow,
)
from protocol.messages import (
    ClockTerms,
    Faulted,
    Rejected,
)
from protocol.refusals import Conduct, Refusal
from protocol.words import Outcome
from referee.host.plan import AttemptResult, Plan
from referee.linux.processes import signal_name
from referee.log import Logger
from referee.match import Ended, Judged, Left, Out, Record, WindowTime, sentences
from referee.rules import SPECTATOR, Addressed, Table, reveal
from referee.transcript import TranscriptError

MAX_TOLD_BYTES = 64 * 1024
"""The most bytes of events in a snapshot. Older events are left out; the view still shows the current state."""
PER_MS = 1_000

Publish = Callable[[str, bytes], None]
"""A function that sends a topic and a message to spectators. It never waits or fails, and may drop the message."""
MAX_REFUSALS = 20
"""Maximum refusals logged individually per bot and match; the report has the total."""
_WELCOME, _REJECTED, _FAULT = b'{"type":"welcome"', b'{"type":"rejected"', b'{"type":"fault"'
_LOOKED_AT = (_WELCOME, _REJECTED, _FAULT)


class FeedTerms(Struct, frozen=True, kw_only=True):
    """The facts about a match that spectators get at its start, apart from those of its table."""

    match: str
    players: tuple[str, ...]
    """Names, indexed by seat."""
    clock: ClockTerms
    started: str
    alone: bool = False
    """True if no other match is played from the same deal."""


class Observer:
    """An observer of one match. It receives all records and events, in order; by default it ignores them."""

    def record(self, record: Record) -> None:
        """Use a record that the match writes."""

    def told(self, told: tuple[Addressed, ...]) -> None:
        """Use the events of the game: after the deal or a window, or during one."""

    def paused(self, reason: str) -> None:
        """Note that the clocks are stopped, or remain so for another reason."""

    def resumed(self) -> None:
        """Note that the clocks run again."""


class Feed(Observer):
    """The feed of one match for its spectators."""

    def __init__(self, table: Table, terms: FeedTerms, publish: Publish, now: Callable[[], int]) -> None:
        """Set up a feed. `now` returns the time of the match's latest input, in microseconds since its start."""
        self._table = table
        self._publish = publish
        self._now = now
        self._topic = f"{MATCH}{terms.match}"
        self._main_ms = terms.clock.main_ms
        self._n = 0
        self._between = True
        """True if no window was announced since the last one closed."""
        self._opened = 0, 0
        """The number of the message that announced the open window, and its time in milliseconds."""
        self._reserve = _reserves(terms.clock, table.seats)
        self._paused: str | None = None
        self._paused_at = 0
        self._stopped = 0
        """Microseconds for which the clocks were stopped since the window opened, without a running pause."""
        self._events: deque[bytes] = deque()
        self._events_bytes = 0
        self._left_out = 0
        self._outcome: Outcome | None = None
        self._begun = FeedBegun(
            n=0,
            match=terms.match,
            game=table.game.name,
            variant=table.deal.variant,
            options=table.options,
            players=terms.players,
            clock=terms.clock,
            started=terms.started,
            alone=terms.alone,
        )

    def fork(self, table: Table, publish: Publish) -> "Feed":
        """Return an independent copy of this feed, for another table."""
        fork = Feed.__new__(Feed)
        fork.__dict__.update(self.__dict__)
        fork._table, fork._publish = table, publish  # noqa: SLF001 - of the same class
        fork._events, fork._reserve = self._events.copy(), self._reserve.copy()  # noqa: SLF001
        return fork

    def begin(self) -> None:
        """Announce the start of the attempt."""
        self._say(self._begun)

    def record(self, record: Record) -> None:
        """See `Observer`. Only the public part is used."""
        if isinstance(record, WindowTime):
            self._close(record)
        elif isinstance(record, Ended):
            self._outcome = record.outcome

    def told(self, told: tuple[Addressed, ...]) -> None:
        """See `Observer`. Publishes the public events."""
        for one in told:
            if reveal.check_audience(one).seat is SPECTATOR:
                self._tell(one)
        if self._between:
            self._open()

    def paused(self, reason: str) -> None:
        """See `Observer`."""
        if self._paused is None:
            self._paused_at = self._now()
        self._paused = reason
        self._say(FeedPaused(n=self._n, at_ms=self._at_ms, reason=reason))

    def resumed(self) -> None:
        """See `Observer`."""
        self._stopped += self._now() - self._paused_at
        self._paused = None
        self._say(FeedResumed(n=self._n, at_ms=self._at_ms))

    def over(self, head: str) -> None:
        """Announce the end of the attempt.

        Args:
            head: the hash of its transcript's last line; empty: it has no transcript and is void.
        """
        if self._n == 0:
            return  # The start was never announced.
        outcome = None
        if head:
            outcome = self._outcome
        view = reveal.shown(self._table.game, self._table.state, SPECTATOR)
        self._between = True
        self._say(FeedEnded(n=self._n, at_ms=self._at_ms, outcome=outcome, head=head, view=view))

    def snapshot(self, at: int) -> None:
        """Publish the whole state once more.

        `at`: the clock's time, which may be later than the latest input's.
        """
        stopped = self._stopped
        if self._paused is not None:
            stopped += at - self._paused_at
        message = FeedSnapshot(
            n=self._n,
            at_ms=at // PER_MS,
            begun=self._begun,
            events=tuple(map(Raw, self._events)),
            left_out=self._left_out,
            window=self._window(),
            stopped_ms=stopped // PER_MS,
            paused=self._paused,
        )
        self._publish(self._topic, encode(message))

    @property
    def _at_ms(self) -> int:
        return self._now() // PER_MS

    def _tell(self, told: Addressed) -> None:
        message = encode(FeedEvent(n=self._n, at_ms=self._at_ms, event=told.event))
        self._n += 1
        self._publish(self._topic, message)
        self._events.append(message)
        self._events_bytes += len(message)
        while self._events_bytes > MAX_TOLD_BYTES:
            self._events_bytes -= len(self._events.popleft())
            self._left_out += 1

    def _open(self) -> None:
        """Announce the window that opens now, if it is public."""
        if self._table.window is None:
            return
        self._between = False
        self._stopped, self._paused_at = 0, self._now()
        self._opened = self._n, self._at_ms
        message = self._window()
        if message is not None:
            self._say(message)

    def _window(self) -> FeedWindow | None:
        """Return the message about the open window; None: no public window is open."""
        announced = self._announced()
        if announced is None or self._between:
            return None
        n, at_ms = self._opened
        return FeedWindow(
            n=n,
            at_ms=at_ms,
            window=announced.window,
            seats=announced.seats,
            main_ms=self._main_ms[announced.window],
            reserve_ms={str(seat): self._reserve[seat] for seat in announced.seats or () if seat in self._reserve},
            view=reveal.shown(self._table.game, self._table.state, SPECTATOR),
        )

    def _announced(self) -> reveal.Announcement | None:
        """Return what the game announces of its window; None: there is no window, or it is not public."""
        if self._table.window is None:
            return None
        return reveal.announced(self._table.game, self._table.window)

    def _close(self, record: WindowTime) -> None:
        """Announce that a window is over. The table has not closed it yet."""
        announced = self._announced()
        if announced is None or announced.seats is None or len(announced.seats) > 1:
            # Spectators must not learn whose time was used.
            self._reserve = {}
        elif self._reserve:
            (seat,) = announced.seats
            self._reserve[seat] = next(each.reserve_ms for each in record.seats if each.seat == seat)
        self._between = True
        if announced is not None:
            self._say(FeedClosed(n=self._n, at_ms=self._at_ms))

    def _say(self, message: FeedMessage) -> None:
        self._n += 1
        self._publish(self._topic, encode(message))


def _reserves(clock: ClockTerms, seats: int) -> dict[int, int]:
    """Return each seat's reserve in milliseconds as far as it is public; use of processor time is not."""
    if clock.kind is not UNSET:
        return {}
    return dict.fromkeys(range(seats), clock.reserve_ms)


class MatchLog(Observer):
    """Writes the events of one match to the log."""

    def __init__(self, logger: Logger, plan: Plan, bots: Sequence[str]) -> None:
        """Bind the match's name, and the names of its bots by seat, to its events."""
        self._log = logger.bind(match=plan.match)
        if plan.block is not None:
            self._log = self._log.bind(block=plan.block)
        self._seats = [self._log.bind(seat=seat, bot=name) for seat, name in enumerate(bots)]
        self.enabled = logger.is_enabled_for(logging.INFO)
        """True if `record` should be called."""
        self._plan = plan
        self._bots = bots
        self._starts = [0] * len(bots)
        self._refusals = [0] * len(bots)
        self._last_words = [""] * len(bots)
        self._ended: Ended | None = None

    def begun(self) -> None:
        """Log that the match's bots are about to be started."""
        plan = self._plan
        self._log.info(
            "match_begun", game=plan.game, variant=plan.variant, bots=self._bots, isolation=plan.isolation
        )

    def started(self, seat: int, how: str, seconds: float = 0.0) -> None:
        """Log that a seat's bot runs, and the seconds that its start took."""
        self._starts[seat] += 1
        self._seats[seat].info(
            "bot_started", how=how, took_ms=round(seconds * PER_MS, 1), start=self._starts[seat]
        )

    def record(self, record: Record) -> None:
        """See `Observer`. Messages that refuse or disconnect, exits, and verdicts are logged."""
        if isinstance(record, Out):
            frame = bytes(record.frame)
            if frame.startswith(_LOOKED_AT):
                self._sent(record.at, record.seat, frame)
        elif isinstance(record, Left):
            self._left(record)
        elif isinstance(record, Judged):
            self._judged(record)
        elif isinstance(record, Ended):
            self._ended = record

    def paused(self, reason: str) -> None:
        """See `Observer`."""
        self._log.info("paused", reason=reason)

    def resumed(self) -> None:
        """See `Observer`."""
        self._log.info("resumed")

    def last_words(self, seat: int, line: str) -> None:
        """Note the last line of a bot's output, if it exited before the match was over."""
        if self._ended is None:
            self._last_words[seat] = line

    def failed(self, error: Exception) -> None:
        """Log that the attempt is void because this machine could not play it."""
        event = "machine_failed"
        if isinstance(error, TranscriptError):
            event = "disk_failed"
        self._log.error(event, reason=str(error))

    def stopped(self, seconds: float) -> None:
        """Log that the referee's process was stopped during the match, if it was."""
        if seconds > 0:
            self._log.warning("referee_stopped", ms=round(seconds * PER_MS))

    def over(self, result: AttemptResult) -> None:
        """Log the result, and a report on each bot. Secrets may be logged from now on."""
        at_ms = 0
        if self._ended is not None:
            at_ms = self._ended.at // PER_MS
        if result.outcome is None:
            self._log.error("match_void", at_ms=at_ms, reason=result.void)
        else:
            outcome = result.outcome
            self._log.info(
                "match_ended", at_ms=at_ms, ranking=outcome.ranking, winners=outcome.winners, reason=outcome.reason
            )
        for seat in range(len(self._bots)):
            self._report(seat, result)

    def _report(self, seat: int, result: AttemptResult) -> None:
        """Log a report on a bot, unless it answered every window in time."""
        conduct, defaults, refused = result.conduct[seat], result.defaults[seat], result.refused[seat]
        if conduct is Conduct.OK and not defaults and not refused:
            return
        said = sentences(result.reports[seat], windows=result.windows[seat], refused=refused)
        words = {"said": "; ".join(said), "last_words": self._last_words[seat]}
        self._seats[seat].info(
            "bot_report",
            conduct=conduct.value,
            windows=result.windows[seat],
            defaults=defaults,
            refused=refused,
            **{name: text for name, text in words.items() if text},
        )

    def _sent(self, at: int, seat: int, frame: bytes) -> None:
        log, at_ms = self._seats[seat], at // PER_MS
        if frame.startswith(_WELCOME):
            log.info("hello", at_ms=at_ms)  # The rest of the message contains the bot's seed.
            return
        message = decode_server_message(frame)
        if isinstance(message, Faulted):
            log.warning("bot_hung_up_on", at_ms=at_ms, fault=message.reason.value)
        elif isinstance(message, Rejected):
            self._refusals[seat] += 1
            if self._refusals[seat] <= MAX_REFUSALS:
                event = "refused"
                if message.reason is Refusal.LATE:
                    event = "late_answer"
                log.warning(event, at_ms=at_ms, window=message.window, refusal=message.reason.value)

    def _left(self, left: Left) -> None:
        """Log that a bot left before the match was over."""
        how: dict[str, Any]
        if left.exit is None:
            how = {"cause": "it does not read"}
        elif left.exit < 0:
            how = {"cause": "killed", "signal": signal_name(-left.exit)}
        else:
            how = {"cause": "ended", "exit": left.exit}
        if left.why is not UNSET:
            how["why"] = left.why
        self._seats[left.seat].warning("bot_left", at_ms=left.at // PER_MS, **how)

    def _judged(self, judged: Judged) -> None:
        """Log the verdict on a lost window. Verdicts on a bot that has left add nothing."""
        evidence = judged.evidence
        if evidence.gone:
            return
        late_ms, stopped = None, {}
        if evidence.late_by is not None:
            late_ms = evidence.late_by // PER_MS
        if evidence.stopped is not UNSET:
            stopped["stopped_ms"] = evidence.stopped // PER_MS
        self._seats[judged.seat].info(
            "verdict",
            at_ms=judged.at // PER_MS,
            window=judged.number,
            verdict=judged.verdict.value,
            by_default=evidence.by_default,
            late_ms=late_ms,
            referee_ms=evidence.behind // PER_MS,
            host_ms=evidence.withheld // PER_MS,
            **stopped,
        )
