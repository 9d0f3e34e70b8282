"""A regression test as a whole: stopped early in schedule order, interrupted, gone on with, changed."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from arena.errors import MachineCannot, WrongUse
from arena.regression.model import Regression
from arena.regression.options import RegressionOptions, regression_of
from arena.regression.run import Finding, RegressionRun, folder_for
from arena.statistics.sprt import SprtVerdict
from arena.workers.api import PlayMatch, Worker, WorkerPool
from referee.host.plan import AttemptResult, Plan
from referee.match.terms import ClockTable, Policy
from referee.transcript.chain import TranscriptError
from tests.arena.ledgers import OpenLedger
from tests.arena.stand_in import AtOnce, outcome, result


def asked(folder: Path, **given: Any) -> Regression:
    whole = {"game": "mist", "base": "mist_random", "head": "mist_hunter", "seed": 4, "elo1": 100.0, **given}
    regression = regression_of(RegressionOptions(policy=Policy(), **whole))
    return replace(regression, arena=replace(regression.arena, results=folder))


def venue(play: PlayMatch[str], slots: int) -> WorkerPool[str]:
    @asynccontextmanager
    async def open_workers(matches: int) -> AsyncIterator[list[Worker[str]]]:
        yield [Worker(play=play, slots=min(slots, matches))]

    return open_workers


def playing(
    regression: Regression, play: PlayMatch[str] | None = None, *, fresh: bool = False, concurrency: int = 2
) -> Finding:
    """How it comes out, but for how long it took."""
    players = regression.arena.labels
    opened = venue(play or AtOnce(), concurrency)
    found = RegressionRun(regression.arena, players, opened, regression=regression).play(fresh=fresh)
    return replace(found, seconds=0)


class Decided:
    """Head loses the first deals and wins all others. What is held ends after so many of the others have."""

    def __init__(self, regression: Regression, *, lost: int, held_until: int) -> None:
        blocks = [block for block, _ in zip(regression.blocks(4), range(lost), strict=False)]
        self._lost = {match.seed for block in blocks for match in block.matches}
        self._won_left = held_until
        self._free = trio.Event()
        self.won_first = False

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        """See `referee.host.one_match.play`."""
        await trio.lowlevel.checkpoint()
        head = players.index("head")
        if plan.seed in self._lost:
            if self._won_left > 0:
                self.won_first = True
                await self._free.wait()
            head = 1 - head
        else:
            self._won_left -= 1
            if self._won_left <= 0:
                self._free.set()
        return replace(result(plan, players, transcript), outcome=outcome((head,), (1 - head,)))


def test_it_stops_in_schedule_order_though_the_blocks_end_in_another(
    tmp_path: Path, open_ledger: OpenLedger
) -> None:
    """Forty wins end before the first of ten losses; by order of finishing head would be accepted."""
    disturbed, calm = asked(tmp_path / "disturbed"), asked(tmp_path / "calm")
    late = Decided(disturbed, lost=20, held_until=80)
    found = playing(disturbed, late, concurrency=42)
    assert late.won_first
    assert SprtVerdict.REJECTED is found.state.verdict
    assert playing(calm, Decided(calm, lost=20, held_until=0), concurrency=1) == found
    assert len(open_ledger(tmp_path / "disturbed/ledger.sqlite").results()) > 2 * found.state.blocks


def test_it_stops_playing_once_it_is_decided(tmp_path: Path, open_ledger: OpenLedger) -> None:
    regression = asked(tmp_path)
    found = playing(regression, Decided(regression, lost=0, held_until=0))
    assert (SprtVerdict.ACCEPTED, 10) == (found.state.verdict, found.state.blocks)
    assert 10 <= len(open_ledger(tmp_path / "ledger.sqlite").finished()) / 2 <= 11


def test_a_decided_test_is_not_played_again_and_says_the_same(tmp_path: Path) -> None:
    regression, again = asked(tmp_path), AtOnce()
    found = playing(regression, Decided(regression, lost=0, held_until=0))
    assert found == playing(regression, again)
    assert [] == again.played


@pytest.mark.parametrize("game", ["mist", "runes-to-ruins"])
def test_a_test_that_was_stopped_goes_on_and_comes_out_as_if_it_had_not_been(tmp_path: Path, game: str) -> None:
    bots: dict[str, Any] = {"base": "any_random", "head": "any_random", "game": game, "blocks": 12}
    bots |= {"elo1": 100.0} if game == "mist" else {"elo1": None, "high": 0.02}
    full = TranscriptError("cannot be written: No space left on device", Path("/t/x.jsonl"))
    first, second = AtOnce(fails_after=9, failure=full), AtOnce()
    with pytest.raises(MachineCannot):
        playing(asked(tmp_path / "stopped", **bots), first)
    resumed = playing(asked(tmp_path / "stopped", **bots), second)
    undisturbed = AtOnce()
    assert playing(asked(tmp_path / "calm", **bots), undisturbed) == replace(resumed, voids=[])
    assert len(undisturbed.played) == len(first.played) + len(second.played)


def test_a_test_that_was_undecided_goes_on_with_a_higher_limit(tmp_path: Path) -> None:
    """Players of equal strength: nothing is decided so soon."""
    first, second = AtOnce(), AtOnce()
    short = playing(asked(tmp_path / "one", blocks=4), first)
    longer = playing(asked(tmp_path / "one", blocks=7), second)
    assert (SprtVerdict.UNDECIDED, 4, 7) == (short.state.verdict, short.state.blocks, longer.state.blocks)
    assert (8, 6) == (len(first.played), len(second.played))
    assert longer == playing(asked(tmp_path / "other", blocks=7))


def test_with_a_lower_limit_what_was_played_beyond_it_does_not_count(tmp_path: Path) -> None:
    playing(asked(tmp_path / "one", blocks=7))
    assert playing(asked(tmp_path / "other", blocks=4)) == playing(asked(tmp_path / "one", blocks=4))


def test_another_hypothesis_on_the_same_results_is_refused_and_named(tmp_path: Path) -> None:
    """Who looks, and then chooses what to test, errs more often than alpha."""
    playing(asked(tmp_path, blocks=2))
    with pytest.raises(WrongUse) as caught:
        playing(asked(tmp_path, blocks=2, elo1=50.0))
    assert (
        f"{tmp_path}: its results are of a test with other terms: test.elo1 was 100.0, is 50.0."
        " Undo that to go on, or begin anew: --fresh, or another folder with --results"
    ) == caught.value.format_message()


def test_fresh_starts_again(tmp_path: Path) -> None:
    playing(asked(tmp_path, blocks=2))
    again = AtOnce()
    playing(asked(tmp_path, blocks=2, elo1=50.0), again, fresh=True)
    assert 4 == len(again.played)


def test_the_default_folder_is_another_for_other_bots_and_hypotheses_and_not_for_another_limit() -> None:
    here = Path()
    first = folder_for(asked(here))
    assert "runs/regress" == str(first.parent)
    assert first == folder_for(asked(here, blocks=3))
    assert first != folder_for(asked(here, elo1=3.0))
    assert first != folder_for(asked(here, head="mist_random"))


def test_other_times_are_another_folder_and_refused_in_the_same(tmp_path: Path) -> None:
    clock = tmp_path / "times.toml"
    clock.write_text("[clock]\nbudget_ms = 10000\n")
    results = tmp_path / "results"
    regression = asked(results, blocks=2, clock=clock)
    assert 10_000 == (regression.arena.plan().clock or ClockTable()).budget_ms
    playing(regression)
    playing(asked(results, blocks=2, clock=clock))
    assert folder_for(regression) != folder_for(asked(results, blocks=2))
    clock.write_text("[clock]\nbudget_ms = 20000\n")
    with pytest.raises(WrongUse, match=r"clock\.budget_ms was 10000, is 20000\. Undo that"):
        playing(asked(results, blocks=2, clock=clock))
    with pytest.raises(WrongUse, match=r"clock\.budget_ms was 10000, is not set"):
        playing(asked(results, blocks=2))


def test_lines_are_of_the_blocks_that_counted(tmp_path: Path) -> None:
    regression = asked(tmp_path)
    base, head = playing(regression, Decided(regression, lost=0, held_until=0), concurrency=9).standings
    assert ((20, 0), (20, 20)) == ((base.played, base.wins), (head.played, head.wins))
