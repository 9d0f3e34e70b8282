"""The finding of a regression test: lines, tables and JUnit XML for people and CI, JSON for programs."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from arena.config import called
from arena.quantities import Column, Table, duration, pluralise, values
from arena.regression import (
    BASE,
    FIELD,
    HEAD,
    Finding,
    Regression,
    RegressionHistory,
    UsageFinding,
    answers,
    evidence,
)
from arena.reports.files import escaped, markdown_table
from arena.reports.standings import note, notes, reports_json
from arena.reports.tournament import asides_json, attempts_json
from arena.schedule import TWO
from arena.statistics import (
    ELO,
    FOR_PROGRAMS,
    MEAN_POINTS,
    PLAYED,
    RECORD,
    WHOLE_US_PER_WINDOW,
    WINS,
    Anytime,
    BotColumn,
    Score,
    Sprt,
    SprtState,
    SprtVerdict,
    StandingsRow,
    conduct_columns,
)
from arena.terminal import Grid, grid
from arena.tournament import TRANSCRIPTS
from referee.display_text import printable

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

USED = {"time": "processor time per move", "memory": "peak memory"}
JSON_ORDER = ("label", "played", "wins", "ties", "losses", "points", "mean_points", "faults", "windows")
"""First keys of a bot in JSON, which readers of earlier versions know in this order."""
LONGEST = 2_000
"""Maximum number of characters of a text in XML; names and last lines come from bots."""
MOST_LINES = 60
"""Maximum number of lines of the output in XML."""
TAGS = {SprtVerdict.REJECTED: "failure", SprtVerdict.UNDECIDED: "skipped"}
STARTS = "head starts"
"""Name of the test case that fails if head does not start."""


def verdict_text(test: Sprt | Anytime, found: Finding | RegressionHistory) -> str:
    """Return the verdict with its answer: `accepted: head is better`."""
    return f"{found.verdict.value}: {answer_text(test, found)}".removesuffix(": ")


def answer_text(test: Sprt | Anytime, found: Finding | RegressionHistory) -> str:
    """Return what the verdict means for head; empty if it is undecided."""
    yes, no = answers(test)
    if found.verdict is SprtVerdict.ACCEPTED:
        if not found.usage:
            return yes
        limits = " and ".join(each.limit.resource for each in found.usage)
        return f"{yes}, within its {limits} limit{'s' * (len(found.usage) > 1)}"
    if found.verdict is SprtVerdict.UNDECIDED:
        return ""
    wrong = [no] * (found.state.verdict is SprtVerdict.REJECTED)
    for each in found.usage:
        if each.state.verdict is SprtVerdict.REJECTED:
            wrong.append(f"head uses more than {each.limit.most:g} times base's {USED[each.limit.resource]}")
    return "; ".join(wrong)


def headline(regression: Regression, finding: Finding) -> str:
    """Return head's score and lead: `head wins 34 of 34; at least +196 Elo`."""
    return headline_of(regression.test, (finding.standings[BASE], finding.standings[HEAD]), finding.interval)


def headline_of(test: Sprt | Anytime, rows: tuple[Score, Score], interval: tuple[float, float]) -> str:
    """Return the headline for base's and head's scores, and its lead's interval in points per match."""
    base, head = rows
    if isinstance(test, Anytime):
        means = f"head gets {head.mean or 0:.3f} points a match, base {base.mean or 0:.3f}"
        return f"{means}; {_bounds(interval, '{:+z.3f}'.format)}"
    share = f"head wins {head.wins} of {head.played}"
    if head.ties:
        share += f" and draws {head.ties}"
    low, high = map(elo, interval)
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
    """Return the result of a test of time or memory: `time: head uses 1.03 times base's ...`."""
    limit, state = found.limit, found.state
    name = limit.resource
    unmeasured = ""
    if state.unmeasured:
        unmeasured = f"; {pluralise(state.unmeasured, 'block')} without a measurement"
    if found.ratio is None:
        return f"{name}: not measured{unmeasured}"
    middle, low, high = found.ratio
    within = f"95 % interval: {low:.2f} to {high:.2f}" if high < inf else "too few blocks for an interval"
    words = {
        SprtVerdict.ACCEPTED: "within the limit",
        SprtVerdict.REJECTED: "above the limit",
        SprtVerdict.UNDECIDED: "not decided",
    }
    return (
        f"{name}: head uses {middle:.2f} times base's {USED[name]} ({within});"
        f" limit {limit.most:g}: {words[state.verdict]} after {pluralise(state.blocks, 'block')}{unmeasured}"
    )


def hypotheses_text(test: Sprt | Anytime) -> str:
    """Return the hypotheses of a test and its error rates."""
    if isinstance(test, Sprt):
        held = f"H0: {test.elo0:+zg} Elo, H1: {test.elo1:+zg} Elo ({test.model})"
    else:
        held = f"H0: a mean difference of at most {test.low:+zg} points a match, H1: of at least {test.high:+zg}"
    return f"{held}; alpha {test.alpha:g}, beta {test.beta:g}"


def finding_lines(regression: Regression, finding: Finding) -> list[str]:
    """Return the finding as lines: headline and verdict first, then problems of bots and statistics."""
    state, matches = finding.state, regression.seatings
    played = f"{finding.blocks * matches:,} of at most {pluralise(regression.limit * matches, 'match', ',')}"
    lines = [
        headline(regression, finding),
        f"{verdict_text(regression.test, finding)}, after {played}",
        *map(usage_text, finding.usage),
        *notes(regression.arena.labels, finding.reports, _logs(regression)),
        hypotheses_text(regression.test),
        evidence(regression.test, state),
    ]
    if isinstance(state, SprtState):
        lines.append(f"blocks with 0, 0.5, 1, 1.5 and 2 points: {', '.join(map(str, state.counts))}")
    if state.blocks < finding.blocks and state.verdict is not SprtVerdict.UNDECIDED:
        lines.append(f"strength was decided after {pluralise(state.blocks * matches, 'match', ',')}")
    lines.append(difference_text(regression.test, finding.mean, finding.interval))
    if regression.arena.kept:
        kept = ", ".join(regression.arena.kept)
        lines.append(f"bots kept from match to match, so they may remember earlier ones: {kept}")
    return lines


def head_lost(finding: Finding) -> str:
    """Return why head was lost, after `; ` for the end of a sentence; empty if it was not."""
    head = finding.reports[HEAD]
    if not head.lost:
        return ""
    return f"; head: {printable(note(head)[0])}"


def finding_table(regression: Regression, finding: Finding) -> Grid:
    """Return the table of results with one row per bot."""
    return grid(_table(regression, finding))


def finding_markdown(regression: Regression, finding: Finding) -> str:
    """Return the summary of a test for a CI page."""
    arena = regression.arena
    seconds = duration(1e6 * finding.seconds)
    title = f"{escaped(arena.form.game)} ({escaped(arena.variant)}): {verdict_text(regression.test, finding)}"
    lines = [f"## {title}", ""]
    lines += [f"- {escaped(line)}" for line in finding_lines(regression, finding)]
    lines.append(
        f"- {pluralise(len(finding.voids), 'void attempt')} replayed; {seconds} of play; seed {finding.seed}"
    )
    lines += ["", *markdown_table(_table(regression, finding)), ""]
    return "\n".join(lines)


def unplayed_markdown(regression: Regression, verdict: SprtVerdict, why: str) -> str:
    """Return the summary of a test that ended before its first match."""
    arena = regression.arena
    title = f"{escaped(arena.form.game)} ({escaped(arena.variant)}): {verdict.value}"
    return f"## {title}\n\n- {escaped(why)}\n"


def finding_json(regression: Regression, finding: Finding) -> dict[str, Any]:
    """Return the finding, the bots and the terms as plain values."""
    arena, state, test = regression.arena, finding.state, regression.test
    low, high = finding.interval
    bots = []
    for label, bot in zip(arena.labels, arena.bots, strict=True):
        bots.append({"label": label, "bot": bot.given, "version": bot.version, "content": bot.content})
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
    if isinstance(state, SprtState) and isinstance(test, Sprt):
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
        "bots": list(map(_row_json, arena.labels, finding.standings)),
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
    """Return the logistic Elo of a mean difference in points per match; None if one side won everything."""
    share = (1 + difference) / 2
    if not 0 < share < 1:
        return None
    return ELO * log(share / (1 - share))


def _usage_json(found: UsageFinding) -> dict[str, Any]:
    """Return the result of a test of time or memory as plain values; unknown numbers are None."""
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
    """Return head's lead with its interval: in Elo for games of two seats, otherwise in points per match."""
    low, high = interval
    if isinstance(test, Sprt):
        return f"Elo {_elo_text(mean)} (95 % interval: {_elo_text(low)} to {_elo_text(high)}, logistic)"
    return f"difference {mean:+z.3f} points a match (95 % interval: {low:+z.3f} to {high:+z.3f})"


def _elo_text(difference: float) -> str:
    found = elo(difference)
    if found is None:
        return f"{'+' if difference > 0 else '-'}inf"
    return f"{found:+z.1f}"


def _table(regression: Regression, finding: Finding) -> Table[StandingsRow]:
    """Return the table of results; bots are in the order of the standings."""
    names = {}
    for label, bot, row in zip(regression.arena.labels, regression.arena.bots, finding.standings, strict=True):
        name = called(bot.given)
        names[row.entrant] = label if label.endswith(name) else f"{label} ({name})"
    column: BotColumn = Column("bot", lambda row: names[row.entrant], is_text=True)
    score = RECORD if regression.arena.seats == TWO else WINS
    return Table([column, PLAYED, score, MEAN_POINTS, *conduct_columns(finding.standings)], finding.standings)


def _row_json(label: str, row: StandingsRow) -> dict[str, Any]:
    found = {"label": label} | values((*FOR_PROGRAMS, WHOLE_US_PER_WINDOW), row)
    return {key: found[key] for key in JSON_ORDER} | found


def finding_junit(regression: Regression, finding: Finding) -> bytes:
    """Return the JUnit XML of a test that was played, with one test case per question."""
    lines = finding_lines(regression, finding)
    cases = [_case(regression, STARTS, None, "")]
    strength = finding.state.verdict
    yes, no = answers(regression.test)
    answer = {SprtVerdict.ACCEPTED: yes, SprtVerdict.REJECTED: no, SprtVerdict.UNDECIDED: "undecided"}[strength]
    cases.append(_case(regression, "strength", strength, f"{answer}: {headline(regression, finding)}"))
    for each in finding.usage:
        name = f"{USED[each.limit.resource]}: at most {each.limit.most:g} times base's"
        cases.append(_case(regression, name, each.state.verdict, usage_text(each)))
    return _file(regression, cases, lines, finding.seconds)


def unplayed_junit(regression: Regression, verdict: SprtVerdict, why: str) -> bytes:
    """Return the JUnit XML of a test that ended before its first match, or has not ended yet."""
    name = STARTS if verdict is SprtVerdict.REJECTED else "strength"
    return _file(regression, [_case(regression, name, verdict, why)], [why], 0)


def _case(regression: Regression, name: str, verdict: SprtVerdict | None, text: str) -> "ET.Element":
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - few commands write XML

    arena = regression.arena
    case = ET.Element("testcase", name=name, classname=_bounded(f"arena.regress.{arena.form.game}"), time="0")
    if verdict is not None and verdict in TAGS:
        ET.SubElement(case, TAGS[verdict], message=_bounded(text), type=verdict.value)
    return case


def _file(regression: Regression, cases: "Sequence[ET.Element]", lines: Sequence[str], seconds: float) -> bytes:
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - as above

    arena = regression.arena
    counts = Counter(child.tag for case in cases for child in case)
    numbers = {
        "tests": str(len(cases)),
        "failures": str(counts["failure"]),
        "errors": "0",
        "skipped": str(counts["skipped"]),
    }
    suites = ET.Element("testsuites", numbers)
    suite = ET.SubElement(suites, "testsuite", {"name": _bounded(f"arena regress {arena.form.game}"), **numbers})
    suite.set("time", f"{seconds:.3f}")
    properties = ET.SubElement(suite, "properties")
    for label, bot in zip(arena.labels, arena.folders, strict=True):
        ET.SubElement(properties, "property", name=_bounded(label), value=_bounded(f"{bot.given} {bot.content}"))
    suite.extend(cases)
    ET.SubElement(suite, "system-out").text = "\n".join(map(_bounded, lines[:MOST_LINES]))
    ET.indent(suites)
    return bytes(ET.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def _bounded(text: str) -> str:
    """Return a text shortened, and without characters that XML cannot contain."""
    shown = printable(text)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
