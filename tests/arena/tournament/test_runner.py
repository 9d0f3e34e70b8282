"""The runner: what is left is played, however often it was stopped, and the table comes out the same."""

import errno
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import msgspec
import pytest
import trio
from msgspec.structs import replace

from arena.errors import MachineCannot
from arena.schedule.blocks import ScheduledMatch
from arena.schedule.round_robin import round_robin
from arena.statistics.standings import standings_of
from arena.tournament.ledger import Ledger
from arena.tournament.runner import ATTEMPTS, INTERRUPTIONS, BlockRunner, MatchSetup
from arena.workers.api import PlayMatch, Worker, WorkerGoneError
from referee.host.plan import AttemptResult, Plan
from referee.host.players import LocalSeat, RemoteBot, identity
from referee.match import records
from referee.match.records import bot_seed, remote_bot_seed
from referee.sandbox import SandboxError
from referee.transcript.chain import TranscriptError
from tests.arena.ledgers import OpenLedger
from tests.arena.stand_in import StandIn, result

BOTS = ("a", "b", "c", "d")
BLOCKS = partial(round_robin, len(BOTS), 3, 5)
MATCHES = 2 * 6 * 3
AnswerT = TypeVar("AnswerT")


async def at_once(call: Callable[[], AnswerT]) -> AnswerT:
    """Write without a thread: a virtual clock does not wait for one."""
    return call()


class Heard:
    """Keeps what the runner tells of its progress."""

    def __init__(self) -> None:
        self.done: list[ScheduledMatch] = []
        self.voids: list[str] = []
        self.losses: list[tuple[int, int, str]] = []

    def ended(self, match: ScheduledMatch, result: AttemptResult) -> None:
        del result
        self.done.append(match)

    def void(self, match: ScheduledMatch, reason: str, set_aside: int) -> None:
        del match, set_aside
        self.voids.append(reason)

    def lost(self, match: ScheduledMatch, reason: str) -> None:
        self.losses.append((match.block, match.seating, reason))


async def play_all(
    ledger: Ledger, folder: Path, play: PlayMatch[str], *, concurrency: int = 3, heard: Heard | None = None
) -> None:
    plan = Plan(match="", game="g", variant="v", seed=0)
    field = MatchSetup(plan=plan, players=BOTS, names=BOTS, transcripts=folder)
    workers = [Worker(play=play, slots=concurrency)]
    await BlockRunner(field, BLOCKS, ledger, workers=workers, progress=heard or Heard(), write=at_once).play()


def table(ledger: Ledger) -> bytes:
    return msgspec.json.encode(standings_of(len(BOTS), ledger.results()))


async def undisturbed(folder: Path) -> bytes:
    with closing(Ledger(folder / "undisturbed")) as ledger:
        await play_all(ledger, folder, StandIn())
        return table(ledger)


async def test_every_match_is_played_once_and_no_more_than_asked_for_at_once(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    play, heard = StandIn(), Heard()
    await play_all(open_ledger(tmp_path / "l"), tmp_path, play, concurrency=5, heard=heard)
    expected = [match.name for block in BLOCKS() for match in block.matches]
    assert sorted(expected) == sorted(plan.match for plan in play.played)
    assert (MATCHES, 5) == (len(heard.done), play.most_at_once)


def seeds(played: Sequence[Plan]) -> dict[str, tuple[int, ...]]:
    """By match, those that its bots are told."""

    async def never(_: object) -> None:
        raise AssertionError

    nobody = LocalSeat("", never)
    return {plan.match: tuple(identity(plan, seat, nobody, seats=2).seed for seat in (0, 1)) for plan in played}


async def test_no_bot_is_told_a_seed_twice_not_even_in_the_matches_of_one_deal(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    play = StandIn()
    await play_all(open_ledger(tmp_path / "l"), tmp_path, play)
    told = [seed for match in seeds(play.played).values() for seed in match]
    assert (2 * MATCHES, 2 * MATCHES) == (len(told), len(set(told)))


async def test_a_bot_that_may_remember_a_deal_does_not_play_it_again(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    """Of two seats, the matches of a block have one deal, but for blocks in which a remote bot plays."""
    play = StandIn()
    players: tuple[Any, ...] = (RemoteBot("a", "key"), *BOTS[1:])
    field = MatchSetup(
        plan=Plan(match="", game="g", variant="v", seed=0), players=players, names=BOTS, transcripts=tmp_path
    )
    await BlockRunner(
        field,
        BLOCKS,
        open_ledger(tmp_path / "l"),
        workers=[Worker(play=play, slots=3)],
        progress=Heard(),
        write=at_once,
    ).play()
    deals = {plan.match: plan.seed for plan in play.played}
    for block in BLOCKS():
        one, other = (deals[match.name] for match in block.matches)
        assert (one != other) == (0 in block.entrants)
        assert 0 in block.entrants or one == block.matches[0].seed


def test_a_remote_bot_is_told_a_seed_that_is_dear_to_guess_from(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(match="", game="g", variant="v", seed=7)
    bot = RemoteBot("a", "key")
    told = [identity(plan, seat, bot, seats=2).seed for seat in (0, 1)]
    assert 2 == len({*told} - {bot_seed(7, 0), bot_seed(7, 1)})
    assert told == [remote_bot_seed(7, seat) for seat in (0, 1)]
    monkeypatch.setattr(records, "REMOTE_ROUNDS", records.REMOTE_ROUNDS + 1)
    assert told != [remote_bot_seed(7, seat) for seat in (0, 1)]


async def test_a_match_that_is_played_again_has_the_seeds_that_it_had(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    undisturbed, disturbed = StandIn(), StandIn(void=["no memory"], order=1)
    await play_all(open_ledger(tmp_path / "l"), tmp_path, undisturbed)
    with trio.move_on_after(2.3):
        await play_all(open_ledger(tmp_path / "again"), tmp_path, disturbed)
    ledger = open_ledger(tmp_path / "again")
    ledger.give_up_unfinished()
    await play_all(ledger, tmp_path, disturbed)
    assert len(disturbed.played) > MATCHES
    assert seeds(undisturbed.played) == seeds(disturbed.played)
    assert seeds(disturbed.played[::-1]) == seeds(disturbed.played)


async def test_the_order_in_which_matches_end_does_not_change_the_table(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    expected = await undisturbed(tmp_path)
    for order in range(1, 4):
        ledger = open_ledger(tmp_path / f"l{order}")
        await play_all(ledger, tmp_path, StandIn(order=order), concurrency=order)
        assert expected == table(ledger)


async def test_stopped_again_and_again_it_comes_to_the_same_table(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    expected = await undisturbed(tmp_path)
    rng, path, stops = Random(3), tmp_path / "l", 0
    while True:
        ledger = open_ledger(path)
        ledger.give_up_unfinished()
        with trio.move_on_after(rng.uniform(0.1, 2)) as limit:
            await play_all(ledger, tmp_path, StandIn(order=stops))
        done = table(ledger)
        ledger.close()
        if not limit.cancelled_caught:
            break
        stops += 1
    assert expected == done
    assert stops > 3


async def test_a_finished_match_is_never_played_again(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    """Not even one whose block is not complete: who stops the arena must not get another throw of the dice."""
    ledger = open_ledger(tmp_path / "l")
    first, second = StandIn(), StandIn()
    with trio.move_on_after(2.3):
        await play_all(ledger, tmp_path, first)
    assert 0 < len(first.played) < MATCHES
    await play_all(ledger, tmp_path, second)
    assert MATCHES == len({plan.match for plan in (*first.played, *second.played)})
    assert MATCHES == len(first.played) + len(second.played)


async def test_no_result_waits_for_a_match_that_takes_long(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    good, ledger = StandIn(), open_ledger(tmp_path / "l")

    async def first_takes_long(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        await trio.sleep(1_000_000 if transcript.name.startswith("00001a") else 0)
        return await good(plan, players, transcript=transcript)

    with trio.move_on_after(1_000):
        await play_all(ledger, tmp_path, first_takes_long, concurrency=2)
    assert (MATCHES - 1, MATCHES - 2) == (len(ledger.finished()), len(ledger.results()))


async def test_a_void_attempt_is_recorded_with_its_reason_and_its_block_is_played_again(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    expected = await undisturbed(tmp_path)
    ledger, heard = open_ledger(tmp_path / "l"), Heard()
    await play_all(ledger, tmp_path, StandIn(void=["no memory", "no socket"]), heard=heard)
    assert ["no memory", "no socket"] == heard.voids
    assert ["no memory", "no socket"] == [reason for _, _, reason in ledger.voids()]
    assert expected == table(ledger)


async def test_with_a_void_attempt_its_whole_block_is_played_again_even_what_is_being_played(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    expected = await undisturbed(tmp_path)
    good, begun = StandIn(), []

    async def second_is_void(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        begun.append(transcript.name)
        if transcript.name == "00001b-b-a.jsonl":
            return replace(result(plan, players, transcript), outcome=None, void="no memory")
        return await good(plan, players, transcript=transcript)

    ledger = open_ledger(tmp_path / "l")
    await play_all(ledger, tmp_path, second_is_void, concurrency=2)
    assert ["00001a-a-b.jsonl", "00001b-b-a.jsonl", "00001a-a-b.2.jsonl", "00001b-b-a.2.jsonl"] == sorted(
        (name for name in begun if name.startswith("00001")), key=lambda name: ("2" in name[5:], name)
    )
    assert ([(0, 1, "no memory")], [(0, 0, "no memory")]) == (ledger.voids(), ledger.set_aside())
    assert expected == table(ledger)


async def test_a_match_of_a_lost_worker_is_played_again_without_any_bots_fault(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    expected = await undisturbed(tmp_path)
    good, rng = StandIn(), Random(1)

    async def often_gone(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        if rng.random() < 0.5:
            raise WorkerGoneError("exit code 1")
        return await good(plan, players, transcript=transcript)

    ledger, heard = open_ledger(tmp_path / "l"), Heard()
    await play_all(ledger, tmp_path, often_gone, heard=heard)
    assert (MATCHES, []) == (len(good.played), ledger.voids())
    assert heard.losses
    assert sorted(heard.losses) == sorted(ledger.lost_with_workers())
    assert expected == table(ledger)


async def test_a_match_that_takes_every_worker_with_it_ends_the_run(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    async def never_there(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        await trio.lowlevel.checkpoint()
        raise WorkerGoneError("exit code -11")

    with pytest.RaisesGroup(
        pytest.RaisesExc(
            MachineCannot,
            match=rf"^00001a-a-b: {INTERRUPTIONS} referee processes ended while they played it: exit code -11$",
        )
    ):
        await play_all(open_ledger(tmp_path / "l"), tmp_path, never_there, concurrency=1)


@pytest.mark.parametrize(
    ("at_once", "said"),
    [
        (1, "this machine is too small for even one match at a time"),
        (5, "this machine is too small for 5 matches at once: go on with --concurrency 2"),
    ],
)
async def test_a_block_that_stays_void_ends_the_run_with_its_reason_and_what_may_fit(
    tmp_path: Path, autojump_clock: object, at_once: int, said: str, open_ledger: OpenLedger
) -> None:
    async def void(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        await trio.sleep(0 if transcript.name.startswith("00001a") else 1)
        return replace(result(plan, players, transcript), outcome=None, void="no memory")

    ledger = open_ledger(tmp_path / "l")
    with pytest.RaisesGroup(
        pytest.RaisesExc(
            MachineCannot,
            match=rf"^00001a-a-b: its block was void 3 times, most recently because no memory; {said}$",
        )
    ):
        await play_all(ledger, tmp_path, void, concurrency=at_once)
    assert ATTEMPTS == len(ledger.voids())


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            TranscriptError("cannot be written: No space left on device", Path("/t/x")),
            "/t/x: cannot be written: No",
        ),
        (SandboxError("no sandbox: bwrap is not installed"), "no sandbox: bwrap is not installed"),
    ],
)
async def test_an_error_that_stops_every_match_stops_the_run_and_a_later_run_continues(
    tmp_path: Path, autojump_clock: object, error: Exception, text: str, open_ledger: OpenLedger
) -> None:
    expected = await undisturbed(tmp_path)
    good = StandIn()

    async def fails_later(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        if len(good.played) >= 10:
            raise error
        return await good(plan, players, transcript=transcript)

    ledger = open_ledger(tmp_path / "l")
    with pytest.RaisesGroup(pytest.RaisesExc(MachineCannot, match=text)):
        await play_all(ledger, tmp_path, fails_later)
    assert text in ledger.voids()[0][2]
    ledger.give_up_unfinished()
    await play_all(ledger, tmp_path, StandIn())
    assert expected == table(ledger)


async def test_a_match_for_which_the_machine_had_too_little_is_void_and_played_again(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    expected = await undisturbed(tmp_path)
    good, shortages = StandIn(), [OSError(errno.EMFILE, "Too many open files")]

    async def runs_short_once(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        if shortages:
            raise shortages.pop()
        return await good(plan, players, transcript=transcript)

    ledger = open_ledger(tmp_path / "l")
    await play_all(ledger, tmp_path, runs_short_once)
    [(block, seating, reason)] = ledger.voids()
    assert (0, 0) == (block, seating)
    assert reason.startswith("the machine has run out of something: Too many open files (a process may have ")
    assert expected == table(ledger)


async def test_each_match_that_stops_the_run_is_recorded_with_its_reason(
    tmp_path: Path, autojump_clock: object, open_ledger: OpenLedger
) -> None:
    """The first one's error cancels the others, also while they write theirs down."""

    async def fails(plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        await trio.sleep(1)
        raise SandboxError("no sandbox")

    async def slowly(call: Callable[[], AnswerT]) -> AnswerT:
        await trio.sleep(1)
        return call()

    ledger = open_ledger(tmp_path / "l")
    field = MatchSetup(
        plan=Plan(match="", game="g", variant="v", seed=0), players=BOTS, names=BOTS, transcripts=tmp_path
    )
    workers = [Worker[str](play=fails, slots=3)]
    with pytest.RaisesGroup(*[pytest.RaisesExc(MachineCannot, match="no sandbox")] * 3):
        await BlockRunner(field, BLOCKS, ledger, workers=workers, progress=Heard(), write=slowly).play()
    assert ["no sandbox"] * 3 == [reason for _, _, reason in ledger.voids()]
