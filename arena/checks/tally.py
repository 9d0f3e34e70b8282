"""Totals of one bot's matches in a check."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from arena.checks.trials import Trial
from arena.statistics import mean_points, points
from protocol.refusals import Conduct
from referee.host import Result
from referee.match import Complaint, SeatReport, Verdict, sentences, summed

MOSTLY = 2
"""A bot that returns nothing in at most one of this many windows may do so on purpose."""
MOST_KINDS = 3
"""Maximum kinds of refusals that are named, the most frequent first."""


class Tally(Struct, frozen=True, kw_only=True):
    """Totals of one bot's matches in a check."""

    matches: int
    """Number of matches with a result."""
    started: int
    """Number of matches in which the bot sent `hello`."""
    conduct: dict[str, int]
    """Number of matches by conduct."""
    wins: int
    mean_points: float | None
    """Mean share of the other seats that it ranked before, as tournaments count points; None without matches."""
    interval: tuple[float, float] | None
    """95 % interval of the mean; None without matches."""
    windows: int
    refused: int
    lost: int
    """Number of windows that took the default by the bot's own fault."""
    report: SeatReport
    """Report over all matches: sums and worst cases."""
    troubles: tuple[str, ...] = ()
    """Reasons why matches have no result."""

    @property
    def is_well(self) -> bool:
        """Whether it played every match to the end, lost no window by its own fault, and decided itself."""
        is_ok = bool(self.matches) and self.conduct == {Conduct.OK.value: self.matches} and not self.lost
        return is_ok and not self.report.raised and not self.seldom_decides

    @property
    def seldom_decides(self) -> bool:
        """Whether its function returned nothing in most windows, as if a `return` were missing."""
        return self.report.returned_nothing * MOSTLY > self.windows

    @property
    def said(self) -> list[str]:
        """Sentences about each problem; empty if there was none."""
        report = self.report
        if self.matches > 1 and report.loss:
            faults = self.matches - self.conduct.get(Conduct.OK.value, 0)
            report = replace(report, loss=f"{report.loss} (in {faults} of {self.matches} matches)")
        return [*sentences(report, windows=self.windows, refused=self.refused), *dict.fromkeys(self.troubles)]


def only_void(found: Sequence[tuple[Tally, Sequence[Trial]]]) -> str | None:
    """Return why a match is void, if a bot has no other problem; None if it has, or if no match is void."""
    if any(each.lost or set(each.conduct) - {Conduct.OK.value} for each, _ in found):
        return None
    for _, trials in found:
        for trial in trials:
            if trial.result is not None and trial.result.outcome is None:
                return trial.trouble
    return None


def tally(trials: Sequence[Trial]) -> Tally:
    """Add up one bot's matches."""
    seen = [(trial.result, trial.seat) for trial in trials if trial.result is not None and trial.result.outcome]
    found = mean_points(list(enumerate(shares))) if (shares := _shares(seen)) else None
    return Tally(
        matches=len(seen),
        started=sum(result.conduct[seat] is not Conduct.NEVER_STARTED for result, seat in seen),
        conduct=dict(Counter(result.conduct[seat].value for result, seat in seen)),
        wins=sum(result.outcome is not None and seat in result.outcome.winners for result, seat in seen),
        mean_points=None if found is None else found.mean,
        interval=None if found is None else (found.low, found.high),
        windows=sum(result.windows[seat] for result, seat in seen),
        refused=sum(result.refused[seat] for result, seat in seen if result.refused),
        lost=sum(_lost(result, seat) for result, seat in seen),
        report=_together([result.report(seat) for result, seat in seen]),
        troubles=tuple(trial.trouble for trial in trials if trial.trouble),
    )


def _shares(seen: Sequence[tuple[Result, int]]) -> list[float]:
    return [points(result.outcome, seat) for result, seat in seen if result.outcome is not None]


def _lost(result: Result, seat: int) -> int:
    """Count defaults by the bot's own fault: it was late, had disconnected, or submitted illegal actions."""
    report = result.report(seat)
    by_time = report.late + report.unanswered
    lost = min(by_time, result.verdicts[seat].get(Verdict.BOT, 0)) if result.verdicts else by_time
    lost += report.fallbacks
    if result.conduct[seat] is not Conduct.OK:
        lost += max(0, result.defaults[seat] - by_time - report.asked_default)
    return lost


def _together(reports: Sequence[SeatReport]) -> SeatReport:
    first = next((report for report in reports if report.loss), SeatReport())
    kinds: Counter[tuple[str, str]] = Counter()
    for report in reports:
        kinds.update({(each.refusal, each.text): each.times for each in report.complaints})
    total = summed(reports)
    return replace(
        total,
        loss=first.loss,
        last_line=first.last_line or total.last_line,
        complaints=tuple(
            Complaint(refusal, text, times) for (refusal, text), times in kinds.most_common(MOST_KINDS)
        ),
    )
