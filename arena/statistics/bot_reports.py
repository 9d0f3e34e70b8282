"""Summary of each bot's match reports: the causes of its losses and the resources it used. Pure.

Matches are read one by one, and the number of causes and texts stored per bot is bounded.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from arena.statistics.standings import Played
from protocol.refusals import Conduct
from referee.match import Complaint, Frequent, SeatReport, sentences, summed

MOST_KINDS = 50
"""Maximum number of causes of losses, and of refusal texts, per bot; bots can influence these texts."""
AT_ONCE = 100
"""Number of a bot's reports that are summed in one step, because each step copies the sums so far."""
_MEASURED = re.compile(r"(\d+\.\d+)")
"""Pattern of numbers that may differ between matches with the same cause, such as a time used."""

Reported = tuple[Played, tuple[SeatReport, ...], str]
"""A match, its reports by seat (possibly empty), and the name or URL of its transcript."""


class Loss(Struct, frozen=True, kw_only=True):
    """Matches in which a bot was lost, or never started, for the same cause."""

    cause: str
    """Cause as text, with ranges of differing numbers: `no hello in 2 s (0.8 to 1.2 s of processor time used)`."""
    never_started: bool
    matches: int
    last_line: str
    """Last line of the bot's output in the latest of these matches."""
    log: str
    """Path of the log of that match, next to the transcript; it exists only if the bot wrote output."""


class BotReport(Struct, frozen=True, kw_only=True):
    """Summary of one bot's reports of all its matches."""

    matches: int = 0
    """Number of matches with a report; each seat counts if the bot takes several."""
    windows: int = 0
    refused: int = 0
    lost: int = 0
    """Number of matches in which the bot was lost or never started."""
    losses: tuple[Loss, ...] = ()
    """Losses by cause, the most frequent first; at most `MOST_KINDS`."""
    total: SeatReport = SeatReport()
    """Sums and maxima over all matches, without `loss` and `last_line`."""
    log: str = ""
    """Log path for the latest match with a problem, or "" if there was none."""


class _Kind:
    """Losses of one bot with the same cause."""

    def __init__(self, numbers: Sequence[str]) -> None:
        self.matches = 0
        self.last_line = self.log = ""
        self.ranges = [(number, number) for number in numbers]

    def add(self, numbers: Sequence[str], last_line: str, log: str) -> None:
        self.matches += 1
        self.last_line, self.log = last_line, log
        self.ranges = [
            (min(low, number, key=float), max(high, number, key=float))
            for (low, high), number in zip(self.ranges, numbers, strict=True)
        ]


class _Tally:
    """One bot's matches so far."""

    def __init__(self) -> None:
        self._matches = self._windows = self._refused = self._lost = 0
        self._kinds: dict[tuple[bool, tuple[str, ...]], _Kind] = {}
        self._complaints: Frequent[tuple[str, str]] = Frequent(MOST_KINDS)
        self._total = SeatReport()
        self._not_added: list[SeatReport] = []
        """Reports that are not in the total yet."""
        self._log = ""

    def add(self, report: SeatReport, match: Played, seat: int, log: str) -> None:
        """Add one seat's report of a match."""
        self._matches += 1
        self._windows += match.windows[seat]
        self._refused += match.refused[seat]
        self._not_added.append(report)
        if len(self._not_added) == AT_ONCE:
            self._add_up()
        if sentences(report, windows=match.windows[seat], refused=match.refused[seat]):
            self._log = log
        if report.loss:
            self._lose(report, log, never_started=match.conduct[seat] is Conduct.NEVER_STARTED)
        for each in report.complaints:
            self._complaints.add((each.refusal, each.text), each.times)

    def _add_up(self) -> None:
        self._total = summed((self._total, *self._not_added))
        self._not_added = []

    def _lose(self, report: SeatReport, log: str, *, never_started: bool) -> None:
        self._lost += 1
        # If a program stopped before its first message, its last line of output is the error that stopped it.
        cause = (never_started and report.last_line) or report.loss
        words, numbers = _MEASURED.split(cause)[::2], _MEASURED.findall(cause)
        key = never_started, tuple(words)
        if key in self._kinds or len(self._kinds) < MOST_KINDS:
            self._kinds.setdefault(key, _Kind(numbers)).add(numbers, report.last_line, log)

    def report(self) -> BotReport:
        """Return the summary of all reports so far."""
        self._add_up()
        kinds = sorted(self._kinds.items(), key=lambda item: -item[1].matches)
        complaints = (Complaint(refusal, text, times) for (refusal, text), times in self._complaints.most_common())
        return BotReport(
            matches=self._matches,
            windows=self._windows,
            refused=self._refused,
            lost=self._lost,
            losses=tuple(
                Loss(
                    cause=_with_ranges(words, kind.ranges),
                    never_started=never_started,
                    matches=kind.matches,
                    last_line=kind.last_line,
                    log=kind.log,
                )
                for (never_started, words), kind in kinds
            ),
            total=replace(self._total, hello_us=None, complaints=tuple(complaints)),
            log=self._log,
        )


def reports_of(entrants: int, matches: Iterable[Reported]) -> tuple[BotReport, ...]:
    """Return the summaries of `entrants` bots, by entrant. Skip matches without reports."""
    tallies = [_Tally() for _ in range(entrants)]
    for match, reports, transcript in matches:
        stem = transcript.removesuffix(".jsonl")
        for seat, report in enumerate(reports):
            tallies[match.entrants[seat]].add(report, match, seat, f"{stem}.seat-{seat}.log")
    return tuple(tally.report() for tally in tallies)


def _with_ranges(words: Sequence[str], ranges: Sequence[tuple[str, str]]) -> str:
    numbers = [low if low == high else f"{low} to {high}" for low, high in ranges]
    return "".join(f"{word}{number}" for word, number in zip_longest(words, numbers, fillvalue=""))
