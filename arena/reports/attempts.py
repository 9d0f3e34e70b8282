"""Attempts at matches that did not count, blocks that are set aside, and bots that are left out."""

from collections.abc import Sequence
from typing import Any, assert_never

from arena.config import entrant_label
from arena.quantities import pluralise
from arena.regression import Finding
from arena.tournament import Again, Asides, BlockSetAside, LeftOut, Results, left_out_now

SHOWN = 10
"""Maximum number of blocks that are listed for people; JSON has all."""
REGRESSION_LABELS = ("base", "head")
"""Labels of a regression test's first entrants."""


def attempts_text(results: Results | Finding) -> list[str]:
    """Return a line for each bot that is left out, for attempts that did not count, and for blocks set aside."""
    lines: list[str] = []
    others = 0
    labels: Sequence[str] = REGRESSION_LABELS
    if isinstance(results, Results):
        left_out = left_out_now(results.terms, results.events)
        lines += [f"left out: {label}: {why}" for label, why in left_out.items()]
        others, labels = len(results.set_aside), results.digest.labels
    if results.voids:
        lines.append(void_text(len(results.voids), others))
    if results.lost:
        lines.append(_lost_text(len(results.lost)))
    return lines + asides_text(results.asides, labels)


def void_text(voids: int, set_aside: int) -> str:
    """Return the number of void attempts as text. `set_aside` counts the other matches of their blocks."""
    were, of_them = ("was", "its block") if voids == 1 else ("were", "their blocks")
    again = f"; {pluralise(set_aside, 'other match')} of {of_them} too" if set_aside else ""
    return f"{pluralise(voids, 'attempt')} {were} void and played again{again}"


def _lost_text(lost: int) -> str:
    was, its = ("was", "its") if lost == 1 else ("were", "their")
    return f"{pluralise(lost, 'attempt')} {was} lost with {its} referee process and played again"


def attempts_json(attempts: Sequence[tuple[int, int, str]]) -> list[dict[str, Any]]:
    """Return attempts that did not count as plain values."""
    return [{"block": block, "seating": seating, "reason": reason} for block, seating, reason in attempts]


def left_out_json(results: Results) -> list[dict[str, str]]:
    """Return the bots that are left out as plain values."""
    left_out = left_out_now(results.terms, results.events)
    return [{"bot": label, "why": why} for label, why in left_out.items()]


def asides_text(asides: Asides, labels: Sequence[str]) -> list[str]:
    """Return a line for each block set aside, those that wait for the host first, and for bots not excused."""
    blocks = sorted(asides.blocks, key=lambda each: each.decision is not None)
    lines = [aside_text(each, labels) for each in blocks[:SHOWN]]
    if len(blocks) > SHOWN:
        lines.append(f"{pluralise(len(blocks) - SHOWN, 'more block')} set aside: --json has all")
    lines.extend(
        f"{entrant_label(labels, step.entrant)}: hold-ups no longer excuse it: {step.evidence}"
        for step in asides.own_doing
    )
    return lines


def aside_text(aside: BlockSetAside, labels: Sequence[str]) -> str:
    """Return what happened to a block that was set aside, on one line."""
    bot, evidence = entrant_label(labels, aside.set_aside.entrant), aside.set_aside.evidence
    attempts = pluralise(len(evidence), "attempt")
    last = f", most recently in {evidence[-1]}" if evidence else ""
    return f"block {aside.block + 1} {_state(aside, labels)}: {bot} alone was held up in {attempts} at it{last}"


def _state(aside: BlockSetAside, labels: Sequence[str]) -> str:
    match aside.decision:
        case None:
            return "is set aside, and waits for the host (arena decide)"
        case Again(unexcused=unexcused, by_host=by_host):
            whose = ", ".join(entrant_label(labels, entrant) for entrant in unexcused)
            how = f", and a hold-up does not excuse {whose} in it" if whose else ""
            who = "the host has it played again" if by_host else "it is played again"
            return f"was set aside, and {who}{how}"
        case LeftOut():
            return "was set aside, and left out by the host"
        case _ as unreachable:
            assert_never(unreachable)


def asides_json(asides: Asides, labels: Sequence[str]) -> dict[str, Any]:
    """Return blocks set aside and bots not excused as plain values. Blocks are counted from 0."""
    blocks = [
        {
            "block": each.block,
            "bot": entrant_label(labels, each.set_aside.entrant),
            "evidence": list(each.set_aside.evidence),
            "decision": _decision(each.decision),
            "by_host": each.decision is not None and getattr(each.decision, "by_host", True),
        }
        for each in asides.blocks
    ]
    own_doing = [
        {"bot": entrant_label(labels, step.entrant), "evidence": step.evidence} for step in asides.own_doing
    ]
    return {"blocks_set_aside": blocks, "not_excused": own_doing}


def _decision(decision: Again | LeftOut | None) -> str | None:
    match decision:
        case None:
            return None
        case Again(unexcused=unexcused):
            return "again, not excused" if unexcused else "again"
        case LeftOut():
            return "left out"
        case _ as unreachable:
            assert_never(unreachable)
