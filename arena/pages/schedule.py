"""What is being played and what comes next. The seed that deals are drawn from is never said."""

from collections.abc import Sequence
from typing import Any

from arena.pages.competition import Overview
from arena.pages.matches import seats_cell
from arena.pages.tables import Cell, Table, in_line, listed, table
from arena.pages.template import name
from arena.quantities import counted
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
    rows = []
    for (number, seating, _), block in matches:
        shift = block.shifts[seating] if seating < len(block.shifts) else 0
        seated = block.entrants[-shift:] + block.entrants[:-shift] if shift else block.entrants
        rows.append([Cell(match_name(number, seating)), seats_cell(seated, overview.found.digest)])
    return table("Being played now", ("match", "seats"), rows, head="match")


def _coming(overview: Overview, blocks: Sequence[Block]) -> Table:
    labels, house = overview.found.digest.labels, overview.found.digest.house
    rows = []
    for block in blocks:
        first, last = match_name(block.number, 0), match_name(block.number, len(block.shifts) - 1)
        names = [labels[each] for each in block.entrants if each != house]
        houses = len(block.entrants) - len(names)
        more = [f", {counted(houses, 'house bot')}"] if houses else []
        rows.append(
            [
                Cell(first if first == last else f"{first} to {last}"),
                Cell(str(block.round + 1)),
                in_line(*listed(names), *more),
            ]
        )
    return table("What comes next", ("matches", "round", "bots"), rows, head="matches")
