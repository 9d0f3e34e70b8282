"""The most frequent of many kinds, in bounded memory."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from referee.match.seat_report import Frequent

MOST = 4
ADDED = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 9)))


@given(ADDED)
def test_what_is_more_than_its_part_of_all_is_never_lost_and_no_count_is_too_high(
    added: list[tuple[int, int]],
) -> None:
    counts: Counter[int] = Counter()
    frequent = Frequent[int](MOST)
    for item, times in added:
        counts[item] += times
        frequent.add(item, times)
    kept = dict(frequent.most_common())
    part = counts.total() / MOST
    assert len(kept) <= MOST
    assert all(item in kept for item in counts if counts[item] > part)
    assert all(counts[item] - part <= kept[item] <= counts[item] for item in kept)
    if len(counts) <= MOST:
        assert counts.most_common() == frequent.most_common()
