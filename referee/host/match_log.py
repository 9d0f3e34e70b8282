"""One match's events for the operator's log, from its records and from what happens to its bots.

Secrets are never read while the match is played: no token, seed, setup, action or view. The texts of refusals and
the last line of a bot's output may contain some; both are logged after the match.
"""

import logging
import signal
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from protocol.codec import decode_server_message
from protocol.messages import (
    Faulted,
    Rejected,
)
from protocol.refusals import Conduct, Refusal
from referee.host.plan import Plan, Result
from referee.log import Logger
from referee.match import Ended, Judged, Left, Out, Record, sentences
from referee.transcript import TranscriptError

MAX_REFUSALS = 20
"""Maximum refusals logged individually per bot and match; the report has the total."""
PER_MS = 1_000
_WELCOME, _REJECTED, _FAULT = b'{"type":"welcome"', b'{"type":"rejected"', b'{"type":"fault"'
_LOOKED_AT = (_WELCOME, _REJECTED, _FAULT)


class MatchLog:
    """Writes the events of one match to the log."""

    def __init__(self, logger: Logger, plan: Plan, bots: Sequence[str]) -> None:
        """Bind the match's name, and the names of its bots by seat, to its events."""
        block = {} if plan.block is None else {"block": plan.block}
        self._log = logger.bind(match=plan.match, **block)
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
        """Log a record if it is of interest: messages that refuse or disconnect, exits, verdicts."""
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
        """Log that the clocks are stopped, or remain so for another reason."""
        self._log.info("paused", reason=reason)

    def resumed(self) -> None:
        """Log that the clocks run again."""
        self._log.info("resumed")

    def last_words(self, seat: int, line: str) -> None:
        """Note the last line of a bot's output, if it exited before the match was over."""
        if self._ended is None:
            self._last_words[seat] = line

    def failed(self, error: Exception) -> None:
        """Log that the attempt is void because this machine could not play it."""
        event = "disk_failed" if isinstance(error, TranscriptError) else "machine_failed"
        self._log.error(event, reason=str(error))

    def stopped(self, seconds: float) -> None:
        """Log that the referee's process was stopped during the match, if it was."""
        if seconds > 0:
            self._log.warning("referee_stopped", ms=round(seconds * PER_MS))

    def over(self, result: Result) -> None:
        """Log the result, and a report on each bot. Secrets may be logged from now on."""
        at_ms = 0 if self._ended is None else self._ended.at // PER_MS
        if result.outcome is None:
            self._log.error("match_void", at_ms=at_ms, reason=result.void)
        else:
            outcome = result.outcome
            self._log.info(
                "match_ended", at_ms=at_ms, ranking=outcome.ranking, winners=outcome.winners, reason=outcome.reason
            )
        for seat in range(len(self._bots)):
            self._report(seat, result)

    def _report(self, seat: int, result: Result) -> None:
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
                event = "late_answer" if message.reason is Refusal.LATE else "refused"
                log.warning(event, at_ms=at_ms, window=message.window, refusal=message.reason.value)

    def _left(self, left: Left) -> None:
        """Log that a bot left before the match was over."""
        how: dict[str, Any]
        if left.exit is None:
            how = {"cause": "it does not read"}
        elif left.exit < 0:
            how = {"cause": "killed", "signal": _signal_name(-left.exit)}
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
        self._seats[judged.seat].info(
            "verdict",
            at_ms=judged.at // PER_MS,
            window=judged.number,
            verdict=judged.verdict.value,
            by_default=evidence.by_default,
            late_ms=None if evidence.late_by is None else evidence.late_by // PER_MS,
            referee_ms=evidence.behind // PER_MS,
            host_ms=evidence.withheld // PER_MS,
            **({} if evidence.stopped is UNSET else {"stopped_ms": evidence.stopped // PER_MS}),
        )


def _signal_name(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
