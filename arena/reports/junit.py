"""A regression test as JUnit XML, which CI systems show: one test case a question. Pure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.regression import Finding, Regression, answers
from arena.reports.regression import USED, finding_lines, headline, usage_text
from arena.statistics import Verdict
from referee.printable import printable

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

LONGEST = 2_000
"""Characters of one text: names and last lines are the bots'."""
MOST_LINES = 60
TAGS = {Verdict.REJECTED: "failure", Verdict.UNDECIDED: "skipped"}
STARTS = "head starts"


def finding_junit(regression: Regression, finding: Finding) -> bytes:
    """Return the file of a test that was played."""
    lines = finding_lines(regression, finding)
    cases = [_case(regression, STARTS, None, "")]
    said = headline(regression, finding)
    strength = finding.state.verdict
    yes, no = answers(regression.test)
    answer = {Verdict.ACCEPTED: yes, Verdict.REJECTED: no, Verdict.UNDECIDED: "undecided"}[strength]
    cases.append(_case(regression, "strength", strength, f"{answer}: {said}"))
    for each in finding.usage:
        name = f"{USED[each.limit.resource]}: at most {each.limit.most:g} times base's"
        cases.append(_case(regression, name, each.state.verdict, usage_text(each)))
    return _file(regression, cases, lines, finding.seconds)


def unplayed_junit(regression: Regression, verdict: Verdict, why: str) -> bytes:
    """Return the file of a test that is over before its first match, or not over yet."""
    name = STARTS if verdict is Verdict.REJECTED else "strength"
    return _file(regression, [_case(regression, name, verdict, why)], [why], 0)


def _case(regression: Regression, name: str, verdict: Verdict | None, said: str) -> "ET.Element":
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - few commands write XML

    arena = regression.arena
    case = ET.Element("testcase", name=name, classname=_bounded(f"arena.regress.{arena.form.game}"), time="0")
    tag = None if verdict is None else TAGS.get(verdict)
    if tag is not None:
        assert verdict is not None  # noqa: S101 - it has a tag
        ET.SubElement(case, tag, message=_bounded(said), type=verdict.value)
    return case


def _file(regression: Regression, cases: "Sequence[ET.Element]", lines: Sequence[str], seconds: float) -> bytes:
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - as above

    arena = regression.arena
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": 0,
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    numbers = {name: str(count) for name, count in counts.items()}
    everything = ET.Element("testsuites", numbers)
    suite = ET.SubElement(
        everything, "testsuite", {"name": _bounded(f"arena regress {arena.form.game}"), **numbers}
    )
    suite.set("time", f"{seconds:.3f}")
    properties = ET.SubElement(suite, "properties")
    for label, bot in zip(arena.labels, arena.folders, strict=True):
        ET.SubElement(properties, "property", name=_bounded(label), value=_bounded(f"{bot.given} {bot.content}"))
    suite.extend(cases)
    ET.SubElement(suite, "system-out").text = "\n".join(map(_bounded, lines[:MOST_LINES]))
    ET.indent(everything)
    return bytes(ET.tostring(everything, encoding="utf-8", xml_declaration=True)) + b"\n"


def _bounded(text: str) -> str:
    """Return the text without what XML cannot hold, and not too long."""
    said = printable(text)
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"
