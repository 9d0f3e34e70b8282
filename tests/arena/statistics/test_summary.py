"""A tournament in numbers: what stands in a report."""

import numpy as np
import pytest

from arena.statistics.ratings import orders_of
from arena.statistics.standings import CountedMatch, points
from arena.statistics.summary import MOMENTS, Digest, _moments, digest_of
from protocol.refusals import Conduct
from tests.arena.simulated import result, tournament

LABELS = ("a", "b", "c", "d", "e")


@pytest.fixture
def played() -> list[CountedMatch]:
    return tournament(np.random.default_rng(8), np.linspace(1, -1, 5), 5, 24, alike=0.5, ties=0.3)


@pytest.fixture
def digest(played: list[CountedMatch]) -> Digest:
    return digest_of(LABELS, played)


def test_points_by_seat_are_those_of_the_matches(played: list[CountedMatch], digest: Digest) -> None:
    for seat in range(5):
        expected = sum(points(match.outcome, seat) for match in played)
        assert expected == pytest.approx(digest.by_seat[seat].points)
        assert len(played) == digest.by_seat[seat].played


def test_points_by_bot_and_seat_add_up_to_those_by_seat_and_by_bot(digest: Digest) -> None:
    for line in digest.standings:
        assert line.points == pytest.approx(sum(mean.points for mean in digest.by_bot_and_seat[line.entrant]))
    for seat, mean in enumerate(digest.by_seat):
        assert mean.points == pytest.approx(sum(row[seat].points for row in digest.by_bot_and_seat))


def test_a_seat_that_always_wins_shows() -> None:
    digest = digest_of(("a", "b"), [result(n // 2, n % 2, (n % 2, 1 - n % 2), [[0], [1]]) for n in range(8)])
    assert [1.0, 0.0] == [mean.mean for mean in digest.by_seat]


def test_ratings_over_time_end_with_todays(digest: Digest) -> None:
    assert (MOMENTS, 24) == (len(digest.moments), digest.moments[-1].blocks)
    assert [one.elo for one in digest.ratings.ratings] == pytest.approx(digest.moments[-1].elo, abs=0.5)


def test_an_earlier_moment_knows_nothing_of_later_blocks(played: list[CountedMatch], digest: Digest) -> None:
    half = digest_of(LABELS, [match for match in played if match.block < 12])
    assert 12 == digest.moments[5].blocks
    assert [(one.prior_low, one.prior_high) for one in half.ratings.ratings] == [
        pytest.approx(ends, abs=3) for ends in digest.moments[5].ends
    ]
    assert [one.elo for one in half.ratings.ratings] == pytest.approx(digest.moments[5].elo, abs=0.5)


def test_matches_are_counted_by_conduct_in_the_order_of_the_list() -> None:
    crashed = (Conduct.CRASHED, Conduct.OK)
    digest = digest_of(
        ("a", "b"), [result(0, 0, (0, 1), [[1], [0]], conduct=crashed), result(0, 1, (1, 0), [[0], [1]])]
    )
    assert ({"ok": 1, "crashed": 1}, {"ok": 2}) == digest.conduct
    assert ["ok", "crashed"] == list(digest.conduct[0])


def test_time_is_charged_time_a_window_match_by_match() -> None:
    digest = digest_of(
        ("a", "b"),
        [
            result(n, 0, (0, 1), [[0], [1]], charged_us=(100 * (n + 1), 0), windows=(10, 0), defaults=(0, 0))
            for n in range(11)
        ],
    )
    use = digest.time[0]
    assert use is not None
    assert [20, 60, 100, 110] == pytest.approx([use.tenth, use.median, use.nine_tenths, use.most])
    assert digest.time[1] is None


def test_the_house_is_rated_and_does_not_move_the_middle() -> None:
    played = [
        result(block, seating, seats, [[0], [1, 2]] if block % 3 else [[2], [1], [0]])
        for block in range(12)
        for seating, seats in enumerate([(0, 1, 2), (2, 0, 1), (1, 2, 0)])
    ]
    digest = digest_of(("a", "b", "c (house)"), played, house=2)
    for moment in digest.moments:
        assert 0 == pytest.approx(moment.elo[0] + moment.elo[1])
    assert digest.standings[-1].house


def test_without_results_there_is_still_a_digest() -> None:
    digest = digest_of(("a", "b"), [])
    assert (0, 0, 0, (), ()) == (digest.matches, digest.blocks, digest.seats, digest.moments, digest.by_seat)
    assert (None, None) == digest.time
    assert (None, None) == digest.first


def test_moments_and_first_matches_are_counted_in_matches() -> None:
    """A block of one bot's is played before another bot comes."""
    pairs = [(0, 1), (0, 1), (0, 2), (1, 2)]
    played = [result(block, s, pair[:: 1 - 2 * s], [[0], [1]]) for block, pair in enumerate(pairs) for s in (0, 1)]
    digest = digest_of(("a", "b", "c", "d"), played)
    assert [2, 4, 6, 8] == [moment.matches for moment in digest.moments]
    assert [1, 2, 3, 4] == [moment.blocks for moment in digest.moments]
    assert (0, 0, 4, None) == digest.first


def test_no_rating_over_time_is_minus_zero() -> None:
    played = [result(0, 0, (0, 1), [[0, 1]])]
    [moment] = _moments(orders_of(played), played, [(1, np.array([-0.0, 0.0]))], None)
    assert ["0.0", "0.0"] == list(map(str, moment.elo))
