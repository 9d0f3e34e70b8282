"""The sample bots of Hive Mind: their Hive is the rules' own, they play legally, and the counter is stronger."""

from random import Random

import pytest

from bots import hive_mind_hive as hives
from bots.hive_mind_counter.bot import best_guess, told_by
from protocol.games.hive_board import CELLS, SHAPES
from protocol.games.hive_mind import Hint
from referee.games.hive_mind import hive as rules
from referee.games.registry import GAMES
from tests.bots.in_process import BOTS, play
from tests.bots.strength import matches_of, one_match, summed

VARIANTS = tuple(variant.name for variant in GAMES["hive-mind"].variants)


def hint(cells: str, values: str) -> Hint:
    """What a shape on a Hive of these values is told."""
    shape = SHAPES[cells]
    total = rules.total(values, shape.looks)
    return Hint(hive="1", round=1, shape=shape.kind, cells=cells, looks=shape.looks, total=total)


def test_there_are_20790_layouts_and_the_true_one_fits_its_hints() -> None:
    assert 20_790 == len(set(hives.layouts()))
    luck = Random(1)
    for _ in range(10):
        values = rules.draw_values(luck)
        left = hives.fitting([hint(cells, values) for cells in luck.sample(list(SHAPES), 3)])
        layout = tuple(hives.mask(rules.where(values, digit)) for digit in "23")
        assert layout in left
        assert len(left) < len(hives.layouts())


def test_means_are_taken_over_the_layouts_left() -> None:
    left = [(hives.mask("ABCD"), hives.mask("EJL")), (hives.mask("ABCE"), hives.mask("DJL"))]
    means = dict(zip(CELLS, hives.mean_values(left), strict=True))
    assert (2, 2.5, 2.5, 1, 3) == tuple(means[cell] for cell in "ADEFJ")


def test_the_guess_is_a_layout_whose_parts_are_likely() -> None:
    left = [(hives.mask("ABCD"), hives.mask("EJL")), (hives.mask("ABCD"), hives.mask("FJL"))]
    assert best_guess([*left, left[0]]) == "222231111313"


def test_a_shape_that_looks_at_nothing_new_tells_nothing() -> None:
    left = [(hives.mask("ABCD"), hives.mask("EJL"))] * 2
    assert 0 == told_by(hives.SHAPES[0], left)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(4))
def test_bots_are_always_legal(variant: str, seed: int) -> None:
    luck = Random(seed)
    bots = tuple(luck.choice(list(BOTS["hive-mind"].values())) for _ in range(5))
    played = play(bots, game="hive-mind", variant=variant, seed=seed)
    assert played.outcome.reason == "finished"
    assert max(played.slowest_ms) < 2_000


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_counter_wins_more_than_its_share(variant: str) -> None:
    """Equals would win 4 of 20; over 100 matches it was 63 or more."""
    matches = matches_of("hive-mind", variant, range(4))
    played = [(match[1], one_match("hive-mind", ("counter", "random"), variant, match)) for match in matches]
    assert summed(iter(played)).wins > 7
