"""Workers on other machines: an existing Dask cluster as a place to play. The arena's end of `tasks`.

Dask finds the machines, carries bytes to and from them, counts their slots and notices when one is lost. What is
played, what counts and what is played again stays the arena's, as with processes of its own.
"""

import math
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import trio
from msgspec import Raw
from msgspec.structs import replace

from arena.errors import MachineCannot, WrongUse
from arena.quantities import counted
from arena.terminal import say
from arena.workers.api import Worker, WorkerGoneError
from arena.workers.cluster import bot_archive, tasks
from arena.workers.cluster.dask import SLOTS, DaskClient, Task, address_of, connected
from arena.workers.cluster.protocol import Arrival, Asked, Ordered, received
from arena.workers.own_code import own_content
from arena.workers.protocol import Done, decoded, encoded, error_of, order
from arena.workers.roster import Roster
from referee.bot_folder import BotFolderError
from referee.host import Plan, Result
from referee.log import SILENT, Logger

PATIENCE_SECONDS = 60
"""How long the arena waits for workers when the last is gone: Dask's nannies start a new one in a few."""


class RefusedError(Exception):
    """A worker that cannot play; the text says why."""


@asynccontextmanager
async def open_cluster(
    on: str, asked: Asked, store: str | None = None, log: Logger = SILENT
) -> AsyncIterator[Roster[Worker[Any]]]:
    """The workers of the cluster at `dask://HOST:PORT` that have slots. At the end they play nothing for us.

    Args:
        on: where its scheduler is.
        asked: the bots, as they lie here, and how they are shut in.
        store: where transcripts go; None: they come back.
        log: the operator's.

    Raises:
        WrongUse: the address is none, or Dask is not installed here.
        MachineCannot: nobody answers there, no worker can play, or all are gone. In an exception group.
    """
    client = await connected(on)
    cluster = _Cluster(client, on, asked, store, log)
    try:
        async with trio.open_nursery() as nursery:
            await cluster.begin(nursery)
            yield cluster.roster
            nursery.cancel_scope.cancel()
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(client.close, tasks.leave, cluster.arena)


class _Cluster:
    """One arena's use of a cluster."""

    def __init__(self, client: DaskClient, on: str, asked: Asked, store: str | None, log: Logger) -> None:
        self._client = client
        self._log = log
        self._on = on
        self._asked = asked
        self._store = store
        self.arena = secrets.token_hex(8)
        self.roster: Roster[Worker[Any]] = Roster(remedy="start its workers with fewer slots each")
        self._numbers: dict[str, int] = {}
        """The numbers of the workers, by Dask's address."""
        self._pending: dict[str, set[Task]] = defaultdict(set)
        self._hosts: dict[str, trio.Lock] = defaultdict(trio.Lock)
        """A machine's workers may share one cache: they are given bots one after the other."""
        self._nobody = trio.Event()
        """The last worker is gone."""

    async def begin(self, nursery: trio.Nursery) -> None:
        """Finds out who is there, and goes on looking."""
        events, to_hear = trio.open_memory_channel[dict[str, Any]](math.inf)
        self._client.hear(events.send_nowait)
        # It reads what it passes on.
        if lack := await self._client.look_for(tasks.__name__):
            raise MachineCannot(f"--on {self._on}: its scheduler {lack}")
        await self._look()
        nursery.start_soon(self._listen, to_hear)
        nursery.start_soon(self._keep_watch)

    async def _look(self) -> None:
        """Takes in all workers that there are now."""
        refused: dict[str, str] = {}
        workers = await self._client.workers()

        async def take(address: str) -> None:
            try:
                await self._welcome(address, workers[address])
            except RefusedError as error:
                refused[address] = str(error)

        async with trio.open_nursery() as nursery:
            for address in workers:
                nursery.start_soon(take, address)
        if not self.roster:
            why = "; ".join(f"{address} {reason}" for address, reason in refused.items()) or "it has none"
            raise MachineCannot(f"--on {self._on}: no worker there can play: {why}")
        for address, reason in refused.items():
            say(f"not played on: {address} {reason}")
            self._log.warning("worker_refused", worker=address, reason=reason)

    async def _listen(self, events: trio.MemoryReceiveChannel[dict[str, Any]]) -> None:
        """Hears who comes and who goes."""
        async with trio.open_nursery() as nursery:
            async for event in events:
                match event:
                    case {"action": "add-worker", "worker": address}:
                        nursery.start_soon(self._came, address)
                    case {"action": "remove-worker", "worker": address}:
                        self._lost(address)

    async def _came(self, address: str) -> None:
        workers = await self._client.workers()
        if address in workers and address not in self._numbers:
            try:
                await self._welcome(address, workers[address])
            except RefusedError as error:
                say(f"not played on: {address} {error}")
                self._log.warning("worker_refused", worker=address, reason=str(error))
            else:
                say(f"{address} has come, and plays too")

    def _lost(self, address: str) -> None:
        """A worker is gone: what it was playing is played again by others."""
        number = self._numbers.pop(address, None)
        if number is not None:
            self.roster.remove(number)
            self._log.warning("worker_gone", worker=address, matches=len(self._pending.get(address, ())))
            say(f"{address} is gone; what it was playing is played again")
        for task in self._pending.pop(address, ()):
            task.lose()
        if not self.roster:
            self._nobody.set()

    async def _keep_watch(self) -> None:
        """Waits for others when all are gone, but not for ever."""
        while True:
            await self._nobody.wait()
            self._nobody = trio.Event()
            await trio.sleep(PATIENCE_SECONDS)
            if not self.roster:
                raise MachineCannot(
                    f"--on {self._on}: all workers are gone, and in {PATIENCE_SECONDS} s none came;"
                    " run again when there are some, it goes on"
                )

    async def _welcome(self, address: str, info: dict[str, Any]) -> None:
        """Has a worker play: with slots, our own arena, and the bots.

        Raises:
            RefusedError: it cannot.
        """
        slots = self._slots(info)
        if lack := await self._client.look_for(tasks.__name__, address):
            raise RefusedError(lack)
        asked = encoded(self._asked)
        async with self._hosts[info["host"]]:
            arrival: Arrival = decoded(await self._ask(address, tasks.arrive, asked), Arrival)
            if arrival.arena != own_content():
                raise RefusedError("has another version of the arena: install there what is here")
            for content in arrival.missing:
                await self._ready(address, tasks.keep_bot, content, self._archives[content])
            await self._ready(address, tasks.make_ready, asked)
        if arrival.calibrated is not None and slots > arrival.calibrated:
            at_once = f"{counted(slots, 'match')} at once"
            say(f"{address} plays {at_once}, calibrated for {arrival.calibrated}")
        worker = Worker(play=partial(self._play, address, slots), slots=slots)
        self._numbers[address] = self.roster.add(worker)
        self._log.info("worker_come", worker=address, slots=slots)

    def _slots(self, info: dict[str, Any]) -> int:
        slots, threads = int(info["resources"].get(SLOTS, 0)), int(info["nthreads"])
        if 0 < slots <= threads:
            return slots
        matches = counted(slots, "match")
        lack = f"has {counted(threads, 'thread')} for {matches}" if slots else "has no slots for matches"
        scheduler = address_of(self._on)
        example = max(slots, 4)
        raise RefusedError(
            f"{lack}; start it so: dask worker {scheduler} --nthreads {example} --resources {SLOTS}={example}"
        )

    @cached_property
    def _archives(self) -> dict[str, bytes]:
        """Each bot's content, packed once, and only if somebody lacks one.

        Raises:
            WrongUse: one cannot be sent.
        """
        try:
            return {bot.content: bot_archive.packed(bot.folder) for bot in self._asked.bots}
        except BotFolderError as error:
            raise WrongUse(str(error)) from None

    async def _ready(self, address: str, function: Callable[..., bytes], *arguments: Any) -> None:
        complaint = decoded(await self._ask(address, function, *arguments), str | None)
        if complaint is not None:
            raise RefusedError(f"cannot use a bot: {complaint}")

    async def _ask(self, address: str, function: Callable[..., bytes], *arguments: Any) -> bytes:
        """Has a worker that is not playing yet do something."""
        try:
            return await self._done(address, function, *arguments)
        except WorkerGoneError as gone:
            raise RefusedError(f"is gone: {gone}") from None

    async def _play(
        self, address: str, slots: int, plan: Plan, players: Sequence[Any], *, transcript: Path
    ) -> Result:
        """See `runner.Worker`."""
        ordered = Ordered(
            arena=self.arena,
            slots=slots,
            isolation=self._asked.isolation,
            order=Raw(encoded(order(0, plan, players, transcript))),
            store=self._store,
        )
        words = await self._done(address, tasks.play, encoded(ordered), slots=1)
        answer = await trio.to_thread.run_sync(received, words, transcript)
        if not isinstance(answer, Done):
            raise error_of(answer)
        if self._store is None:
            return replace(answer.result, transcript=str(transcript))
        return answer.result

    async def _done(self, address: str, function: Callable[..., bytes], *arguments: Any, slots: int = 0) -> bytes:
        """What a function gives that a worker runs. Raises as `Task.outcome` does."""
        task = self._client.submit(address, function, *arguments, slots=slots)
        self._pending[address].add(task)
        try:
            return await task.outcome()
        finally:
            self._pending[address].discard(task)
