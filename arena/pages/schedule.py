"""What is being played and what comes next. The seed that deals are drawn from is never said."""

from collections.abc import Sequence
from typing import Any

from arena.pages.competition import Overview
from arena.pages.tables import Cell, Table, table
from arena.pages.template import name
from arena.schedule import Block, match_name

MOST_NOW = 200
"""Rows of the table of matches that are being played."""
MOST_NAMED = 5
"""Bots of a block that the kiosk names."""


def schedule_parts(overview: Overview) -> dict[str, Any]:
    """What the template shows."""
    coming = {block.number: block for block in overview.coming}
    under_way = _under_way(overview)
    begun = {block for block, _, _ in under_way}
    now = [(each, coming[each[0]]) for each in under_way[-MOST_NOW:] if each[0] in coming]
    return {
        "now": _now(overview, now),
        "coming": _coming(overview, [block for number, block in coming.items() if number not in begun]),
    }


def coming_text(overview: Overview, most: int = 2) -> list[str]:
    """The pairings that come next, of which no match has begun; without the house."""
    begun = {block for block, _, _ in _under_way(overview)}
    labels, house = overview.found.digest.labels, overview.found.digest.house
    blocks = [block for block in overview.coming if block.number not in begun]
    return [_pairing([name(labels[each]) for each in block.entrants if each != house]) for block in blocks[:most]]


def _pairing(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return " \N{EN DASH} ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _under_way(overview: Overview) -> tuple[tuple[int, int, str], ...]:
    """The matches that are being played. An arena that was stopped leaves attempts without an end."""
    return overview.times.under_way if overview.running else ()


def _now(overview: Overview, matches: Sequence[tuple[tuple[int, int, str], Block]]) -> Table:
    labels = overview.found.digest.labels
    rows = []
    for (number, seating, _), block in matches:
        shift = block.shifts[seating] if seating < len(block.shifts) else 0
        seated = block.entrants[-shift:] + block.entrants[:-shift] if shift else block.entrants
        rows.append([Cell(match_name(number, seating)), Cell(", ".join(labels[each] for each in seated))])
    return table("Being played now", ("match", "seats"), rows, head="match")


def _coming(overview: Overview, blocks: Sequence[Block]) -> Table:
    labels = overview.found.digest.labels
    rows = [
        [
            Cell(str(block.number + 1)),
            Cell(str(block.round + 1)),
            Cell(", ".join(labels[each] for each in block.entrants)),
            Cell(str(len(block.shifts))),
        ]
        for block in blocks
    ]
    return table("What comes next", ("block", "round", "bots", "matches"), rows, head="block")
