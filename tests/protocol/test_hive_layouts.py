"""What a Hive may hold, against the rules' own Hive."""

from random import Random

from protocol.games.hive_mind import Hint
from protocol.games.hive_mind import layouts as hives
from protocol.games.hive_mind.board import CELLS, SHAPES
from referee.games.hive_mind import state as rules


def hint(cells: str, values: str) -> Hint:
    """What a shape on a Hive of these values is told."""
    shape = SHAPES[cells]
    total = rules.total(values, hives.mask(shape.looks))
    return Hint(hive="1", round=1, shape=shape.kind, cells=cells, looks=shape.looks, total=total)


def test_there_are_20790_layouts_and_the_true_one_fits_its_hints() -> None:
    assert 20_790 == len(set(hives.layouts()))
    rng = Random(1)
    for _ in range(10):
        values = rules.draw_values(rng)
        left = hives.fitting([hint(cells, values) for cells in rng.sample(list(SHAPES), 3)])
        layout = tuple(hives.mask(rules.where(values, digit)) for digit in "23")
        assert layout in left
        assert len(left) < len(hives.layouts())


def test_means_are_taken_over_the_layouts_left() -> None:
    left = [(hives.mask("ABCD"), hives.mask("EJL")), (hives.mask("ABCE"), hives.mask("DJL"))]
    means = dict(zip(CELLS, hives.mean_values(left), strict=True))
    assert (2, 2.5, 2.5, 1, 3) == tuple(means[cell] for cell in "ADEFJ")
