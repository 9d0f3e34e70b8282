"""Void attempts because of one bot: its block is set aside, the rest goes on, and the host decides."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import trio
from click.testing import CliRunner
from msgspec.structs import replace

from arena.commands.main import main
from arena.errors import MachineCannot
from arena.schedule.round_robin import round_robin
from arena.statistics.standings import CountedMatch
from arena.tournament.aside import Again, Asides, LeftOut, OwnDoing, SetAside, StepTaken
from arena.tournament.ledger import Ledger
from arena.tournament.runner import ATTEMPTS, BlockRunner, MatchSetup, Settle
from arena.workers.api import Worker
from referee.host.plan import AttemptResult, Plan
from referee.host.players import RemoteBot
from referee.match.records import Verdict
from referee.match.seat_report import SeatReport, spread_of
from referee.match.verdicts import HeldUp
from tests.arena.ledgers import OpenLedger
from tests.arena.stand_in import StandIn, result
from tests.arena.tournament.old_ledgers import TERMS
from tests.arena.tournament.test_runner import Heard, at_once

BOTS = ("a", "b", "c", "d")
BLOCKS = partial(round_robin, len(BOTS), 2, 5)
MATCHES = 2 * 6 * 2


class HoldsUp:
    """Plays matches. In those that fit, a bot is held up: the attempt is void, unless its seat is not excused."""

    def __init__(
        self,
        bots: Sequence[str],
        *,
        blocks: Collection[int] | None = None,
        verdict: Verdict = Verdict.HOST,
        order: int = 0,
    ) -> None:
        """`bots`: whose turn it is to be held up, again and again; `blocks`: only in these."""
        self.plans: list[Plan] = []
        self._bots, self._blocks, self._verdict = list(bots), blocks, verdict
        self._rng = Random(order)

    async def __call__(self, plan: Plan, players: Sequence[Any], *, transcript: Path) -> AttemptResult:
        """See `referee.host.one_match.play`."""
        await trio.sleep(self._rng.random())
        self.plans.append(plan)
        names = [getattr(player, "name", player) for player in players]
        done = result(plan, [str(name) for name in names], transcript)
        bot = self._bots[0]
        if bot not in plan.labels or (self._blocks is not None and plan.block not in self._blocks):
            return done
        seat = plan.labels.index(bot)
        if seat in plan.unexcused:
            return done
        self._bots.append(self._bots.pop(0))
        held_up = HeldUp(seat=seat, verdict=self._verdict, window=3, evidence="150 ms late after 1,000 ms")
        return replace(done, outcome=None, void=f"the {self._verdict.value} is at fault", held_up=held_up)


async def play_all(
    ledger: Ledger,
    folder: Path,
    play: Any,
    *,
    settle: Settle = "by_host",
    concurrency: int = 2,
    players: tuple[Any, ...] = BOTS,
    said: list[str] | None = None,
) -> None:
    plan = Plan(match="", game="g", variant="v", seed=0)
    field = MatchSetup(plan=plan, players=players, names=BOTS, transcripts=folder)
    await BlockRunner(
        field,
        BLOCKS,
        ledger,
        workers=[Worker(play=play, slots=concurrency)],
        progress=Heard(),
        write=at_once,
        settle=settle,
        tell_aside=None if said is None else said.append,
    ).play()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(Ledger(tmp_path / "ledger.sqlite")) as made:
        yield made


def blocks_of(results: Sequence[CountedMatch]) -> set[int]:
    return {played.block for played in results}


class TestSetAside:
    async def test_the_block_is_set_aside_the_bot_is_named_and_the_rest_is_played(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        said: list[str] = []
        await play_all(ledger, tmp_path, HoldsUp(["b"], blocks={0}), said=said)
        assert set(range(1, 12)) == blocks_of(ledger.results())
        (aside,) = ledger.asides().undecided
        assert (0, 1) == (aside.block, aside.set_aside.entrant)
        evidence = {
            "window 3 of seat 0: 150 ms late after 1,000 ms",
            "window 3 of seat 1: 150 ms late after 1,000 ms",
        }
        assert ATTEMPTS == len(aside.set_aside.evidence)
        assert evidence >= set(aside.set_aside.evidence)
        (line,) = said
        assert line.startswith(
            "block 1 is set aside: b alone was held up in 3 attempts at it, most recently in window 3"
        )
        assert line.endswith("the rest goes on, and the host decides (arena decide)")

    async def test_a_block_that_is_set_aside_is_not_played_by_a_later_run(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        await play_all(ledger, tmp_path, HoldsUp(["b"], blocks={0}))
        later = StandIn()
        await play_all(ledger, tmp_path, later)
        assert [] == later.played

    @pytest.mark.parametrize("unexcused", [(), (1,)])
    async def test_the_host_has_it_played_again(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object, unexcused: tuple[int, ...]
    ) -> None:
        await play_all(ledger, tmp_path, HoldsUp(["b"], blocks={0}))
        ledger.add_step(0, Again(unexcused=unexcused))
        later = HoldsUp(["b"], blocks={0}) if unexcused else StandIn()
        await play_all(ledger, tmp_path, later)
        assert set(range(12)) == blocks_of(ledger.results())
        plans = later.plans if isinstance(later, HoldsUp) else later.played
        assert [bool(unexcused)] * 2 == [plan.unexcused == (plan.labels.index("b"),) for plan in plans]

    async def test_played_again_and_excused_it_is_set_aside_after_as_many_attempts(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        await play_all(ledger, tmp_path, HoldsUp(["b"], blocks={0}))
        ledger.add_step(0, Again())
        later = HoldsUp(["b"], blocks={0})
        await play_all(ledger, tmp_path, later, concurrency=1)
        assert ATTEMPTS == len(later.plans)
        assert 1 == len(ledger.asides().undecided)

    async def test_blocks_that_the_host_leaves_out_are_not_played(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        await play_all(ledger, tmp_path, HoldsUp(["b"], blocks={0}))
        ledger.add_step(0, LeftOut())
        later = StandIn()
        await play_all(ledger, tmp_path, later)
        assert [] == later.played
        assert [0] == [each.block for each in ledger.asides().left_out]

    async def test_a_block_that_others_depend_on_is_played_last_without_excuse_for_its_bot(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        play, said = HoldsUp(["b"], blocks={0}), list[str]()
        await play_all(ledger, tmp_path, play, settle="last", said=said)
        assert set(range(12)) == blocks_of(ledger.results())
        assert [0, 0] == [plan.block for plan in play.plans[-2:]]
        assert all(plan.unexcused == (plan.labels.index("b"),) for plan in play.plans[-2:])
        assert not any(plan.unexcused for plan in play.plans[:-2])
        assert 2 == len(said)

    async def test_or_at_once(self, ledger: Ledger, tmp_path: Path, autojump_clock: object) -> None:
        play = HoldsUp(["b"], blocks={0})
        await play_all(ledger, tmp_path, play, settle="at_once", concurrency=1)
        assert set(range(12)) == blocks_of(ledger.results())
        assert [0] * 5 == [plan.block for plan in play.plans[:5]]

    @pytest.mark.parametrize("settle", ["by_host", "last"])
    async def test_stopped_at_any_moment_it_comes_to_the_same(
        self, tmp_path: Path, autojump_clock: object, settle: Settle, open_ledger: OpenLedger
    ) -> None:
        """Deals too, for the results of the stand-in follow from the seed."""
        undisturbed = open_ledger(tmp_path / "undisturbed")
        await play_all(undisturbed, tmp_path, HoldsUp(["b"], blocks={0, 6}), settle=settle, concurrency=1)
        rng, stops, path = Random(2), 0, tmp_path / "stopped"
        while True:
            ledger = open_ledger(path)
            ledger.give_up_unfinished()
            with trio.move_on_after(rng.uniform(0.1, 2)) as limit:
                play = HoldsUp(["b"], blocks={0, 6}, order=stops)
                await play_all(ledger, tmp_path, play, settle=settle, concurrency=1)
            if not limit.cancelled_caught:
                break
            ledger.close()
            stops += 1
        assert stops > 3
        assert undisturbed.results() == ledger.results()
        decided = [
            [(each.block, each.set_aside.entrant, each.decision) for each in one.asides().blocks]
            for one in (undisturbed, ledger)
        ]
        assert decided[0] == decided[1]
        assert 2 == len(decided[0])
        undisturbed.close()
        ledger.close()


class TestMachineTooSmall:
    async def test_a_block_that_is_void_for_different_bots_is_the_machines_fault(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        with pytest.RaisesGroup(pytest.RaisesExc(MachineCannot, match=r"void 3 times.*this machine is too small")):
            await play_all(ledger, tmp_path, HoldsUp(["a", "b"], blocks={0}), concurrency=1)
        assert () == ledger.asides().blocks

    async def test_many_blocks_for_different_bots_are_too(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        """Two of four bots are each held up alone in some block."""

        async def play(plan: Plan, players: Sequence[Any], *, transcript: Path) -> AttemptResult:
            return await HoldsUp([plan.labels[0 if plan.seating == 0 else 1]])(
                plan, players, transcript=transcript
            )

        with pytest.RaisesGroup(pytest.RaisesExc(MachineCannot, match="this machine is too small")):
            await play_all(ledger, tmp_path, play)

    async def test_the_referees_lateness_is_no_bots_doing(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        with pytest.RaisesGroup(pytest.RaisesExc(MachineCannot, match=r"void 3 times.*this machine is too small")):
            await play_all(ledger, tmp_path, HoldsUp(["b"], blocks={0}, verdict=Verdict.REFEREE))
        assert () == ledger.asides().blocks

    async def test_one_bot_never_ends_a_tournament_however_many_blocks_it_makes_void(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        await play_all(ledger, tmp_path, HoldsUp(["b"]))
        with_b = {block.number for block in BLOCKS() if 1 in block.entrants}
        assert with_b == {each.block for each in ledger.asides().undecided}
        assert set(range(12)) - with_b == blocks_of(ledger.results())


class TestOwnDoing:
    """Seats are compared over the tournament: see `arena.tournament.aside`."""

    BLOCKS = staticmethod(partial(round_robin, len(BOTS), 10, 5))

    async def play(self, ledger: Ledger, folder: Path, *, others_too: bool, said: list[str]) -> list[Plan]:
        """Hold b up in each block but its first, and its opponents in every second one if they are, too."""
        plans: list[Plan] = []
        reports = (SeatReport(spread=spread_of([900] * 20), worst_us=1_000),) * 2

        async def play(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
            await trio.lowlevel.checkpoint()
            plans.append(plan)
            done = replace(result(plan, players, transcript), reports=reports)
            if "b" not in plan.labels or plan.block == first:
                return done
            seat = plan.labels.index("b")
            if seat in plan.unexcused:
                return done
            verdicts = ({"host": 1}, {"host": 1}) if others_too else ({}, {})
            held_up = HeldUp(seat=seat, verdict=Verdict.HOST, window=3, evidence="late", allowed=1_000_000)
            return replace(done, outcome=None, void="the host is at fault", held_up=held_up, verdicts=verdicts)

        first = next(block.number for block in self.BLOCKS() if 1 in block.entrants)
        field = MatchSetup(
            plan=Plan(match="", game="g", variant="v", seed=0), players=BOTS, names=BOTS, transcripts=folder
        )
        await BlockRunner(
            field,
            self.BLOCKS,
            ledger,
            workers=[Worker(play=play, slots=1)],
            progress=Heard(),
            write=at_once,
            tell_aside=said.append,
        ).play()
        return plans

    async def test_a_bot_that_is_held_up_alone_again_and_again_is_excused_no_more(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        """Blocks that were set aside because of the bot are then played, and none is left to the host."""
        said: list[str] = []
        plans = await self.play(ledger, tmp_path, others_too=False, said=said)
        asides = ledger.asides()
        assert [1] == [each.entrant for each in asides.own_doing]
        assert (
            "it was held up in 22 void attempts, in which no opponent was, though as exposed"
            in asides.own_doing[0].evidence
        )
        assert {each.number for each in self.BLOCKS()} == blocks_of(ledger.results())
        assert () == asides.undecided
        assert 7 == len(asides.blocks)
        assert said[-1].startswith(
            "b: it causes its hold-ups itself, so they no longer excuse it: it was held up in 22"
        )
        later = plans[-1]
        assert later.unexcused == (later.labels.index("b"),) if "b" in later.labels else not later.unexcused

    async def test_a_bot_stays_excused_if_others_are_held_up_too(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        await self.play(ledger, tmp_path, others_too=True, said=[])
        asides = ledger.asides()
        assert () == asides.own_doing
        assert 29 == len(asides.undecided)

    async def test_a_bots_longest_time_is_read_from_matches_that_count(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        assert ledger.longest_window(1) is None
        await self.play(ledger, tmp_path, others_too=True, said=[])
        assert 1_000 == ledger.longest_window(1)
        assert ledger.longest_window(17) is None


class TestDeals:
    async def seeds_of_block(self, ledger: Ledger, folder: Path, play: HoldsUp, **more: Any) -> list[int]:
        await play_all(ledger, folder, play, settle="last", concurrency=1, **more)
        return [plan.seed for plan in play.plans if plan.block == 0]

    async def test_a_void_never_replays_the_same_deal_and_both_seatings_share_one(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        play = HoldsUp(["b"], blocks={0})
        seeds = await self.seeds_of_block(ledger, tmp_path, play)
        first = next(BLOCKS()).matches[0]
        assert [first.seed, first.dealt(1), first.dealt(2), first.dealt(3), first.dealt(3)] == seeds
        assert 4 == len(set(seeds))

    async def test_the_deal_follows_from_block_and_attempt_alone(
        self, tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
    ) -> None:
        found = [
            await self.seeds_of_block(
                open_ledger(tmp_path / f"{order}"), tmp_path, HoldsUp(["b"], blocks={0}, order=order)
            )
            for order in range(3)
        ]
        assert found[0] == found[1] == found[2]

    async def test_a_void_attempt_by_the_referees_fault_is_dealt_again_too(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        play = HoldsUp(["b"], blocks={0}, verdict=Verdict.REFEREE)
        with pytest.RaisesGroup(MachineCannot):
            await play_all(ledger, tmp_path, play, concurrency=1)
        assert 3 == len({plan.seed for plan in play.plans if plan.block == 0})

    async def test_a_bot_that_may_remember_sees_no_deal_again_whatever_made_it_void(
        self, ledger: Ledger, tmp_path: Path, autojump_clock: object
    ) -> None:
        seen: list[int] = []
        voids = ["no memory"] * 2

        async def play(plan: Plan, players: Sequence[Any], *, transcript: Path) -> AttemptResult:
            await trio.lowlevel.checkpoint()
            done = result(plan, plan.labels, transcript)
            if plan.block == 0:
                seen.append(plan.seed)
                if voids:
                    return replace(done, outcome=None, void=voids.pop())
            return done

        await play_all(ledger, tmp_path, play, concurrency=1, players=(RemoteBot("a", "key"), *BOTS[1:]))
        assert 4 == len(seen) == len(set(seen))


class TestTheHost:
    @pytest.fixture
    def cup(self, tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger) -> Callable[..., Any]:
        folder = tmp_path / "cup"
        folder.mkdir()
        ledger = open_ledger(folder / "ledger.sqlite")
        ledger.begin(TERMS | {"bots": list(BOTS), "blocks": 2})

        async def played() -> Path:
            await play_all(ledger, folder, HoldsUp(["b"], blocks={0}))
            ledger.close()
            return folder

        return played

    async def test_decides_by_a_command(self, cup: Callable[..., Any]) -> None:
        folder = str(await cup())

        def asked(*words: str) -> tuple[int, str]:
            done = CliRunner().invoke(main, ["decide", folder, *words])
            return done.exit_code, done.output

        assert (2, "arena: block 2 is not set aside; set aside: 1\n") == asked("2", "--again")
        assert (2, "arena: give one of --again, --no-excuse BOT and --leave-out\n") == asked("1")
        code, said = asked("1", "--no-excuse", "b")
        assert 0 == code
        assert (
            "block 1 was set aside, and the host has it played again, and a hold-up does not excuse b in it"
            in said
        )
        code, said = asked("1", "--leave-out")
        assert 0 == code
        assert "block 1 was set aside, and left out by the host" in said
        assert "no bot is called zoe" in asked("1", "--no-excuse", "zoe")[1]

    async def test_reads_of_it_everywhere(self, cup: Callable[..., Any], tmp_path: Path) -> None:
        folder = str(await cup())
        line = (
            "block 1 is set aside, and waits for the host (arena decide): b alone was held up in 3 attempts at it"
        )
        assert line in CliRunner().invoke(main, ["results", folder]).output
        assert line in CliRunner().invoke(main, ["report", folder]).output
        report = CliRunner().invoke(main, ["report", folder, "--json", "--html", str(tmp_path / "page.html")])
        assert '"blocks_set_aside":[{"block":0,"bot":"b","evidence":[' in report.stdout.replace(" ", "")
        page = (tmp_path / "page.html").read_text()
        assert "the host has not decided yet; b alone was held up in 3 attempts" in page
        assert "block 1" not in page


class TestWhatTheLedgerSays:
    def test_a_bot_not_excused_in_one_block_is_excused_in_all_others(self) -> None:
        steps = [
            StepTaken(attempt=3 * block, block=block, step=step)
            for block, bots in ((0, (1,)), (4, (2, 3)))
            for step in (SetAside(entrant=bots[0], evidence=()), Again(unexcused=bots))
        ]
        asides = Asides.of(steps)
        assert [{1}, set(), {2, 3}] == [asides.unexcused(block) for block in (0, 1, 4)]

    def test_a_bot_has_one_of_a_million_numbers(self) -> None:
        def own_doing(entrant: int) -> OwnDoing:
            return msgspec.convert({"type": "own-doing", "entrant": entrant, "evidence": ""}, OwnDoing)

        assert 1_000_000 == own_doing(1_000_000).entrant
        with pytest.raises(msgspec.ValidationError, match="entrant"):
            own_doing(1_000_001)
