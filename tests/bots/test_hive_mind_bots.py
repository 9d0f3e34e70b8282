"""The sample bots of Hive Mind: their Hive is the rules' own, they play legally, and the counter is stronger."""

from random import Random

import pytest

from bots.hive_mind_counter.bot import best_guess, told_by
from protocol.games import hive_layouts as hives
from referee.games.registry import GAMES
from tests.bots.in_process import BOTS, play
from tests.bots.strength import matches_of, one_match, summed

VARIANTS = tuple(variant.name for variant in GAMES["hive-mind"].variants)


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
