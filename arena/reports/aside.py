"""What people and programs are told of blocks that one bot's hold-ups made void again and again."""

from collections.abc import Sequence
from typing import Any, assert_never

from arena.config import entrant_label
from arena.quantities import counted
from arena.tournament import Again, Asides, BlockSetAside, LeftOut

SHOWN = 10
"""Blocks that are told of in lines; JSON has all."""


def asides_text(asides: Asides, labels: Sequence[str]) -> list[str]:
    """Return a line for each block that was set aside, those that wait for the host first, and each such bot."""
    blocks = sorted(asides.blocks, key=lambda each: each.decision is not None)
    lines = [aside_text(each, labels) for each in blocks[:SHOWN]]
    if len(blocks) > SHOWN:
        lines.append(f"{counted(len(blocks) - SHOWN, 'more block')} set aside: --json has all")
    lines.extend(
        f"{entrant_label(labels, step.entrant)}: hold-ups no longer excuse it: {step.evidence}"
        for step in asides.own_doing
    )
    return lines


def aside_text(aside: BlockSetAside, labels: Sequence[str]) -> str:
    """Return what became of a block that was set aside, in one line."""
    bot, evidence = entrant_label(labels, aside.set_aside.entrant), aside.set_aside.evidence
    attempts = counted(len(evidence), "attempt")
    last = f", most recently in {evidence[-1]}" if evidence else ""
    return f"block {aside.block + 1} {_state(aside, labels)}: {bot} alone was held up in {attempts} at it{last}"


def asides_json(asides: Asides, labels: Sequence[str]) -> dict[str, Any]:
    """Return all of it as plain values; blocks are counted from 0."""
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
