"""What the reports of many matches come to, by bot: why it lost what it lost, and what it used. Pure.

It takes the matches one by one, and keeps a bounded number of causes and texts for each bot.
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
"""Causes of losses, and texts of refusals, that are counted for one bot; they may hold what bots wrote."""
AT_ONCE = 100
"""Reports of one bot that are added up in one step: each step copies the sums so far."""
_MEASURED = re.compile(r"(\d+\.\d+)")
"""Numbers that differ from match to match where the cause is the same, such as a time used."""

Reported = tuple[Played, Sequence[SeatReport], str]
"""A match, its seats' reports (or none), and the name or URL of its transcript."""


class Loss(Struct, frozen=True, kw_only=True):
    """Matches in which a bot was lost, or did not start, for the same cause."""

    cause: str
    """In words; of a number that differed, its range: `no hello in 2 s (0.8 to 1.2 s of processor time used)`."""
    never_started: bool
    matches: int
    last_line: str
    """What it wrote last in the latest of these matches."""
    log: str
    """Where the bot's output in that match is, if it wrote any: beside the transcript."""


class BotReport(Struct, frozen=True, kw_only=True):
    """How one bot did in all its matches, beyond its points."""

    matches: int = 0
    """Those with a report; of a bot that takes several seats of a match, each counts."""
    windows: int = 0
    refused: int = 0
    lost: int = 0
    """Matches in which it was lost or never started."""
    losses: tuple[Loss, ...] = ()
    """The most frequent first; at most `MOST_KINDS`."""
    total: SeatReport = SeatReport()
    """Sums, and the most, of all matches; without `loss` and `last_line`."""
    log: str = ""
    """Where its output is, if any, of the latest match in which something went wrong; empty: nothing did."""


class _Kind:
    """Losses of one bot for one cause."""

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
        """To the total, yet."""
        self._log = ""

    def add(self, report: SeatReport, match: Played, seat: int, log: str) -> None:
        """One match."""
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
        # The error is the cause, where a program never got as far as its first message.
        cause = (never_started and report.last_line) or report.loss
        words, numbers = _MEASURED.split(cause)[::2], _MEASURED.findall(cause)
        key = never_started, tuple(words)
        if key in self._kinds or len(self._kinds) < MOST_KINDS:
            self._kinds.setdefault(key, _Kind(numbers)).add(numbers, report.last_line, log)

    def report(self) -> BotReport:
        """What it comes to."""
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
    """The reports of so many bots, by entrant. Matches without reports are passed over."""
    tallies = [_Tally() for _ in range(entrants)]
    for match, reports, transcript in matches:
        stem = transcript.removesuffix(".jsonl")
        for seat, report in enumerate(reports):
            tallies[match.entrants[seat]].add(report, match, seat, f"{stem}.seat-{seat}.log")
    return tuple(tally.report() for tally in tallies)


def _with_ranges(words: Sequence[str], ranges: Sequence[tuple[str, str]]) -> str:
    numbers = [low if low == high else f"{low} to {high}" for low, high in ranges]
    return "".join(f"{word}{number}" for word, number in zip_longest(words, numbers, fillvalue=""))
