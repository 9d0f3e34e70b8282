"""What a regression test found, as people read it and as programs do."""

from math import log
from pathlib import Path
from typing import Any

import msgspec

from arena.quantities import counted, duration
from arena.regression import BASE, FIELD, HEAD, Finding, Regression, evidence
from arena.reports.bots import note, notes, reports_json
from arena.reports.markdown import escaped, table_lines
from arena.reports.tournament import attempts_json
from arena.schedule import TWO, Cells, conduct_columns
from arena.statistics import ELO, Anytime, Progress, Sprt, StandingsRow, Verdict
from arena.tables import Grid, grid_of
from arena.tournament import TRANSCRIPTS
from referee.printable import printable

WORDS = {
    Verdict.ACCEPTED: "accepted: head is better",
    Verdict.REJECTED: "rejected: head is not better",
    Verdict.UNDECIDED: "undecided",
}


def hypotheses_text(test: Sprt | Anytime) -> str:
    """What was held against what."""
    if isinstance(test, Sprt):
        held = f"H0: {test.elo0:+zg} Elo, H1: {test.elo1:+zg} Elo ({test.model})"
    else:
        held = f"H0: a mean difference of at most {test.low:+zg} points a match, H1: of at least {test.high:+zg}"
    return f"{held}; alpha {test.alpha:g}, beta {test.beta:g}"


def finding_lines(regression: Regression, finding: Finding) -> list[str]:
    """The finding in a few lines."""
    state = finding.state
    lines = [
        f"{WORDS[state.verdict]}, after {counted(state.blocks, 'block')} of at most {regression.limit}",
        *notes(regression.arena.labels, finding.reports, _logs(regression)),
        hypotheses_text(regression.test),
        evidence(regression.test, state),
    ]
    if isinstance(state, Progress):
        lines.append(f"blocks with 0, 0.5, 1, 1.5 and 2 points: {', '.join(map(str, state.counts))}")
    lines.append(difference_text(regression.test, _mean(finding.state), finding.interval))
    if regression.arena.kept:
        lines.append(f"bots kept from match to match, which may remember: {', '.join(regression.arena.kept)}")
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
            f"## {escaped(arena.form.game)} ({escaped(arena.variant)}): {WORDS[finding.state.verdict]}",
            "",
            *(f"- {escaped(line)}" for line in finding_lines(regression, finding)),
            f"- {counted(len(finding.voids), 'void attempt')}, made again; {seconds} of play; seed {finding.seed}",
            "",
            *table_lines(*_rows(regression, finding)),
            "",
        ]
    )


def broken_markdown(regression: Regression, why: str) -> str:
    """The summary of a test in which head cannot start."""
    arena = regression.arena
    title = f"{escaped(arena.form.game)} ({escaped(arena.variant)}): {WORDS[Verdict.REJECTED]}"
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
        "verdict": state.verdict.value,
        "game": arena.form.game,
        "variant": arena.variant,
        "base": bots[BASE],
        "head": bots[HEAD],
        "field": bots[FIELD:],
        "test": msgspec.to_builtins(test),
        "blocks": state.blocks,
        "limit": regression.limit,
        "matches": state.blocks * regression.seatings,
        "difference": {"mean": _mean(state), "low": low, "high": high},
    }
    if isinstance(state, Progress) and isinstance(test, Sprt):
        found |= {
            "counts": state.counts,
            "llr": state.llr,
            "bounds": [test.lower, test.upper],
            "elo": {"elo": elo(_mean(state)), "low": elo(low), "high": elo(high)},
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


def _mean(state: Any) -> float:
    """Head's mean points a match minus base's."""
    if not isinstance(state, Progress):
        return float(state.mean)
    return sum((index / 2 - 1) * count for index, count in enumerate(state.counts)) / max(1, state.blocks)


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
        (*_results(label if label.endswith(bot.given) else f"{label} ({bot.given})", row, seats), *behaved)
        for label, bot, row, behaved in named
    ]
    return ("bot", "played", "W-T-L" if seats == TWO else "wins", "mean points", *last), rows


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
