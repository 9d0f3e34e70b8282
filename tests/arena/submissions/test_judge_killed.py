"""The judge is killed at each moment: the submissions end as without it, and each enters once."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest

from arena import sqlite_file
from arena.accounts import Database
from arena.submissions import entering
from arena.tournament.entries import keep_entry
from arena.tournament.ledger import Ledger
from tests.arena.submissions.judging import Court, begun_cup, versions

SUBMITTED = [
    ("Red Pandas", "v1"),
    ("Red Pandas", "v2"),
    ("a", "v3"),
    ("Blue Whales", "unfit"),
    ("Grey Wolves", "no-archive"),
    ("Green Frogs", "v4"),
    ("Red Pandas", "v5"),
]
POINTS = 100
"""Least number of moments at which the judge is killed."""


class KilledError(BaseException):
    """A stand-in for `kill -9`."""


class Bomb:
    """Counts moments, and kills at some of them."""

    def __init__(self, *at: int) -> None:
        self.count = 0
        self._at = set(at)

    def tick(self, name: str) -> None:
        self.count += 1
        if self.count in self._at:
            raise KilledError(name)


@contextmanager
def armed(bomb: Bomb, patched: pytest.MonkeyPatch) -> Iterator[None]:
    """Within it, the bomb ticks before and after each transaction, and around each copy of a bot."""
    transaction, keep = sqlite_file.transaction, keep_entry

    @contextmanager
    def counted(db: object) -> Iterator[None]:
        bomb.tick("before")
        with transaction(db):  # type: ignore[arg-type]
            yield
            bomb.tick("within")
        bomb.tick("after")

    def counted_keep(*args: object) -> None:
        bomb.tick("before copy")
        keep(*args)  # type: ignore[arg-type]
        bomb.tick("after copy")

    with patched.context() as change:
        change.setattr(sqlite_file, "transaction", counted)
        change.setattr(entering, "keep_entry", counted_keep)
        yield


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A competition with submissions that wait."""
    folder = tmp_path_factory.mktemp("prepared")
    with closing(Court(begun_cup(folder))) as court:
        for team, archive in SUBMITTED:
            court.submit(team, archive)
    return folder


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Database, Ledger):
        monkeypatch.setattr(kind, "synchronous", "OFF")


def judged(prepared: Path, folder: Path, bomb: Bomb, patched: pytest.MonkeyPatch) -> tuple[object, ...]:
    """Judge a copy of the competition, again after each kill; return how everything ended."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(prepared, folder)
    file = folder / "cup.toml"
    while True:
        with closing(Court(file, bomb.tick)) as court:
            try:
                with armed(bomb, patched):
                    court.judge_all()
            except KilledError:
                continue
            found = court.submissions.all()
            ended = {
                (each.team_name, each.upload): (each.state, each.entered, each.verdict and each.verdict.reason)
                for each in found
            }
            assert court.submissions.queue().waiting == court.submissions.queue().in_work == 0
            for each in found:
                states = [event.state for event in court.submissions.events(each)]
                assert states.count("entered") + states.count("refused") == 1
            # Other teams may have entered meanwhile, so that the numbers of predecessors differ.
            return ended, sorted((label, content) for label, content, _ in versions(file))


def test_killed_at_each_moment_everything_ends_as_without_it(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Bomb()
    right = judged(prepared, tmp_path / "whole", whole, monkeypatch)
    assert whole.count > POINTS
    assert len(right[1]) == 5  # type: ignore[arg-type]
    for moment in range(1, whole.count + 1):
        assert right == judged(prepared, tmp_path / "killed", Bomb(moment), monkeypatch), moment


@pytest.mark.parametrize("seed", range(5))
def test_killed_again_and_again_too(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    right = judged(prepared, tmp_path / "whole", Bomb(), monkeypatch)
    moments = Random(seed).sample(range(1, 400), 12)
    assert right == judged(prepared, tmp_path / "killed", Bomb(*moments), monkeypatch)
