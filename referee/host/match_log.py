"""One match's events for the operator's log, from what it records and from what happens to its bots.

Nothing that is a secret while the match is played is looked at: no token, seed, setup, action or view. What a bot
was refused for in words, and the last line that it wrote, may hold such; both come when the match is over.
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
"""Of one bot in one match that have an event of their own. How many there were is in its report."""
PER_MS = 1_000
_WELCOME, _REJECTED, _FAULT = b'{"type":"welcome"', b'{"type":"rejected"', b'{"type":"fault"'
_LOOKED_AT = (_WELCOME, _REJECTED, _FAULT)


class MatchLog:
    """Tells the log of one match."""

    def __init__(self, logger: Logger, plan: Plan, bots: Sequence[str]) -> None:
        """`bots`: their names, by seat."""
        block = {} if plan.block is None else {"block": plan.block}
        self._log = logger.bind(match=plan.match, **block)
        self._seats = [self._log.bind(seat=seat, bot=name) for seat, name in enumerate(bots)]
        self.enabled = logger.is_enabled_for(logging.INFO)
        """Whether records are to be told."""
        self._plan = plan
        self._bots = bots
        self._starts = [0] * len(bots)
        self._refusals = [0] * len(bots)
        self._last_words = [""] * len(bots)
        self._ended: Ended | None = None

    def begun(self) -> None:
        """Its bots are about to be started."""
        plan = self._plan
        self._log.info(
            "match_begun", game=plan.game, variant=plan.variant, bots=self._bots, isolation=plan.isolation
        )

    def started(self, seat: int, how: str, seconds: float = 0.0) -> None:
        """A seat's bot runs, and it took so long to start it."""
        self._starts[seat] += 1
        self._seats[seat].info(
            "bot_started", how=how, took_ms=round(seconds * PER_MS, 1), start=self._starts[seat]
        )

    def record(self, record: Record) -> None:
        """The match writes this. Most records, and most messages to bots, are none of the log's business."""
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
        """The clocks stop, or go on standing still for another reason."""
        self._log.info("paused", reason=reason)

    def resumed(self) -> None:
        """They run again."""
        self._log.info("resumed")

    def last_words(self, seat: int, line: str) -> None:
        """What a bot wrote at last. Only of one that ended before the match did."""
        if self._ended is None:
            self._last_words[seat] = line

    def failed(self, error: Exception) -> None:
        """The attempt is void, for this machine could not play it."""
        event = "disk_failed" if isinstance(error, TranscriptError) else "machine_failed"
        self._log.error(event, reason=str(error))

    def stopped(self, seconds: float) -> None:
        """Log that the referee's process was stopped during the match, if it was."""
        if seconds > 0:
            self._log.warning("referee_stopped", ms=round(seconds * PER_MS))

    def over(self, result: Result) -> None:
        """The match is over, and so is what was secret in it."""
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
        """How a bot did that did not just answer in time."""
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
            log.info("hello", at_ms=at_ms)  # It holds the bot's seed: no further look.
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
        """A bot is gone before the match was over."""
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
        """Logs the verdict on a lost window. Verdicts on a bot that is gone say nothing new."""
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
