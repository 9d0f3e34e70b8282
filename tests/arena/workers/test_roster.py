"""The roster: workers may come and go while matches are played, and nothing is lost or played twice."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import trio

from arena.schedule.queue import MatchQueue
from arena.schedule.round_robin import round_robin
from arena.tournament.ledger import INTERRUPTED, Ledger
from arena.tournament.runner import BlockRunner, MatchSetup
from arena.workers.api import Roster, Worker, WorkerGoneError
from referee.host.plan import AttemptResult, Plan
from tests.arena.ledgers import OpenLedger
from tests.arena.stand_in import StandIn
from tests.arena.tournament.test_runner import BLOCKS, BOTS, MATCHES, Heard, at_once, table, undisturbed


async def play_all(ledger: Ledger, folder: Path, roster: Roster[Worker[str]]) -> None:
    plan = Plan(match="", game="g", variant="v", seed=0)
    field = MatchSetup(plan=plan, players=BOTS, names=BOTS, transcripts=folder)
    await BlockRunner(field, BLOCKS, ledger, workers=roster, progress=Heard(), write=at_once).play()


async def test_a_worker_that_joins_plays_too_even_if_it_is_the_first(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    expected = await undisturbed(tmp_path)
    ledger, first, second = open_ledger(tmp_path / "l"), StandIn(), StandIn()
    roster: Roster[Worker[str]] = Roster()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(play_all, ledger, tmp_path, roster)
        await trio.sleep(1)
        roster.add(Worker(play=first, slots=2))
        await trio.sleep(1)
        roster.add(Worker(play=second, slots=3))
    assert expected == table(ledger)
    assert MATCHES == len(first.played) + len(second.played)
    assert (2, 3) == (first.most_at_once, second.most_at_once)


async def test_a_worker_that_leaves_gets_no_more_matches_and_others_play_its_matches(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    expected = await undisturbed(tmp_path)
    ledger, stays, lost = open_ledger(tmp_path / "l"), StandIn(), trio.Event()
    begun: list[str] = []

    async def leaves(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        begun.append(plan.match)
        await lost.wait()
        raise WorkerGoneError("gone")

    roster = Roster([Worker(play=leaves, slots=3), Worker(play=stays, slots=1)])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(play_all, ledger, tmp_path, roster)
        await trio.sleep(3)
        roster.remove(0)
        lost.set()
    assert expected == table(ledger)
    assert (3, MATCHES) == (len(begun), len(stays.played))
    assert ([], 3) == (ledger.voids(), interrupted(ledger))


def interrupted(ledger: Ledger) -> int:
    """How many attempts were."""
    return len(ledger._db.execute("SELECT 1 FROM attempts WHERE void = ?", (INTERRUPTED,)).fetchall())


async def test_a_roster_that_changes_serves_round_after_round(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    plan = Plan(match="", game="g", variant="v", seed=0)
    field = MatchSetup(plan=plan, players=BOTS, names=BOTS, transcripts=tmp_path)
    ledger, gone, here = open_ledger(tmp_path / "l"), StandIn(), StandIn()
    roster = Roster([Worker(play=gone, slots=1), Worker(play=here, slots=1)])
    roster.remove(0)
    for deals in (1, 2):
        blocks = partial(round_robin, len(BOTS), deals, 5)
        await BlockRunner(field, blocks, ledger, workers=roster, progress=Heard(), write=at_once).play()
    assert ([], MATCHES * 2 // 3) == (gone.played, len(here.played))


def test_the_blocks_of_one_who_left_are_ended_before_others_are_begun() -> None:
    """A sequential test counts blocks in order: one left lying would hold it up to its limit."""
    agenda = MatchQueue(round_robin(2, 3, 1), set())
    ticket = agenda.take(0)
    assert ticket is not None
    agenda.interrupted(ticket)
    agenda.left(0)
    taken = [agenda.take(1) for _ in range(3)]
    assert [0, 0, 1] == [each.match.block for each in taken if each is not None]


async def test_numbers_are_not_given_twice() -> None:
    roster = Roster(["a"])
    roster.remove(0)
    assert (1, {1: "b"}, False) == (roster.add("b"), roster.members, 0 in roster)
