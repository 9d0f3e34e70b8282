"""Matches of a regression test and their evaluation: blocks count in schedule order."""

from itertools import pairwise, permutations
from random import Random
from typing import Any

import pytest

from arena.errors import WrongUse
from arena.regression import history_of
from arena.regression.model import BASE, FIELD, HEAD, BlockTally, Regression, SeatedResult, difference
from arena.regression.options import RegressionOptions, regression_of
from arena.statistics import CountedMatch, SprtState, SprtVerdict
from referee.match.terms import Policy
from tests.arena.simulated import result
from tests.arena.stand_in import outcome

WON, LOST = outcome((0,), (1,)), outcome((1,), (0,))


def asked(game: str = "mist", **given: Any) -> Regression:
    bots = {"base": "any_random", "head": "any_random"}
    return regression_of(RegressionOptions(game=game, policy=Policy(), **{**bots, **given}))


def ended(tally: BlockTally, block: int, *, head_wins: bool) -> None:
    """Both matches of a block."""
    tally.ended(block, 0, SeatedResult((BASE, HEAD), LOST if head_wins else WON))
    tally.ended(block, 1, SeatedResult((HEAD, BASE), WON if head_wins else LOST))


class TestTwoSeats:
    def test_a_block_is_one_deal_in_both_seatings(self) -> None:
        for block in asked(blocks=3).blocks(seed=7):
            assert [(BASE, HEAD), (HEAD, BASE)] == [match.entrants for match in block.matches]
            assert 1 == len({match.seed for match in block.matches})

    def test_a_higher_limit_only_adds_to_the_schedule(self) -> None:
        assert list(asked(blocks=3).blocks(7)) == list(asked(blocks=5).blocks(7))[:3]

    def test_blocks_are_looked_at_in_schedule_order_in_whichever_they_end(self) -> None:
        states = []
        for order in permutations(range(4)):
            tally = BlockTally(asked())
            for block in order:
                ended(tally, block, head_wins=block < 2)
            states.append(tally.state)
        assert 1 == len(set(states))
        assert (4, (2, 0, 0, 0, 2)) == (states[0].blocks, states[0].counts)  # type: ignore[union-attr]

    def test_blocks_after_an_unfinished_one_wait(self) -> None:
        tally = BlockTally(asked())
        for block in range(1, 40):
            ended(tally, block, head_wins=True)
        assert (0, False) == (tally.state.blocks, tally.decided)

    def test_blocks_after_the_one_that_decided_are_not_looked_at(self) -> None:
        tally = BlockTally(asked(elo1=100.0))
        for block in range(40):
            ended(tally, block, head_wins=block < 20)
        assert (SprtVerdict.ACCEPTED, 10, 10) == (
            tally.state.verdict,
            tally.state.blocks,
            len(tally.observations),
        )

    def test_a_block_that_is_played_again_counts_as_it_came_out_then(self) -> None:
        tally = BlockTally(asked())
        tally.ended(0, 0, SeatedResult((BASE, HEAD), LOST))
        tally.again(0)
        tally.ended(0, 1, SeatedResult((HEAD, BASE), LOST))
        assert [] == tally.observations
        tally.ended(0, 0, SeatedResult((BASE, HEAD), WON))
        assert [0] == tally.observations

    def test_blocks_beyond_the_limit_do_not_count(self) -> None:
        tally = BlockTally(asked(blocks=2))
        for block in range(4):
            ended(tally, block, head_wins=True)
        assert 2 == tally.state.blocks


class TestMoreSeats:
    GAME = "runes-to-ruins"

    def test_either_version_has_the_same_deals_the_same_seats_and_the_same_others(self) -> None:
        for rotations in (1, 2, None):
            for block in asked(self.GAME, blocks=5, rotations=rotations).blocks(3):
                half = len(block.matches) // 2
                with_head, with_base = block.matches[:half], block.matches[half:]
                assert 1 == len({match.seed for match in block.matches})
                assert len(block.matches) == len({match.name for match in block.matches})
                for new, old in zip(with_head, with_base, strict=True):
                    assert new.entrants.index(HEAD) == old.entrants.index(BASE)
                    assert [BASE if one == HEAD else one for one in new.entrants] == list(old.entrants)

    def test_all_rotations_bring_the_seat_under_test_to_every_seat_once(self) -> None:
        regression = asked(self.GAME, blocks=1)
        (block,) = regression.blocks(3)
        seats = regression.arena.seats
        assert list(range(seats)) == sorted(match.entrants.index(HEAD) for match in block.matches[:seats])

    def test_with_one_rotation_the_seat_under_test_moves_on_from_deal_to_deal(self) -> None:
        regression = asked(self.GAME, blocks=20, rotations=1)
        seats = regression.arena.seats
        assert [number % seats for number in range(20)] == [
            block.matches[0].entrants.index(HEAD) for block in regression.blocks(3)
        ]

    def test_the_default_field_is_the_games_random_sample_bot(self) -> None:
        assert ["runes_to_ruins_random"] == [bot.given for bot in asked(self.GAME).arena.bots[2:]]
        named = asked(self.GAME, field=("any_random", "runes_to_ruins_seeker"))
        assert ["any_random", "runes_to_ruins_seeker"] == [bot.given for bot in named.arena.bots[2:]]

    def test_a_blocks_observation_is_heads_mean_points_minus_bases(self) -> None:
        first_to_last = outcome((0,), (1,), (2,))
        assert 0.5 == difference(
            [
                SeatedResult((HEAD, 2, 2), first_to_last),
                SeatedResult((2, HEAD, 2), first_to_last),
                SeatedResult((BASE, 2, 2), outcome((1,), (0,), (2,))),
                SeatedResult((2, BASE, 2), outcome((0,), (2,), (1,))),
            ]
        )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"game": "chess"}, "GAME: there is no 'chess'; the games are mist, "),
        ({"variant": "x"}, "--variant: mist has no 'x'; the variants are "),
        ({"head": "nobody"}, "--head: nobody: no folder and no sample bot is called that; "),
        ({"base": "pointing_random"}, "--base: pointing_random does not play mist: its bot.toml has games = "),
        ({"options": '{"x": 1}'}, "--options: "),
        ({"elo0": 20.0}, "elo0 = 20 must be less than elo1 = 20"),
        ({"alpha": 0.0}, "alpha = 0 and beta = 0.05 must be above 0, together below 1"),
        ({"high": 0.1}, "--high: is for play against a field; mist has two seats: add --field BOT"),
        (
            {"elo1": 9.0, "field": ("mist_random",)},
            "--elo1: is for games of two seats without a field; with --field there are --low and --high",
        ),
        ({"game": "pointing", "elo1": 3.0}, "--elo1: is for games of two seats without a field; pointing has 13"),
        ({"game": "pointing", "model": "logistic"}, "--elo-model: is for games of two seats without a field;"),
        ({"question": "better", "elo1": 9.0}, "--elo1: cannot be combined with --question;"),
        ({"rotations": 1}, "--rotations: is for games of more than two seats; mist has two"),
        ({"slower": 0.0}, "--slower: 0 must be above 0, and 1000 at most"),
        ({"slower": float("nan")}, "--slower: nan must be above 0"),
        ({"larger": 2.0, "isolation": "none"}, "--larger: memory is not measured with --isolation none"),
        ({"game": "pointing", "rotations": 14}, "--rotations: 14 are too many; pointing has 13 seats"),
        ({"game": "pointing", "low": 0.2}, "low = 0.2 must be below high = 0.05, both between -1 and 1"),
        ({"game": "pointing", "field": ("any_random",) * 2}, "--field: 'any_random' is given twice"),
    ],
)
def test_errors_name_their_option(given: dict[str, Any], said: str) -> None:
    with pytest.raises(WrongUse) as caught:
        asked(**given)
    assert said == caught.value.format_message()[: len(said)]


TERMS = {"test.elo0": 0.0, "test.elo1": 30.0, "test.alpha": 0.05, "test.beta": 0.05, "test.model": "normalized"}


def head_to_head(blocks: int, share: float) -> list[CountedMatch]:
    rng = Random(3)
    rankings = [[[1], [0]], [[0], [1]]]
    return [
        result(block, seating, ((BASE, HEAD), (HEAD, BASE))[seating], rankings[seating ^ (rng.random() > share)])
        for block in range(blocks)
        for seating in (0, 1)
    ]


@pytest.mark.parametrize(("share", "verdict"), [(0.8, SprtVerdict.ACCEPTED), (0.2, SprtVerdict.REJECTED)])
def test_it_ends_where_the_test_ends(share: float, verdict: SprtVerdict) -> None:
    played = head_to_head(600, share)
    tally = BlockTally(asked(elo1=30.0))
    for match in played:
        tally.ended(match.block, match.seating, SeatedResult(match.entrants, match.outcome))
    # Some blocks were under way when it was decided.
    found = history_of(TERMS, played[: 2 * (tally.state.blocks + 20)])
    assert (verdict, tally.state) == (found.state.verdict, found.state)
    assert tally.state.blocks == len(found.differences)
    assert found.decided


def test_a_long_history_has_some_states_and_the_last() -> None:
    found = history_of(TERMS | {"test.elo1": 0.5}, head_to_head(2_000, 0.5))
    assert not found.decided
    assert 2_000 == found.state.blocks
    assert len(found.states) < 600
    assert all(before.blocks < after.blocks for before, after in pairwise(found.states))
    assert isinstance(found.state, SprtState)
    assert 2_000 == sum(found.state.counts)


def test_blocks_behind_one_that_is_missing_wait() -> None:
    played = [match for match in head_to_head(10, 0.8) if match.block != 4]
    assert 4 == history_of(TERMS, played).state.blocks


def test_a_history_without_matches_has_no_blocks_and_no_interval() -> None:
    found = history_of(TERMS, [])
    assert (0, 0.0, None) == (found.state.blocks, found.mean, found.interval)


def test_with_more_seats_the_test_uses_differences_of_points() -> None:
    """Head is first in every match and base last."""
    seated = [(HEAD, FIELD, FIELD + 1), (BASE, FIELD, FIELD + 1)]
    played = [
        result(block, seating, seated[seating], [[0], [1], [2]] if seating == 0 else [[1], [2], [0]])
        for block in range(30)
        for seating in (0, 1)
    ]
    terms = {"test.low": 0.0, "test.high": 0.05, "test.alpha": 0.05, "test.beta": 0.05}
    found = history_of(terms, played)
    assert SprtVerdict.ACCEPTED is found.state.verdict
    assert 1.0 == found.mean
