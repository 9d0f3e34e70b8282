"""Workers on the machines of an existing Dask cluster; the arena's end of `tasks`.

Dask finds the machines, transfers bytes, counts slots and detects lost workers. The arena decides which matches
are played, which count and which are played again, as it does with its own processes.
"""

import math
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Raw
from msgspec.structs import replace

from arena.errors import MachineCannot, WrongUse
from arena.quantities import pluralise
from arena.terminal import say
from arena.workers.api import Roster, Worker, WorkerGoneError
from arena.workers.cluster import tasks
from arena.workers.cluster.dask import SLOTS, DaskClient, SchedulerGoneError, Task, address_of, connected
from arena.workers.cluster.transfer import Arrival, Asked, BotsGoneError, BuildReply, Ordered, packed_bot, received
from arena.workers.machine import BuildReport, own_content
from arena.workers.protocol import Done, decoded, encoded, error_of, order
from referee.bot_folder import BotFolder, BotFolderError
from referee.display_text import printable
from referee.host import AttemptResult, Plan
from referee.log import SILENT, Logger
from referee.sandbox import Isolation

PATIENCE_SECONDS = 300
"""Seconds that the arena waits for a lost scheduler or for new workers, because a machine may restart."""
LOOK_SECONDS = 0.5
"""Seconds between checks of the connection to the scheduler, and between attempts to reconnect."""
SUPPLIES = 3
"""Maximum number of attempts of one worker at a match if its copies of bots change; then others play it."""
_REACHED: set[str] = set()
"""Clusters that this process has used; if one of them is unreachable, the arena waits for it."""


class RefusedError(Exception):
    """A worker cannot play; the text is the reason."""


@asynccontextmanager
async def open_cluster(
    on: str,
    asked: Asked,
    store: str | None = None,
    *,
    patience: float = PATIENCE_SECONDS,
    log: Logger = SILENT,
) -> AsyncIterator[Roster[Worker[Any]]]:
    """Open the workers with slots of the cluster at `dask://HOST:PORT`; end their matches when the context exits.

    The roster is empty while the scheduler or all workers are lost.

    Args:
        on: URL of the scheduler.
        asked: Bots on this machine, and their isolation.
        store: URL of the store for transcripts; None if they are returned to this machine.
        patience: Seconds to wait for a lost scheduler, or for new workers when all are lost.
        log: Operator's log.

    Raises:
        WrongUse: the address is invalid, Dask is not installed on this machine, or a bot cannot be sent.
        MachineCannot: no scheduler answers, no worker can play, or all are lost. Raised in an exception group.
    """
    cluster = _Cluster(on, asked, store, patience, log)
    try:
        async with trio.open_nursery() as nursery:
            await nursery.start(cluster.serve)
            yield cluster.roster
            nursery.cancel_scope.cancel()
    finally:
        with trio.CancelScope(shield=True):
            await cluster.leave()


async def build_there(on: str, bot: BotFolder, isolation: Isolation, *, patience: float) -> BuildReport:
    """Build a bot on a worker of the cluster at `dask://HOST:PORT`.

    Raises as `open_cluster`, and:
        MachineCannot: the worker was lost, or could not build.
    """
    asked = Asked(bots=(bot,), isolation=isolation, builds=False)
    cluster = _Cluster(on, asked, None, patience, SILENT)
    try:
        async with trio.open_nursery() as nursery:
            await nursery.start(cluster.serve)
            reply = await cluster.build()
            nursery.cancel_scope.cancel()
    finally:
        with trio.CancelScope(shield=True):
            await cluster.leave()
    if reply.report is None:
        raise MachineCannot(f"--on {on}: {printable(reply.lack)}")
    return reply.report


class _Cluster:
    """One arena's connection to a cluster and its workers."""

    def __init__(self, on: str, asked: Asked, store: str | None, patience: float, log: Logger) -> None:
        self._log = log
        self._on = on
        self._asked = asked
        self._store = store
        self._patience = patience
        self._client: DaskClient | None = None
        """The connection to the scheduler; None while disconnected."""
        self._arena = secrets.token_hex(8)
        """Random name of the current connection, by which workers identify it."""
        self._before: list[str] = []
        """Names of lost connections, whose matches may still run and are to be ended."""
        self.roster: Roster[Worker[Any]] = Roster(remedy="start its workers with fewer slots each")
        self._numbers: dict[str, int] = {}
        """Numbers of the workers in the roster, by Dask's address."""
        self._coming: set[str] = set()
        """Addresses of the workers that are being checked and prepared."""
        self._pending: dict[str, set[Task]] = defaultdict(set)
        self._hosts: dict[str, trio.Lock] = defaultdict(trio.Lock)
        """Locks by machine: its workers may share one cache, so they receive bots one after the other."""
        self._archives: dict[str, bytes] = {}
        """Archives of bots that a worker lacked, by content hash."""
        self._packing = trio.Lock()
        self._nobody = trio.Event()
        """Set when the roster is empty."""
        self._cut = trio.Event()
        """Set when the connection to the scheduler is lost."""
        self._removed: set[str] = set()
        """Addresses of lost workers; a task submitted to one would never end."""

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Connect, add workers as they join, and reconnect when the scheduler is lost; run until cancelled."""
        known, begun = self._on in _REACHED, False
        while True:
            await (self._find_again() if known else self._connect())
            async with trio.open_nursery() as nursery:
                # Listening starts before the first request, because a worker that is lost during it never answers.
                nursery.start_soon(self._listen, nursery)
                refused = await self._look()
                if not (known or self.roster or self._is_cut):
                    why = "; ".join(f"{address} {reason}" for address, reason in refused.items()) or "it has none"
                    raise MachineCannot(f"--on {self._on}: no worker there can play: {why}")
                self._name(refused)
                if begun:
                    say(f"--on {self._on}: the scheduler is back, with {pluralise(len(self.roster), 'worker')}")
                    self._log.info("scheduler_back", on=self._on, workers=len(self.roster))
                else:
                    task_status.started()
                    _REACHED.add(self._on)
                    known = begun = True
                if not self.roster:
                    self._nobody.set()
                nursery.start_soon(self._keep_watch)
                await self._until_cut()
                nursery.cancel_scope.cancel()
            self._say_gone()

    async def build(self) -> BuildReply:
        """Build the bot on any worker.

        Raises:
            MachineCannot: the worker was lost.
        """
        if not self._numbers:
            raise MachineCannot(f"--on {self._on}: no worker is left to build on")
        address = next(iter(self._numbers))
        try:
            words = await self._done(address, tasks.build, encoded(self._asked), slots=1)
        except WorkerGoneError as gone:
            raise MachineCannot(f"--on {self._on}: the worker that built is gone: {gone}") from None
        return msgspec.msgpack.decode(words, type=BuildReply)

    async def leave(self) -> None:
        """End this arena's matches on all workers, and close the connection."""
        if self._client is not None:
            await trio.to_thread.run_sync(self._client.dismiss, tasks.leave, self._arena)
            await trio.to_thread.run_sync(self._client.close)

    async def _connect(self) -> None:
        """Open a new connection, and end the matches of lost ones.

        Raises:
            MachineCannot: no scheduler answers, or it cannot be used.
        """
        client = await connected(self._on)
        self._client, self._cut, self._removed = client, trio.Event(), set()
        events, self._to_hear = trio.open_memory_channel[dict[str, Any]](math.inf)
        client.hear(events.send_nowait)
        try:
            # The scheduler decodes the tasks that it passes on, so it needs the module, too.
            lack = await client.look_for(tasks.__name__)
        except SchedulerGoneError as gone:
            lack = str(gone)
        if lack:
            raise MachineCannot(f"--on {self._on}: its scheduler {lack}")
        for arena in self._before:
            await trio.to_thread.run_sync(client.dismiss, tasks.leave, arena, abandon_on_cancel=True)
        self._before.clear()

    async def _find_again(self) -> None:
        """Try to connect until the patience is exhausted.

        Raises:
            MachineCannot: no attempt succeeded in time.
        """
        with trio.move_on_after(self._patience):
            while True:
                try:
                    return await self._connect()
                except MachineCannot:
                    if not self._cut.is_set():  # The loss has not been reported yet.
                        self._say_gone()
                    self._hang_up()
                    await trio.sleep(LOOK_SECONDS)
        raise MachineCannot(
            f"--on {self._on}: the scheduler is gone, and did not come back in {self._patience:g} s"
        )

    def _say_gone(self) -> None:
        say(f"--on {self._on}: the scheduler is gone; waiting {self._patience:g} s for it to come back")
        self._log.warning("scheduler_gone", on=self._on)

    @property
    def _is_cut(self) -> bool:
        return self._client is None or self._client.is_cut

    async def _until_cut(self) -> None:
        """Wait until the connection is lost, then drop it and all workers."""
        while not self._is_cut:
            with trio.move_on_after(LOOK_SECONDS):
                await self._cut.wait()
        self._hang_up()

    def _hang_up(self) -> None:
        """Drop a lost connection, with all of its workers and pending tasks."""
        if self._client is not None:
            self._client.drop()
            self._client = None
            self._before.append(self._arena)
            self._arena = secrets.token_hex(8)
        for number in self._numbers.values():
            self.roster.remove(number)
        self._numbers.clear()
        for pending in self._pending.values():
            for task in pending:
                task.lose()
        self._pending.clear()
        self._cut.set()

    async def _look(self) -> dict[str, str]:
        """Add all current workers that can play, and return the reasons why others cannot, by address."""
        refused: dict[str, str] = {}
        try:
            workers = await self._line.workers()
        except SchedulerGoneError:
            self._hang_up()
            return {}

        async def take(address: str) -> None:
            try:
                await self._welcome(address, workers[address])
            except (RefusedError, SchedulerGoneError) as error:
                refused[address] = str(error)

        async with trio.open_nursery() as nursery:
            for address in workers:
                nursery.start_soon(take, address)
        return refused

    def _name(self, refused: dict[str, str]) -> None:
        """Report refused workers with their reasons, on the terminal and in the log."""
        for address, reason in refused.items():
            say(f"not played on: {address} {reason}")
            self._log.warning("worker_refused", worker=address, reason=reason)

    @property
    def _line(self) -> DaskClient:
        """The connection to the scheduler.

        Raises:
            SchedulerGoneError: the connection is lost.
        """
        if self._client is None:
            raise SchedulerGoneError("the scheduler is gone")
        return self._client

    async def _listen(self, nursery: trio.Nursery) -> None:
        """Handle the scheduler's events about joined and lost workers."""
        async for event in self._to_hear:
            match event:
                case {"action": "add-worker", "worker": address}:
                    self._removed.discard(address)
                    nursery.start_soon(self._came, address)
                case {"action": "remove-worker", "worker": address}:
                    self._removed.add(address)
                    self._lost(address)
                case _:
                    pass

    async def _came(self, address: str) -> None:
        try:
            workers = await self._line.workers()
            if address in workers and await self._welcome(address, workers[address]):
                say(f"{address} has joined and plays, too")
        except RefusedError as error:
            self._name({address: str(error)})
        except SchedulerGoneError:
            return

    def _lost(self, address: str) -> None:
        """Report and remove a lost worker; the runner has its matches played again."""
        if address in self._numbers:
            self._log.warning("worker_gone", worker=address, matches=len(self._pending.get(address, ())))
            say(f"{address} is gone; what it was playing is played again")
        self._part_with(address)

    def _part_with(self, address: str) -> None:
        """Remove a worker from the roster and abandon its tasks."""
        number = self._numbers.pop(address, None)
        if number is not None:
            self.roster.remove(number)
        for task in self._pending.pop(address, ()):
            task.lose()
        if not self.roster:
            self._nobody.set()

    async def _keep_watch(self) -> None:
        """Raise `MachineCannot` if the roster was empty and still is when the patience is exhausted."""
        while True:
            await self._nobody.wait()
            self._nobody = trio.Event()
            await trio.sleep(self._patience)
            if not self.roster:
                raise MachineCannot(
                    f"--on {self._on}: all workers are gone, and in {self._patience:g} s none came;"
                    " run again when there are some, it goes on"
                )

    async def _welcome(self, address: str, info: dict[str, Any]) -> bool:
        """Add a worker to the roster, after a check of its slots and code and after it has the bots.

        Return False if the worker was already added or is being added.

        Raises:
            RefusedError: the worker cannot play.
            SchedulerGoneError: the connection to the scheduler is lost.
        """
        if address in self._numbers or address in self._coming:
            return False
        self._coming.add(address)
        try:
            await self._take_in(address, info)
        finally:
            self._coming.discard(address)
        return True

    async def _take_in(self, address: str, info: dict[str, Any]) -> None:
        slots = self._slots(info)
        if lack := await self._line.look_for(tasks.__name__, address):
            raise RefusedError(lack)
        arrival = await self._supply(address, info["host"])
        if arrival.calibrated is not None and slots > arrival.calibrated:
            at_once = f"{pluralise(slots, 'match')} at once"
            say(f"{address} plays {at_once}, calibrated for {arrival.calibrated}")
        worker = Worker(play=partial(self._play, address, info["host"], slots), slots=slots)
        self._numbers[address] = self.roster.add(worker)
        self._log.info("worker_come", worker=address, slots=slots)

    async def _supply(self, address: str, host: str) -> Arrival:
        """Send a worker the bots that it lacks, and have it build all bots.

        Raises:
            RefusedError: the worker cannot use a bot, or has another version of the arena.
        """
        asked = encoded(self._asked)
        contents = {bot.content: bot for bot in self._asked.bots}
        async with self._hosts[host]:
            arrival: Arrival = decoded(await self._ask(address, tasks.arrive, asked), Arrival)
            if arrival.arena != own_content():
                raise RefusedError("has another version of the arena: install there what is here")
            for content in arrival.missing:
                if content not in contents:
                    raise RefusedError(f"asks for {printable(content[:100])}, which is no bot of these")
                await self._ready(address, tasks.keep_bot, content, await self._archive(contents[content]))
            if self._asked.builds:
                await self._ready(address, tasks.make_ready, asked)
        return arrival

    def _slots(self, info: dict[str, Any]) -> int:
        slots, threads = int(info["resources"].get(SLOTS, 0)), int(info["nthreads"])
        if 0 < slots <= threads:
            return slots
        matches = pluralise(slots, "match")
        lack = f"has {pluralise(threads, 'thread')} for {matches}" if slots else "has no slots for matches"
        scheduler = address_of(self._on)
        example = max(slots, 4)
        raise RefusedError(
            f"{lack}; start it so: dask worker {scheduler} --nthreads {example} --resources {SLOTS}={example}"
        )

    async def _archive(self, bot: BotFolder) -> bytes:
        """Return a bot's archive, which is packed once.

        Raises:
            WrongUse: the bot cannot be sent.
        """
        async with self._packing:
            if bot.content not in self._archives:
                try:
                    archive = await trio.to_thread.run_sync(packed_bot, bot)
                except BotFolderError as error:
                    raise WrongUse(str(error)) from None
                self._archives[bot.content] = archive
            return self._archives[bot.content]

    async def _ready(self, address: str, function: Callable[..., bytes], *arguments: Any) -> None:
        complaint = decoded(await self._ask(address, function, *arguments), str | None)
        if complaint is not None:
            raise RefusedError(f"cannot use a bot: {complaint}")

    async def _ask(self, address: str, function: Callable[..., bytes], *arguments: Any) -> bytes:
        """Run a function on a worker; raise `RefusedError` instead of `WorkerGoneError` if it is lost."""
        try:
            return await self._done(address, function, *arguments)
        except WorkerGoneError as gone:
            raise RefusedError(f"is gone: {gone}") from None

    async def _play(
        self, address: str, host: str, slots: int, plan: Plan, players: Sequence[Any], *, transcript: Path
    ) -> AttemptResult:
        """Play a match for `arena.workers.api.Worker`; send the bots again if the worker's copies changed."""
        for _ in range(SUPPLIES):
            if address not in self._numbers:  # The worker was removed after this match was assigned.
                raise WorkerGoneError("it no longer plays")
            ordered = Ordered(
                arena=self._arena,
                slots=slots,
                isolation=self._asked.isolation,
                order=Raw(encoded(order(0, plan, players, transcript))),
                store=self._store,
            )
            words = await self._done(address, tasks.play, encoded(ordered), slots=1)
            try:
                answer = await trio.to_thread.run_sync(received, words, transcript)
            except BotsGoneError:
                await self._send_again(address, host)
                continue
            if not isinstance(answer, Done):
                raise error_of(answer)
            if self._store is None:
                return replace(answer.result, transcript=str(transcript))
            return answer.result
        reason = f"its copies of bots were changed {SUPPLIES} times while it played one match"
        self._refuse(address, reason)
        raise WorkerGoneError(reason)

    async def _send_again(self, address: str, host: str) -> None:
        """Send a playing worker the bots that it has lost.

        Raises:
            WorkerGoneError: the worker can no longer play.
        """
        say(f"{address} has lost copies of bots, and gets them again")
        self._log.warning("bots_lost", worker=address)
        try:
            await self._supply(address, host)
        except RefusedError as error:
            self._refuse(address, str(error))
            raise WorkerGoneError(str(error)) from None

    def _refuse(self, address: str, reason: str) -> None:
        """Remove a worker from the roster, and report the reason."""
        if address in self._numbers:
            self._name({address: reason})
            self._part_with(address)

    async def _done(self, address: str, function: Callable[..., bytes], *arguments: Any, slots: int = 0) -> bytes:
        """Run a function on a worker, and return its result.

        Raises:
            WorkerGoneError: the worker or the connection to the scheduler is lost.
            Exception: any other error from Dask.
        """
        if address in self._removed:
            raise WorkerGoneError("Dask has lost it")
        try:
            task = self._line.submit(address, function, *arguments, slots=slots)
            self._pending[address].add(task)
            try:
                return await task.outcome()
            finally:
                self._pending[address].discard(task)
        except SchedulerGoneError as gone:
            # Workers are removed at once, so that no match is assigned to one that cannot be reached.
            self._hang_up()
            raise WorkerGoneError(str(gone)) from None
