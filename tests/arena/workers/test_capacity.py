"""How matches are shared out among referee processes."""

from pathlib import Path

import pytest

from arena.workers import machine
from arena.workers.machine import shares


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
    monkeypatch.setattr(machine, "cores", lambda: 3)
    assert ([2, 2, 2], 3) == (shares(100, concurrency=6, workers=None), machine.matches_at_once())


def test_each_process_has_as_many_cores_of_its_own_and_threads_of_one_core_stay_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a machine of four physical cores that may use seven of its eight threads."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3, 4, 5, 6})
    monkeypatch.setattr(machine, "_physical", lambda core: core % 4)
    assert [{0, 4}, {1, 5}, {2, 6}] == machine.own_cores(3)
    assert [{0, 4, 1}, {5, 2, 6}] == machine.own_cores(2)
    assert 7 == len(machine.own_cores(7))


def test_the_first_thread_of_a_core_that_linux_tells_of(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {3: "1,3\n", 5: "4-5\n", 6: "\n"}

    def read(path: Path) -> str:
        core = int(path.parts[-3].removeprefix("cpu"))
        if core not in told:
            raise FileNotFoundError(path)
        return told[core]

    monkeypatch.setattr(Path, "read_text", read)
    assert [1, 4, 6, 7] == [machine._physical(core) for core in (3, 5, 6, 7)]
