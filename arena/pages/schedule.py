"""The matches being played and the next blocks. Pages never show the seed from which deals are drawn."""

from collections.abc import Sequence
from typing import Any

from arena.pages.competition import Overview
from arena.pages.matches import seats_cell
from arena.pages.tables import Cell, Table, in_line, listed, table
from arena.pages.template import name
from arena.quantities import counted
from arena.schedule import Block, match_name

MOST_NOW = 200
"""Maximum rows of the table of matches being played."""
MOST_NAMED = 5
"""Maximum number of a block's bots that the kiosk names."""


def schedule_parts(overview: Overview) -> dict[str, Any]:
    """Return the values for the template."""
    coming = {block.number: block for block in overview.coming}
    under_way = _under_way(overview)
    begun = {block for block, _, _ in under_way}
    now = [(each, coming[each[0]]) for each in under_way[-MOST_NOW:] if each[0] in coming]
    return {
        "now": _now(overview, now),
        "coming": _coming(overview, [block for number, block in coming.items() if number not in begun]),
    }


def coming_text(overview: Overview, most: int = 2) -> list[str]:
    """Return up to `most` next pairings of which no match has started, without house bots."""
    begun = {block for block, _, _ in _under_way(overview)}
    labels, house = overview.found.digest.labels, overview.found.digest.house
    blocks = [block for block in overview.coming if block.number not in begun]
    return [_pairing([name(labels[each]) for each in block.entrants if each != house]) for block in blocks[:most]]


def _pairing(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return " \N{EN DASH} ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _under_way(overview: Overview) -> tuple[tuple[int, int, str], ...]:
    """Return the matches being played. A stopped arena leaves unfinished attempts, which do not count."""
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
