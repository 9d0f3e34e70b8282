"""How matches are shared out among referee processes."""

import pytest

from arena.workers import capacity
from arena.workers.capacity import shares


@pytest.mark.parametrize(
    ("matches", "concurrency", "workers", "expected"),
    [
        (100, 8, 2, [4, 4]),
        (100, 7, 3, [3, 2, 2]),
        (100, 2, 5, [1, 1]),
        (3, 8, 2, [2, 1]),
        (1, 8, 4, [1]),
        (0, 8, 4, [1]),
    ],
)
def test_matches_at_once_are_shared_out_evenly_and_no_process_has_none(
    matches: int, concurrency: int, workers: int, expected: list[int]
) -> None:
    assert expected == shares(matches, concurrency=concurrency, workers=workers)


def test_without_a_number_there_is_a_process_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "cores", lambda: 3)
    assert ([2, 2, 2], 3) == (shares(100, concurrency=6, workers=None), capacity.matches_at_once())
