"""What a regression test found, as people read it and as programs do."""

from collections.abc import Callable
from math import inf, log
from pathlib import Path
from typing import Any

import msgspec

from arena.config import called
from arena.quantities import counted, duration
from arena.regression import BASE, FIELD, HEAD, Finding, History, Regression, UsageFinding, answers, evidence
from arena.reports.aside import asides_json
from arena.reports.bots import note, notes, reports_json
from arena.reports.markdown import escaped, table_lines
from arena.reports.tournament import attempts_json
from arena.schedule import TWO, Cells, conduct_columns
from arena.statistics import ELO, Anytime, Progress, Score, Sprt, StandingsRow, Verdict
from arena.tables import Grid, grid_of
from arena.tournament import TRANSCRIPTS
from referee.printable import printable

USED = {"time": "processor time per move", "memory": "peak memory"}


def verdict_text(test: Sprt | Anytime, found: Finding | History) -> str:
    """The verdict in words: `accepted: head is better`."""
    return f"{found.verdict.value}: {answer_text(test, found)}".removesuffix(": ")


def answer_text(test: Sprt | Anytime, found: Finding | History) -> str:
    """What the verdict says of head; empty if it is undecided."""
    yes, no = answers(test)
    if found.verdict is Verdict.ACCEPTED:
        limits = " and ".join(each.limit.resource for each in found.usage)
        return f"{yes}, within its {limits} limit{'s' * (len(found.usage) > 1)}" if limits else yes
    if found.verdict is Verdict.UNDECIDED:
        return ""
    wrong = [no] if found.state.verdict is Verdict.REJECTED else []
    wrong += [
        f"head uses more than {each.limit.most:g} times base's {USED[each.limit.resource]}"
        for each in found.usage
        if each.state.verdict is Verdict.REJECTED
    ]
    return "; ".join(wrong)


def headline(regression: Regression, finding: Finding) -> str:
    """What head won and how much better it is: `head wins 34 of 34; at least +196 Elo`."""
    return headline_of(regression.test, (finding.standings[BASE], finding.standings[HEAD]), finding.interval)


def headline_of(test: Sprt | Anytime, rows: tuple[Score, Score], interval: tuple[float, float]) -> str:
    """The same of base's and head's scores, and the interval of head's lead in points a match."""
    base, head = rows
    if isinstance(test, Anytime):
        means = f"head gets {head.mean or 0:.3f} points a match, base {base.mean or 0:.3f}"
        return f"{means}; {_bounds(interval, '{:+z.3f}'.format)}"
    ties = f" and draws {head.ties}" if head.ties else ""
    share = f"head wins {head.wins} of {head.played}{ties}"
    low, high = (elo(each) for each in interval)
    if low is None and high is None:
        return f"{share}; too few matches to say how much Elo that is"
    if low is None:
        return f"{share}; at most {high:+z.0f} Elo"
    if high is None:
        return f"{share}; at least {low:+z.0f} Elo"
    return f"{share}; {_bounds((low, high), '{:+z.0f}'.format)} Elo"


def _bounds(interval: tuple[float, float], form: Callable[[float], str]) -> str:
    return f"between {form(interval[0])} and {form(interval[1])}"


def usage_text(found: UsageFinding) -> str:
    """How a test of time or memory came out: `time: head uses 1.03 times base's processor time per move; ...`."""
    limit, state = found.limit, found.state
    name = limit.resource
    unmeasured = f"; {counted(state.unmeasured, 'block')} without a measurement" if state.unmeasured else ""
    if found.ratio is None:
        return f"{name}: not measured{unmeasured}"
    middle, low, high = found.ratio
    within = f"95 % interval: {low:.2f} to {high:.2f}" if high < inf else "too few blocks for an interval"
    words = {
        Verdict.ACCEPTED: "within the limit",
        Verdict.REJECTED: "above the limit",
        Verdict.UNDECIDED: "not decided",
    }
    return (
        f"{name}: head uses {middle:.2f} times base's {USED[name]} ({within});"
        f" limit {limit.most:g}: {words[state.verdict]} after {counted(state.blocks, 'block')}{unmeasured}"
    )


def hypotheses_text(test: Sprt | Anytime) -> str:
    """What was held against what, for those who want to know."""
    if isinstance(test, Sprt):
        held = f"H0: {test.elo0:+zg} Elo, H1: {test.elo1:+zg} Elo ({test.model})"
    else:
        held = f"H0: a mean difference of at most {test.low:+zg} points a match, H1: of at least {test.high:+zg}"
    return f"{held}; alpha {test.alpha:g}, beta {test.beta:g}"


def finding_lines(regression: Regression, finding: Finding) -> list[str]:
    """The finding in a few lines: what head won, the verdict, and below them the statistics."""
    state, matches = finding.state, regression.seatings
    played = f"{finding.blocks * matches:,} of at most {counted(regression.limit * matches, 'match', ',')}"
    lines = [
        headline(regression, finding),
        f"{verdict_text(regression.test, finding)}, after {played}",
        *map(usage_text, finding.usage),
        *notes(regression.arena.labels, finding.reports, _logs(regression)),
        hypotheses_text(regression.test),
        evidence(regression.test, state),
    ]
    if isinstance(state, Progress):
        lines.append(f"blocks with 0, 0.5, 1, 1.5 and 2 points: {', '.join(map(str, state.counts))}")
    if state.blocks < finding.blocks and state.verdict is not Verdict.UNDECIDED:
        lines.append(f"strength was decided after {counted(state.blocks * matches, 'match', ',')}")
    lines.append(difference_text(regression.test, finding.mean, finding.interval))
    if regression.arena.kept:
        kept = ", ".join(regression.arena.kept)
        lines.append(f"bots kept from match to match, so they may remember earlier ones: {kept}")
    return lines


def head_lost(finding: Finding) -> str:
    """Why head was lost, where it was, behind `; ` for the end of a sentence."""
    head = finding.reports[HEAD]
    return f"; head: {printable(note(head)[0])}" if head.lost else ""


def finding_table(regression: Regression, finding: Finding) -> Grid:
    """A row for each bot."""
    return grid_of(*_rows(regression, finding))


def finding_markdown(regression: Regression, finding: Finding) -> str:
    """A summary for a CI's page."""
    arena = regression.arena
    seconds = duration(1e6 * finding.seconds)
    return "\n".join(
        [
            f"## {escaped(arena.form.game)} ({escaped(arena.variant)}): {verdict_text(regression.test, finding)}",
            "",
            *(f"- {escaped(line)}" for line in finding_lines(regression, finding)),
            f"- {counted(len(finding.voids), 'void attempt')} replayed; {seconds} of play; seed {finding.seed}",
            "",
            *table_lines(*_rows(regression, finding)),
            "",
        ]
    )


def unplayed_markdown(regression: Regression, verdict: Verdict, why: str) -> str:
    """Return the summary of a test that is over before its first match."""
    arena = regression.arena
    title = f"{escaped(arena.form.game)} ({escaped(arena.variant)}): {verdict.value}"
    return f"## {title}\n\n- {escaped(why)}\n"


def finding_json(regression: Regression, finding: Finding) -> dict[str, Any]:
    """Everything that the table says, and what it was played with."""
    arena, state, test = regression.arena, finding.state, regression.test
    low, high = finding.interval
    bots = [
        {"label": label, "bot": bot.given, "version": bot.version, "content": bot.content}
        for label, bot in zip(arena.labels, arena.bots, strict=True)
    ]
    found: dict[str, Any] = {
        "verdict": finding.verdict.value,
        "headline": headline(regression, finding),
        "answer": answer_text(regression.test, finding),
        "game": arena.form.game,
        "variant": arena.variant,
        "base": bots[BASE],
        "head": bots[HEAD],
        "field": bots[FIELD:],
        "test": msgspec.to_builtins(test),
        "blocks": state.blocks,
        "limit": regression.limit,
        "matches": finding.blocks * regression.seatings,
        "difference": {"mean": finding.mean, "low": low, "high": high},
        "strength": state.verdict.value,
        **{each.limit.resource: _usage_json(each) for each in finding.usage},
    }
    if isinstance(state, Progress) and isinstance(test, Sprt):
        found |= {
            "counts": state.counts,
            "llr": state.llr,
            "bounds": [test.lower, test.upper],
            "elo": {"elo": elo(finding.mean), "low": elo(low), "high": elo(high)},
        }
    else:
        found |= {"against_h0": state.against_low, "against_h1": state.against_high}  # type: ignore[union-attr]
    return found | {
        "seed": finding.seed,
        "isolation": arena.form.isolation,
        "processes": arena.form.policy.processes,
        "bots": [_row_json(label, row) for label, row in zip(arena.labels, finding.standings, strict=True)],
        "reports": reports_json(arena.labels, finding.reports, _logs(regression)),
        "void": attempts_json(finding.voids),
        **asides_json(finding.asides, arena.labels),
        "lost": attempts_json(finding.lost),
        "seconds": round(finding.seconds, 3),
        "results": str(arena.results),
    }


def _logs(regression: Regression) -> Path:
    return regression.arena.results / TRANSCRIPTS


def elo(difference: float) -> float | None:
    """Logistic Elo of a mean difference in points a match between two; None where all, or none, were won."""
    share = (1 + difference) / 2
    return ELO * log(share / (1 - share)) if 0 < share < 1 else None


def _usage_json(found: UsageFinding) -> dict[str, Any]:
    """A test of time or memory; numbers that are not known are None."""
    middle, low, high = found.ratio or (None, None, None)
    return {
        "verdict": found.state.verdict.value,
        "limit": found.limit.most,
        "ratio": middle,
        "low": low,
        "high": None if high == inf else high,
        "blocks": found.state.blocks,
        "within": found.state.within,
        "unmeasured": found.state.unmeasured,
        "for_within": found.state.for_within,
        "for_above": found.state.for_above,
    }


def difference_text(test: Sprt | Anytime, mean: float, interval: tuple[float, float]) -> str:
    """By how much head is better, and where that may be; in points a match, of games of two seats in Elo."""
    low, high = interval
    if isinstance(test, Sprt):
        return f"Elo {_elo_text(mean)} (95 % interval: {_elo_text(low)} to {_elo_text(high)}, logistic)"
    return f"difference {mean:+z.3f} points a match (95 % interval: {low:+z.3f} to {high:+z.3f})"


def _elo_text(difference: float) -> str:
    found = elo(difference)
    if found is None:
        return f"{'+' if difference > 0 else '-'}inf"
    return f"{found:+z.1f}"


def _rows(regression: Regression, finding: Finding) -> tuple[Cells, list[Cells]]:
    """Headings and a row for each bot."""
    last, conducts = conduct_columns(finding.standings)
    seats = regression.arena.seats
    named = zip(regression.arena.labels, regression.arena.bots, finding.standings, conducts, strict=True)
    rows = [
        (*_results(_named(label, called(bot.given)), row, seats), *behaved) for label, bot, row, behaved in named
    ]
    return ("bot", "played", "W-T-L" if seats == TWO else "wins", "mean points", *last), rows


def _named(label: str, bot: str) -> str:
    return label if label.endswith(bot) else f"{label} ({bot})"


def _results(name: str, row: StandingsRow, seats: int) -> Cells:
    return (
        name,
        str(row.played),
        row.record if seats == TWO else str(row.wins),
        "-" if row.mean is None else f"{row.mean:.3f}",
    )


def _row_json(label: str, row: StandingsRow) -> dict[str, Any]:
    return {
        "label": label,
        "played": row.played,
        "wins": row.wins,
        "ties": row.ties,
        "losses": row.losses,
        "points": row.points,
        "mean_points": row.mean,
        "faults": row.faults,
        "windows": row.windows,
        "defaults": row.defaults,
        "refused": row.refused,
        "us_per_window": None if row.mean_us is None else round(row.mean_us),
    }
