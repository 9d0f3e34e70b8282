"""Base's matches asked about: which, from which transcript, how many at once, and what is wrong named."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from arena.errors import MachineCannot, WrongUse
from arena.regression.decision_diff import Ask, OpenAsking, explain, read_decision_diffs
from arena.regression.model import Regression
from referee.host.interview import Interviewed
from referee.host.plan import AttemptResult, Plan
from referee.match.records import Header
from referee.sandbox import SandboxError
from tests.arena.regression.test_run import asked, playing
from tests.arena.stand_in import result
from tests.referee.transcript.transcript_sample import match_records, write


class Writes:
    """Plays matches in no time, and leaves a transcript of each."""

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        """See `referee.host.one_match.play`."""
        header, *rest = match_records()
        assert isinstance(header, Header)
        written = await write(transcript, [replace(header, match=plan.match), *rest])
        return replace(result(plan, players, transcript), head=written.head or "")


class Asks:
    """Asks nothing, and remembers about what."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.about: list[tuple[str, int]] = []
        self.at_once = self.most_at_once = 0
        self._failure = failure

    async def __call__(self, transcript: Path, seat: int, *, log: Path) -> Interviewed:
        """See `explain.Ask`."""
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        log.write_text("")
        await trio.lowlevel.checkpoint()
        self.at_once -= 1
        if self._failure is not None:
            raise self._failure
        self.about.append((transcript.name, seat))
        return Interviewed(())


def opened(ask: Ask) -> OpenAsking:
    @asynccontextmanager
    async def open_asking() -> AsyncIterator[Ask]:
        yield ask

    return open_asking


@pytest.fixture
def regression(tmp_path: Path) -> Regression:
    """Three blocks of two matches, played."""
    made = asked(tmp_path, blocks=3)
    playing(made, Writes())
    return made


def test_all_of_bases_matches_are_asked_about_in_schedule_order_where_it_sat(regression: Regression) -> None:
    found = explain(regression, 3, opened(asks := Asks()), at_once=1, limit=20)
    assert [(block, seating, seating) for block in range(3) for seating in range(2)] == [
        (each.place.block, each.place.seating, each.place.seat) for each in found
    ]
    assert [("00001a-base-head.jsonl", 0), ("00001b-head-base.jsonl", 1)] == asks.about[:2]
    assert 6 == len(asks.about)


def test_the_differences_are_stored_beside_the_results(regression: Regression) -> None:
    folder = regression.arena.results
    assert () == read_decision_diffs(folder)
    found = explain(regression, 3, opened(Asks()), at_once=1, limit=20)
    assert found == list(read_decision_diffs(folder))
    (folder / "explained.json").write_text('[{"place": 1}]')
    with pytest.raises(WrongUse, match="not as an arena writes it"):
        read_decision_diffs(folder)


def test_only_as_many_as_asked_for_and_only_blocks_that_counted(regression: Regression) -> None:
    assert 3 == len(explain(regression, 3, opened(Asks()), at_once=1, limit=3))
    assert 4 == len(explain(regression, 2, opened(Asks()), at_once=1, limit=20))


def test_so_many_at_once_and_no_more(regression: Regression) -> None:
    found = explain(regression, 3, opened(asks := Asks()), at_once=2, limit=20)
    assert (2, 6) == (asks.most_at_once, len(found))


def test_logs_of_a_head_that_wrote_nothing_are_not_kept(regression: Regression, tmp_path: Path) -> None:
    explain(regression, 3, opened(Asks()), at_once=1, limit=20)
    assert not (tmp_path / "explained").exists()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def take_anothers_place(path: Path) -> None:
    path.write_bytes(path.with_name("00001a-base-head.jsonl").read_bytes())


@pytest.mark.parametrize(
    ("harm", "what"),
    [
        (Path.unlink, "cannot be read: No such file or directory"),
        (cut, "line 18 does not end with a newline: the file is cut short"),
        (take_anothers_place, "is not the transcript whose result is in the ledger"),
    ],
)
def test_a_transcript_that_is_not_the_one_that_counted_is_named(
    regression: Regression, tmp_path: Path, harm: Callable[[Path], None], what: str
) -> None:
    path = tmp_path / "transcripts/00002b-head-base.jsonl"
    harm(path)
    told = re.escape(f"{path}: {what}")
    with pytest.RaisesGroup(pytest.RaisesExc(WrongUse, match=told), flatten_subgroups=True):
        explain(regression, 3, opened(Asks()), at_once=1, limit=20)


def test_a_machine_that_cannot_start_head_says_so(regression: Regression) -> None:
    ask = Asks(SandboxError("no sandbox: bwrap is not installed"))
    with pytest.RaisesGroup(
        pytest.RaisesExc(MachineCannot, match="bwrap is not installed"), flatten_subgroups=True
    ):
        explain(regression, 3, opened(ask), at_once=1, limit=20)
