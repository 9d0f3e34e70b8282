"""The match's stopwatch: what it shows is its time without its pauses, however many there were."""

from hypothesis import given
from hypothesis import strategies as st

from referee.match.window import Stopwatch

LENGTHS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8)


@given(LENGTHS, st.booleans(), st.integers(-2, 90))
def test_it_shows_the_time_without_the_pauses_before_it(
    lengths: list[tuple[int, int]], paused: bool, at: int
) -> None:
    stopwatch, now = Stopwatch(), 0
    pauses: list[tuple[int, int]] = []
    for run, pause in lengths:
        stopwatch.pause(now + run)
        stopwatch.resume(now + run + pause)
        pauses.append((now + run, now + run + pause))
        now += run + pause
    if paused:
        stopwatch.pause(now)
    until = min(at, now) if paused else at
    running = until - sum(min(end, until) - start for start, end in pauses if start < until)
    assert running == stopwatch.reading(at)
    total = sum(end - start for start, end in pauses)
    assert stopwatch.when(50) == (None if paused else 50 + total)


def test_a_reading_costs_no_walk_through_the_pauses() -> None:
    """A transcript may hold as many as its author likes: each reading looks at a few of them only."""

    class Counted(list[int]):
        looked = 0

        def __getitem__(self, place):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN204
            Counted.looked += 1
            return super().__getitem__(place)

    stopwatch = Stopwatch()
    for at in range(0, 20_000, 2):
        stopwatch.pause(at)
        stopwatch.resume(at + 1)
    stopwatch._starts = Counted(stopwatch._starts)
    stopwatch._lengths = Counted(stopwatch._lengths)
    assert 5_000 == stopwatch.reading(10_000)
    assert Counted.looked < 50
