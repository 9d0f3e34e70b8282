"""What an arena does while machines of its cluster come and go, and what of it is said."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from arena.errors import MachineCannot, reason_of
from arena.workers.api import Roster, Worker, WorkerGoneError
from arena.workers.cluster import cluster, tasks
from arena.workers.cluster.cluster import SUPPLIES, open_cluster
from arena.workers.cluster.dask import DaskClient
from arena.workers.cluster.transfer import Arrival, Asked, bots_gone
from arena.workers.machine import own_content
from arena.workers.protocol import encoded
from referee.host.plan import Plan

ON = "dask://here:1"
INFO = {"resources": {"matches": 2.0}, "nthreads": 2, "host": "here"}
SMALLER = INFO | {"resources": {"matches": 1.0}}
PLAN = Plan(match="m", game="g", variant="v", seed=0)
NOBODY = Asked(bots=(), isolation="none")
PATIENCE = 60.0
TOLD = f"--on {ON}: the scheduler is gone; waiting {PATIENCE:g} s for it to come back\n"


class Task:
    """Something that a worker of the cluster was asked to do."""

    def __init__(self, answer: bytes | None) -> None:
        """`answer`: None: it is at it for ever."""
        self._answer = answer
        self._waiting = trio.CancelScope()

    def lose(self) -> None:
        self._waiting.cancel()

    async def outcome(self) -> bytes:
        with self._waiting:
            if self._answer is None:
                await trio.sleep_forever()
            await trio.lowlevel.checkpoint()
            assert self._answer is not None
            return self._answer
        raise WorkerGoneError("Dask has lost it")


class Client:
    """A line to a scheduler whose workers have all bots, and play what a test lets them."""

    def __init__(self, **workers: dict[str, Any]) -> None:
        self.there = workers
        self.is_cut = self.closed = False
        self.dismissed: list[str] = []
        self.asked: list[str] = []
        self.played: bytes | None = None
        """What a match gives; None: it never ends."""
        self.asks_last = 0.0
        """How long a worker takes to say what it lacks."""
        self.tell: Callable[[dict[str, Any]], None] = lambda _: None

    def hear(self, heard: Callable[[dict[str, Any]], None]) -> None:
        self.tell = heard

    def comes(self, address: str) -> None:
        self.there[address] = INFO
        self.tell({"action": "add-worker", "worker": address})

    def goes(self, address: str) -> None:
        del self.there[address]
        self.tell({"action": "remove-worker", "worker": address})

    async def look_for(self, module: str, address: str | None = None) -> None:
        await trio.sleep(self.asks_last)

    async def workers(self) -> dict[str, dict[str, Any]]:
        return dict(self.there)

    def submit(self, address: str, function: Callable[..., bytes], *_: Any, slots: int) -> Task:
        self.asked.append(function.__name__)
        if function is tasks.play:
            assert 1 == slots
            return Task(self.played)
        assert 0 == slots
        return Task(b"null" if function is not tasks.arrive else encoded(ARRIVAL))

    def dismiss(self, farewell: Callable[[str], None], argument: str) -> None:
        assert tasks.leave is farewell
        self.dismissed.append(argument)

    def drop(self) -> None:
        self.closed = True

    close = drop


ARRIVAL = Arrival(arena=own_content(), calibrated=2, missing=())


class Scheduler:
    """Whoever answers at the cluster's address."""

    def __init__(self) -> None:
        self.lines: list[Client] = []
        """Each is given once; where there is none, nobody answers."""
        self.asked = 0

    async def __call__(self, _: str) -> Client:
        await trio.lowlevel.checkpoint()
        self.asked += 1
        assert self.asked < 1_000
        if not self.lines:
            raise MachineCannot(f"--on {ON}: no Dask scheduler answers there: refused")
        return self.lines.pop(0)


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    async def run_sync(function: Any, *args: Any, **_: Any) -> Any:
        """Virtual time would jump while a thread works."""
        await trio.lowlevel.checkpoint()
        return function(*args)

    stand_in = Scheduler()
    monkeypatch.setattr(trio.to_thread, "run_sync", run_sync)
    monkeypatch.setattr(cluster, "connected", stand_in)
    monkeypatch.setattr(cluster, "_REACHED", set())
    return stand_in


def larger(roster: Roster[Worker[Any]]) -> Worker[Any]:
    """Return the worker with the most slots."""
    return max(roster.members.values(), key=lambda worker: worker.slots)


async def _match(worker: Worker[Any], errors: list[str]) -> None:
    try:
        await worker.play(PLAN, (), transcript=Path("m.jsonl"))
    except WorkerGoneError as error:
        errors.append(str(error))


async def test_a_worker_that_comes_plays_too_and_is_taken_in_once(
    scheduler: Scheduler, autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    scheduler.lines = [line := Client(first=INFO)]
    async with open_cluster(ON, NOBODY) as roster:
        line.asks_last = 1.0
        line.comes("second")
        await trio.sleep(0.5)
        line.comes("second")
        await trio.sleep(2)
        assert [2, 2] == [worker.slots for worker in roster.members.values()]
        line.comes("second")
        await trio.sleep(2)
        assert 2 == len(roster)
    assert "second has joined and plays, too\n" == capsys.readouterr().err


async def test_matches_of_a_worker_that_disappears_are_given_up(
    scheduler: Scheduler, autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    scheduler.lines = [line := Client(first=INFO, second=SMALLER)]
    errors: list[str] = []
    async with open_cluster(ON, NOBODY) as roster, trio.open_nursery() as nursery:
        nursery.start_soon(_match, larger(roster), errors)
        await wait_all_tasks_blocked()
        line.goes("first")
        await trio.sleep(1)
        assert (["Dask has lost it"], 1) == (errors, len(roster))
        await trio.sleep(10 * PATIENCE)
        assert 1 == len(roster)
    assert "first is gone; what it was playing is played again\n" == capsys.readouterr().err


async def test_when_all_workers_are_gone_others_are_waited_for_but_not_for_ever(
    scheduler: Scheduler, autojump_clock: object
) -> None:
    scheduler.lines = [line := Client(first=INFO)]
    began = trio.current_time()
    with pytest.RaisesGroup(MachineCannot, flatten_subgroups=True) as caught:
        async with open_cluster(ON, NOBODY, patience=PATIENCE) as roster:
            line.goes("first")
            await trio.sleep(PATIENCE - 1)
            line.comes("second")
            await trio.sleep(PATIENCE)
            assert 1 == len(roster)
            line.goes("second")
            await trio.sleep(10 * PATIENCE)
    assert f"--on {ON}: all workers are gone, and in 60 s none came;" in str(reason_of(caught.value))
    assert 3 * PATIENCE - 1 == round(trio.current_time() - began)


async def test_matches_over_a_lost_connection_are_given_up(scheduler: Scheduler, autojump_clock: object) -> None:
    scheduler.lines = [line := Client(first=INFO), Client(first=INFO)]
    errors: list[str] = []
    async with open_cluster(ON, NOBODY) as roster, trio.open_nursery() as nursery:
        nursery.start_soon(_match, larger(roster), errors)
        await wait_all_tasks_blocked()
        line.is_cut = True
        await trio.sleep(1)
        assert ["Dask has lost it"] == errors
        assert 1 == len(roster)
        assert line.closed


@pytest.mark.parametrize("was_here", [True, False])
async def test_a_scheduler_is_looked_for_twice_a_second_where_it_was_seen_before(
    scheduler: Scheduler, autojump_clock: object, capsys: pytest.CaptureFixture[str], was_here: bool
) -> None:
    """Also by the same process's next use of it: a field has changed, and its scheduler is started again."""
    if was_here:
        scheduler.lines = [Client(first=INFO)]
        async with open_cluster(ON, NOBODY):
            pass
        scheduler.asked = 0
    with pytest.RaisesGroup(MachineCannot, flatten_subgroups=True) as caught:
        async with open_cluster(ON, NOBODY, patience=PATIENCE):
            pass
    lack = str(reason_of(caught.value))
    if was_here:
        assert "the scheduler is gone, and did not come back in 60 s" in lack
        assert abs(scheduler.asked - 2 * PATIENCE) <= 1
        assert TOLD == capsys.readouterr().err
    else:
        assert ("no Dask scheduler answers there" in lack, 1) == (True, scheduler.asked)
        assert not capsys.readouterr().err


async def test_the_loss_of_the_scheduler_is_reported_once(
    scheduler: Scheduler, autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    scheduler.lines = [line := Client(first=INFO)]
    async with open_cluster(ON, NOBODY, patience=PATIENCE) as roster:
        line.is_cut = True
        await trio.sleep(PATIENCE / 2)
        assert TOLD == capsys.readouterr().err
        scheduler.lines = [Client(first=INFO)]
        await trio.sleep(1)
        assert 1 == len(roster)
    assert f"--on {ON}: the scheduler is back, with 1 worker\n" == capsys.readouterr().err


async def test_an_arena_that_is_stopped_ends_what_is_played_for_it(
    scheduler: Scheduler, autojump_clock: object
) -> None:
    scheduler.lines = [line := Client(first=INFO)]
    with trio.CancelScope() as stopped:
        async with open_cluster(ON, NOBODY):
            stopped.cancel()
            await trio.sleep_forever()
    assert (1, True) == (len(line.dismissed), line.closed)


async def test_a_worker_that_loses_its_bots_again_and_again_plays_no_more_and_is_named(
    scheduler: Scheduler, autojump_clock: object, capsys: pytest.CaptureFixture[str]
) -> None:
    scheduler.lines = [line := Client(first=INFO, second=SMALLER)]
    line.played = bots_gone()
    errors: list[str] = []
    async with open_cluster(ON, NOBODY) as roster:
        await _match(larger(roster), errors)
        assert SUPPLIES == line.asked.count("play")
        assert 1 == len(roster)
    reason = f"its copies of bots were changed {SUPPLIES} times while it played one match"
    assert [reason] == errors
    assert f"not played on: first {reason}" in capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("calibrated", [1, 2, None])
async def test_only_more_slots_than_were_calibrated_are_told_of(
    scheduler: Scheduler,
    autojump_clock: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    calibrated: int | None,
) -> None:
    monkeypatch.setitem(globals(), "ARRIVAL", Arrival(arena=own_content(), calibrated=calibrated, missing=()))
    scheduler.lines = [Client(first=INFO)]
    async with open_cluster(ON, NOBODY):
        pass
    assert (calibrated == 1) == bool(capsys.readouterr().err)


class TestDask:
    """What Dask is told, and what it tells."""

    async def test_its_events_come_to_trio_s_thread(self) -> None:
        heard: list[dict[str, Any]] = []
        subscribed: list[Callable[[tuple[float, dict[str, Any]]], None]] = []
        dask = SimpleNamespace(scheduler_comm=None, subscribe_topic=lambda _, tell: subscribed.append(tell))
        DaskClient(dask).hear(heard.append)  # type: ignore[arg-type]
        event = {"action": "add-worker", "worker": "first"}
        await trio.to_thread.run_sync(subscribed[0], (1.0, event))
        with trio.fail_after(30):
            while not heard:
                await trio.lowlevel.checkpoint()
        assert [event] == heard

    @pytest.mark.parametrize(("slots", "resources"), [(1, {"matches": 1}), (0, None)])
    async def test_a_task_is_one_worker_s_alone_and_takes_its_slots(
        self, slots: int, resources: dict[str, int] | None
    ) -> None:
        """Another one has other bots, and is asked for no more matches than it has slots."""
        told: list[dict[str, Any]] = []

        def submit(*_: object, **options: Any) -> Any:
            told.append(options)
            return SimpleNamespace(add_done_callback=lambda _: None)

        DaskClient(SimpleNamespace(scheduler_comm=None, submit=submit)).submit(  # type: ignore[arg-type]
            "tcp://there:1", bytes, slots=slots
        )
        (options,) = told
        assert (["tcp://there:1"], False) == (options["workers"], options["allow_other_workers"])
        assert resources == options["resources"]
