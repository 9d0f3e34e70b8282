"""The sample bots of Hive Mind: their Hive is the rules' own, they play legally, and the counter is stronger."""

from random import Random

import pytest

from arena import simulation
from bots.hive_mind import opponent_model as bits
from bots.hive_mind.estimates import best_guess
from bots.hive_mind.opponent_model import KNOWN_OPENINGS, second, third
from bots.hive_mind_counter.bot import told_by
from bots.hive_mind_reader.bot import ENVY, NUMBER, Front, gain
from protocol.games.hive_mind import Hint, HiveMindHostView
from protocol.games.hive_mind import layouts as hives
from protocol.games.hive_mind.board import CELLS
from referee.games import GAMES
from tests.bots.in_process import BOTS, play
from tests.bots.strength import matches_of, one_match, summed
from tests.long import mostly_slow

VARIANTS = tuple(variant.name for variant in GAMES["hive-mind"].variants)


def test_the_guess_is_a_layout_whose_parts_are_likely() -> None:
    left = [(hives.mask("ABCD"), hives.mask("EJL")), (hives.mask("ABCD"), hives.mask("FJL"))]
    assert best_guess([*left, left[0]]) == "222231111313"


def test_a_shape_that_looks_at_nothing_new_tells_nothing() -> None:
    left = [(hives.mask("ABCD"), hives.mask("EJL"))] * 2
    assert 0 == told_by(hives.SHAPES[0], left)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", mostly_slow(1, range(2)))
def test_bots_are_always_legal(variant: str, seed: int) -> None:
    rng = Random(seed)
    bots = tuple(rng.choice(list(BOTS["hive-mind"].values())) for _ in range(5))
    played = play(bots, game="hive-mind", variant=variant, seed=seed)
    assert played.outcome.reason == "finished"
    assert max(played.slowest_ms) < 2_000


def test_bits_count_the_layouts_that_fit_hints() -> None:
    rng = Random(1)
    values = rng.choice(hives.layouts())
    told = []
    for shape in rng.sample(hives.SHAPES, 3):
        told.append(
            Hint(
                hive="Zero",
                round=1,
                shape=shape.kind,
                cells=shape.cells,
                looks=hives.letters(shape.looks),
                total=hives.total(values, shape.looks),
            )
        )
        fitting = hives.fitting(told)
        found = bits.left(bits.looked(told))
        assert found.bit_count() == len(fitting)
        assert bits.means(found) == pytest.approx(hives.mean_values(fitting))
        for asked in hives.SHAPES:
            assert bits.told_by(asked.looks, found) == pytest.approx(told_by(asked, fitting))


def test_an_odd_number_of_shapes_scores_and_an_even_one_denies() -> None:
    front = Front(0, 1, doubles=True, blocks=True)
    alone, denied, doubled, three = (gain(3, over, front) for over in ([], [False], [True], [False, True]))
    assert (6, 3 * ENVY / 4, 6 * ENVY / 4 + 1) == (alone, denied, doubled)
    assert three == 3 - 2 * (3 * ENVY / 4)


def test_placements_of_counting_seats_are_predicted() -> None:
    """All of it would be, but a counter compares what shapes tell by a sample of layouts."""
    match = simulation.play("hive-mind", [BOTS["hive-mind"]["counter"]() for _ in range(5)], seed=2).match
    shown: HiveMindHostView = match.host_view()
    foreseen = []
    for hive, values in shown.initial.items():
        twos, threes = (hives.mask(CELLS[at] for at in range(12) if values[at] == digit) for digit in "23")
        gone = hives.mask(cell for cell in CELLS if sum(cell in each.place[hive] for each in shown.rounds[1]) % 2)
        for seat in range(5):
            one, two, three = (NUMBER[each[seat].place[hive]] for each in shown.rounds)
            doubles = hive in shown.rounds[1][seat].double
            foreseen += [
                second(one, (twos, threes)) == two,
                third(one, two, (twos, threes), gone, doubles=doubles) == three,
            ]
            assert one in KNOWN_OPENINGS
    assert sum(foreseen) > 0.8 * len(foreseen)


def test_the_reader_plays_the_same_match_again() -> None:
    bots = (BOTS["hive-mind"]["reader"], *[BOTS["hive-mind"]["random"]] * 4)
    one, again = (play(bots, game="hive-mind", variant="gauntlet", seed=1).outcome for _ in range(2))
    assert one == again


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_counter_wins_more_than_its_share(variant: str) -> None:
    """Equals would win 2 of 10; over 100 matches it was 63 or more."""
    matches = matches_of("hive-mind", variant, range(2))
    played = [(match[1], one_match("hive-mind", ("counter", "random"), variant, match)) for match in matches]
    assert summed(iter(played)).wins > 4
