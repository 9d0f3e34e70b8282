"""The arithmetic of a table."""

from typing import Any

import pytest

from arena.quantities import Table
from arena.statistics.standings import CountedMatch, conduct_columns, points, standings_of
from protocol.refusals import Conduct
from tests.arena.stand_in import outcome


def played(entrants: tuple[int, ...], *ranking: tuple[int, ...], **other: Any) -> CountedMatch:
    seats = len(entrants)
    facts: dict[str, Any] = {
        "conduct": (Conduct.OK,) * seats,
        "charged_us": (0,) * seats,
        "windows": (1,) * seats,
        "defaults": (0,) * seats,
        "refused": (0,) * seats,
    }
    return CountedMatch(block=0, seating=0, entrants=entrants, outcome=outcome(*ranking), **(facts | other))


def test_a_win_is_a_point_a_tie_half_a_loss_nothing() -> None:
    lines = standings_of(2, [played((0, 1), (0,), (1,)), played((1, 0), (0, 1)), played((1, 0), (0,), (1,))])
    assert [(1, 1.5, 1, 1, 1), (0, 1.5, 1, 1, 1)][::-1] == [
        (line.entrant, line.points, line.wins, line.ties, line.losses) for line in lines
    ]


def test_the_ranking_names_seats_and_the_table_names_who_sat_there() -> None:
    """Seat 0 wins, in which entrant 2 sat."""
    lines = standings_of(3, [played((2, 1), (0,), (1,))])
    assert [2, 0, 1] == [line.entrant for line in lines]
    assert [(1, 1), (0, 0), (1, 0)] == [(line.played, line.wins) for line in lines]


def test_the_crosstable_has_both_sides_of_each_match() -> None:
    lines = {line.entrant: line for line in standings_of(2, [played((0, 1), (1,), (0,)), played((1, 0), (0, 1))])}
    assert (2, 0, 1, 1, 0.5) == _score(lines[0].against[1])
    assert (2, 1, 1, 0, 1.5) == _score(lines[1].against[0])


def test_with_more_seats_points_are_the_share_of_others_one_is_ranked_before() -> None:
    ranking = outcome((2,), (0, 1), (3,))
    assert [0.5, 0.5, 1.0, 0.0] == [points(ranking, seat) for seat in range(4)]


def test_a_line_counts_faults_defaults_and_charged_time_a_window() -> None:
    lines = standings_of(
        2,
        [
            played((0, 1), (0,), (1,), conduct=(Conduct.OK, Conduct.CRASHED), defaults=(0, 7)),
            played((1, 0), (0,), (1,), charged_us=(40, 300), windows=(4, 9)),
        ],
    )
    by_entrant = {line.entrant: line for line in lines}
    assert (0, 0, 30.0) == (by_entrant[0].faults, by_entrant[0].defaults, by_entrant[0].mean_us)
    assert (1, 7, 8.0) == (by_entrant[1].faults, by_entrant[1].defaults, by_entrant[1].mean_us)


def test_a_row_counts_messages_that_were_refused() -> None:
    matches = [played((0, 1), (0,), (1,), refused=(0, 3)), played((1, 0), (0,), (1,), refused=(1, 2))]
    assert {0: 2, 1: 4} == {line.entrant: line.refused for line in standings_of(2, matches)}


def test_refusals_have_a_column_only_if_there_were_any() -> None:
    none, some = (standings_of(2, [played((0, 1), (0,), (1,), refused=refused)]) for refused in ((0, 0), (0, 3)))
    assert ("faults", "defaults", "time per move") == Table(conduct_columns(none), none).headings
    table = Table(conduct_columns(some), some)
    assert ("faults", "defaults", "refused", "time per move") == table.headings
    assert [("0", "0", "0", "0 µs"), ("0", "0", "3", "0 µs")] == table.cells()


def test_a_bot_that_has_not_played_has_no_time_per_window() -> None:
    assert [None, None] == [line.mean_us for line in standings_of(2, [])]


def test_equal_points_are_ordered_by_faults_then_as_in_the_file() -> None:
    crashed = played((0, 1), (0, 1), conduct=(Conduct.CRASHED, Conduct.OK))
    assert [1, 2, 3, 0] == [line.entrant for line in standings_of(4, [crashed, played((2, 3), (0, 1))])]


@pytest.mark.parametrize("seats", [2, 5, 13])
def test_all_points_of_a_match_add_up_to_half_its_seats(seats: int) -> None:
    ranking = outcome(*((seat,) for seat in range(seats)))
    assert seats / 2 == pytest.approx(sum(points(ranking, seat) for seat in range(seats)))


def test_more_matches_do_not_rank_a_bot_before_a_better_one_with_fewer() -> None:
    """With byes not all play equally often: what counts is the mean."""
    lines = standings_of(3, [played((0, 1), (0,), (1,)), played((2, 1), (1,), (0,)), played((2, 1), (0,), (1,))])
    assert [(0, 1.0), (2, 0.5), (1, 1 / 3)] == [(line.entrant, line.mean) for line in lines]


def test_the_house_counts_once_for_each_of_its_seats_meets_not_itself_and_stands_last() -> None:
    first, last = standings_of(2, [played((0, 1, 1), (1,), (0,), (2,))], house=1)
    assert (0, False, 1, 0.5) == (first.entrant, first.house, first.played, first.mean)
    assert (1, True, 2, 0.5) == (last.entrant, last.house, last.played, last.mean)
    assert (2, 1, 0, 1, 1.0) == _score(first.against[1])
    assert [0] == list(last.against)


def _score(score: Any) -> tuple[int, int, int, int, float]:
    return (score.played, score.wins, score.ties, score.losses, score.points)
