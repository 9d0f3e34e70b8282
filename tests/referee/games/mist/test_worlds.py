"""What the draw of Mist's worlds is, and what it is not: the example of docs/games/mist.md, counted out."""

from collections import Counter
from itertools import islice
from random import Random

import pytest
from msgspec import Raw

from protocol.games.mist import MistView, OpponentPlaced, Turn
from protocol.words import Event
from referee.games import GAMES
from referee.rules import Deal, ResolvedAction, Table
from tests.docs_pages import page, section, tables

MIST = GAMES["mist"]
VARIANT, FIRST, SEEN = "contractual-obligation", "C3", {"A1", "B5"}
WORLDS = 4_000


def told_after(table: Table, turn: Turn) -> tuple[Table, list[Event]]:
    """Play a turn of seat 1 on a table of its own; return that and what seat 0 is told."""
    after = table.fork()
    told = after.close((None, ResolvedAction(turn)))
    return after, [each.event for each in told if each.seat in (None, 0)]


def test_worlds_weigh_numbers_of_cells_alike_where_a_prior_by_number_does_not() -> None:
    table = Table(MIST, Deal(VARIANT, 1, Raw(b'{"first":0}')))
    before = [each.event for each in table.start]
    opened = table.close((ResolvedAction(Turn(cells=(FIRST,))), None))
    before += [each.event for each in opened if each.seat in (None, 0)]
    turns = [turn for turn in MIST.legal_actions(table.state, 1) if isinstance(turn, Turn) and not turn.swap]
    cells = {turn: set(turn.cells or ()) for turn in turns}
    total = Counter(len(named) for named in cells.values())
    both = next(turn for turn, named in cells.items() if named == SEEN)
    after, told = told_after(table, both)
    fits = Counter(
        len(cells[turn]) for turn in turns if cells[turn] >= SEEN and told_after(table, turn)[1] == told
    )
    weights = {number: fits[number] / total[number] for number in fits}
    by_prior = {number: weight / sum(weights.values()) for number, weight in weights.items()}

    assert isinstance(told[-1], OpponentPlaced)
    assert set(told[-1].destroyed) == SEEN

    view = after.game.view(after.state, 0)
    assert isinstance(view, MistView)
    drawn = Counter[int]()
    worlds = MIST.worlds(view, [*before, *told], 0, Random(1), variant=VARIANT, options=table.options)
    for world in islice(worlds, WORLDS):
        drawn[len(SEEN) + world.pieces[1].bit_count()] += 1  # The two that were seen were destroyed.
    of_worlds = {number: times / WORLDS for number, times in drawn.items()}

    rows = tables(section(page("docs/games/mist.md"), "Worlds"))[0]
    shown = {number: (float(row[1]), float(row[2])) for number, row in zip((2, 3), rows, strict=True)}
    for number, (worlds_share, prior_share) in shown.items():
        assert of_worlds[number] == pytest.approx(worlds_share, abs=0.03)
        assert by_prior[number] == pytest.approx(prior_share, abs=0.005)
    assert set(by_prior) == set(of_worlds) == set(shown)
