"""Knock-out: the bracket, who goes on, tie-breaks, and how it is drawn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.reports.bracket import ASCII, BOXES, draw
from arena.schedule.blocks import ScheduledMatch
from arena.schedule.knockout import TIE_BREAKS, Knockout, bracket_of, bracket_order, rounds_reached
from tests.arena.schedule.paired import Decide, all_tied, by_lot, lower_wins, pairs, played_out, spec


def knockout(entrants: int, blocks: int = 1) -> Knockout:
    return Knockout(spec("knockout", entrants, blocks=blocks))


def drawing(entrants: int, decide: Decide, names: str = "abcdefgh") -> list[str]:
    _, results = played_out(knockout(entrants), decide)
    return draw(bracket_of(knockout(entrants).spec, 1, results), names, ASCII)


def test_the_first_two_can_meet_in_the_final_only_the_first_four_in_the_semifinals() -> None:
    assert [0, 1] == bracket_order(2)
    assert [0, 3, 1, 2] == bracket_order(4)
    assert [0, 7, 3, 4, 1, 6, 2, 5] == bracket_order(5) == bracket_order(8)


@given(st.integers(2, 40))
def test_if_the_better_seeded_always_wins_each_round_sees_the_best_that_are_possible(entrants: int) -> None:
    rounds, results = played_out(knockout(entrants), lower_wins)
    left = entrants
    for round_ in pairs(rounds):
        size = 1 << (left - 1).bit_length()
        assert {tuple(sorted((bot, size - 1 - bot))) for bot in range(size - left, size // 2)} == set(round_)
        left = size // 2
    assert 0 == bracket_of(knockout(entrants).spec, 1, results)[-1][0].winner


@given(st.integers(2, 20), st.integers(1, 3), st.sampled_from([by_lot, lower_wins, all_tied]))
def test_there_is_one_winner_and_everyone_else_loses_once(entrants: int, blocks: int, decide: Decide) -> None:
    _, results = played_out(knockout(entrants, blocks), decide)
    ties = [tie for round_ in bracket_of(knockout(entrants, blocks).spec, 1, results) for tie in round_]
    lost = [bot for tie in ties if tie.other is not None for bot in (tie.one, tie.other) if bot != tie.winner]
    assert sorted({*range(entrants)} - {ties[-1].winner}) == sorted(lost)


def test_level_bots_play_single_blocks_until_one_leads() -> None:
    def third_block_decides(match: ScheduledMatch) -> float:
        return lower_wins(match) if match.block == 3 else 0.5

    rounds, results = played_out(knockout(2, 2), third_block_decides)
    ((tie,),) = bracket_of(knockout(2, 2).spec, 1, results)
    assert [2, 1, 1] == [len(blocks) for blocks in rounds]
    assert ([2, 2], [3, 1], 0) == (tie.points, tie.tie_breaks, tie.winner)


def test_bots_level_to_the_end_are_ordered_as_in_the_file() -> None:
    rounds, results = played_out(knockout(2), all_tied)
    assert 1 + TIE_BREAKS == len(rounds)
    assert 0 == bracket_of(knockout(2).spec, 1, results)[0][0].winner


def test_bots_that_came_further_rank_higher() -> None:
    """Of six the first two have no opponent at first: who loses to them has come to the second round."""
    _, results = played_out(knockout(6), lower_wins)
    assert {0: 3, 1: 2, 2: 1, 3: 1, 4: 0, 5: 0} == rounds_reached(bracket_of(knockout(6).spec, 1, results))


def test_a_bracket_is_drawn_from_left_to_right() -> None:
    assert [
        "a 2 -.",
        "     |-a 2 -.",
        "d 0 -'      |",
        "            |- a",
        "b 2 -.      |",
        "     |-b 0 -'",
        "c 0 -'",
    ] == drawing(4, lower_wins)


def test_a_bot_without_an_opponent_appears_in_the_next_round_only() -> None:
    assert [
        "       a 2 -.",
        "            |",
        "            |- a",
        "b 2 -.      |",
        "     |-b 0 -'",
        "c 0 -'",
    ] == [line for line in drawing(3, lower_wins) if line.strip()][:6]


def test_points_of_tie_breaks_stand_behind_a_plus() -> None:
    assert ["a 1+5 -.", "       |- a", "b 1+5 -'"] == drawing(2, all_tied)


@pytest.mark.parametrize("known", range(0, 7, 2))
def test_a_bracket_can_be_drawn_before_all_is_played(known: int) -> None:
    """Those who got to a round are shown, whether it is played or not."""
    _, results = played_out(knockout(4), lower_wins)
    lines = draw(bracket_of(knockout(4).spec, 1, results[:known]), "abcd", BOXES)
    assert lines[0].startswith(f"a {2 if known >= 4 else 0} ─┐")
    assert (known == 6) == lines[3].endswith("├─ a")
