"""Workers on other machines: an existing Dask cluster as a place to play. The arena's end of `tasks`.

Dask finds the machines, carries bytes to and from them, counts their slots and notices when one is lost. What is
played, what counts and what is played again stays the arena's, as with processes of its own.
"""

import math
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
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
from arena.workers.cluster.dask import SLOTS, DaskClient, SchedulerGoneError, Task, address_of, connected
from arena.workers.cluster.protocol import Arrival, Asked, BotsGoneError, Ordered, received
from arena.workers.own_code import own_content
from arena.workers.protocol import Done, decoded, encoded, error_of, order
from arena.workers.roster import Roster
from referee.bot_folder import BotFolder, BotFolderError
from referee.host import Plan, Result
from referee.log import SILENT, Logger
from referee.printable import printable

PATIENCE_SECONDS = 300
"""How long the arena waits for a scheduler, or for workers, when they are gone: a machine may be started again."""
LOOK_SECONDS = 0.5
"""So often it is looked whether the line to the scheduler is cut, or a scheduler is there again."""
SUPPLIES = 3
"""How often a worker is sent bots for one match, before others play it."""
_REACHED: set[str] = set()
"""The clusters that have played for this process: if one cannot be reached now, it may be back soon."""


class RefusedError(Exception):
    """A worker that cannot play; the text says why."""


@asynccontextmanager
async def open_cluster(
    on: str,
    asked: Asked,
    store: str | None = None,
    *,
    patience: float = PATIENCE_SECONDS,
    log: Logger = SILENT,
) -> AsyncIterator[Roster[Worker[Any]]]:
    """The workers of the cluster at `dask://HOST:PORT` that have slots. At the end they play nothing for us.

    If the scheduler is lost, or all workers are, the roster is empty until there are some again.

    Args:
        on: where its scheduler is.
        asked: the bots, as they lie here, and how they are shut in.
        store: where transcripts go; None: they come back.
        patience: how many seconds to wait for a scheduler, or for workers, that were there before.
        log: the operator's.

    Raises:
        WrongUse: the address is none, Dask is not installed here, or a bot cannot be sent.
        MachineCannot: nobody answers there, no worker can play, or all are gone. In an exception group.
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


class _Cluster:
    """One arena's use of a cluster."""

    def __init__(self, on: str, asked: Asked, store: str | None, patience: float, log: Logger) -> None:
        self._log = log
        self._on = on
        self._asked = asked
        self._store = store
        self._patience = patience
        self._client: DaskClient | None = None
        """The line to the scheduler; None: there is none."""
        self._arena = secrets.token_hex(8)
        """What workers know this line by."""
        self._before: list[str] = []
        """The same of the lines that were cut: what is still played for them is of no use."""
        self.roster: Roster[Worker[Any]] = Roster(remedy="start its workers with fewer slots each")
        self._numbers: dict[str, int] = {}
        """The numbers of the workers, by Dask's address."""
        self._coming: set[str] = set()
        """Those that are being asked whether they can play."""
        self._pending: dict[str, set[Task]] = defaultdict(set)
        self._hosts: dict[str, trio.Lock] = defaultdict(trio.Lock)
        """A machine's workers may share one cache: they are given bots one after the other."""
        self._archives: dict[str, bytes] = {}
        """The contents that somebody lacked, each packed once."""
        self._packing = trio.Lock()
        self._nobody = trio.Event()
        """The last worker is gone."""
        self._cut = trio.Event()
        """The scheduler is."""
        self._removed: set[str] = set()
        """Workers that are gone. Who asks them something would wait for ever."""

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Finds out who is there, and goes on looking; finds the scheduler again when it is gone."""
        known, begun = self._on in _REACHED, False
        while True:
            await (self._find_again() if known else self._connect())
            async with trio.open_nursery() as nursery:
                # Before a worker is asked anything: one that goes then does not answer.
                nursery.start_soon(self._listen, nursery)
                refused = await self._look()
                if not (known or self.roster or self._is_cut):
                    why = "; ".join(f"{address} {reason}" for address, reason in refused.items()) or "it has none"
                    raise MachineCannot(f"--on {self._on}: no worker there can play: {why}")
                self._name(refused)
                if begun:
                    say(f"--on {self._on}: the scheduler is back, with {counted(len(self.roster), 'worker')}")
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

    async def leave(self) -> None:
        """Has all that is still played for this arena ended, and hangs up."""
        if self._client is not None:
            await trio.to_thread.run_sync(self._client.dismiss, tasks.leave, self._arena)
            await trio.to_thread.run_sync(self._client.close)

    async def _connect(self) -> None:
        """Begins a new line.

        Raises:
            MachineCannot: nobody answers, or the scheduler cannot be used.
        """
        client = await connected(self._on)
        self._client, self._cut, self._removed = client, trio.Event(), set()
        events, self._to_hear = trio.open_memory_channel[dict[str, Any]](math.inf)
        client.hear(events.send_nowait)
        try:
            # It reads what it passes on.
            lack = await client.look_for(tasks.__name__)
        except SchedulerGoneError as gone:
            lack = str(gone)
        if lack:
            raise MachineCannot(f"--on {self._on}: its scheduler {lack}")
        for arena in self._before:
            await trio.to_thread.run_sync(client.dismiss, tasks.leave, arena, abandon_on_cancel=True)
        self._before.clear()

    async def _find_again(self) -> None:
        """Waits for the scheduler.

        Raises:
            MachineCannot: it does not come back.
        """
        with trio.move_on_after(self._patience):
            while True:
                try:
                    return await self._connect()
                except MachineCannot:
                    if not self._cut.is_set():  # Nobody has said so yet.
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
        """Until the scheduler is gone. Then no worker is left either, as far as this arena can know."""
        while not self._is_cut:
            with trio.move_on_after(LOOK_SECONDS):
                await self._cut.wait()
        self._hang_up()

    def _hang_up(self) -> None:
        """Gives up a line that is cut, and all that was asked for through it."""
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
        """Takes in all workers that there are now; why others cannot play, by address."""
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
        """Says who does not play, and why."""
        for address, reason in refused.items():
            say(f"not played on: {address} {reason}")
            self._log.warning("worker_refused", worker=address, reason=reason)

    @property
    def _line(self) -> DaskClient:
        """Raises: SchedulerGoneError: there is none now."""
        if self._client is None:
            raise SchedulerGoneError("the scheduler is gone")
        return self._client

    async def _listen(self, nursery: trio.Nursery) -> None:
        """Hears who comes and who goes."""
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
        """A worker is gone: what it was playing is played again by others."""
        if address in self._numbers:
            self._log.warning("worker_gone", worker=address, matches=len(self._pending.get(address, ())))
            say(f"{address} is gone; what it was playing is played again")
        self._part_with(address)

    def _part_with(self, address: str) -> None:
        """Has a worker play no more."""
        number = self._numbers.pop(address, None)
        if number is not None:
            self.roster.remove(number)
        for task in self._pending.pop(address, ()):
            task.lose()
        if not self.roster:
            self._nobody.set()

    async def _keep_watch(self) -> None:
        """Waits for others when all are gone, but not for ever."""
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
        """Has a worker play: with slots, our own arena, and the bots. Whether it did not yet.

        Raises:
            RefusedError: it cannot.
            SchedulerGoneError: the scheduler is gone.
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
            at_once = f"{counted(slots, 'match')} at once"
            say(f"{address} plays {at_once}, calibrated for {arrival.calibrated}")
        worker = Worker(play=partial(self._play, address, info["host"], slots), slots=slots)
        self._numbers[address] = self.roster.add(worker)
        self._log.info("worker_come", worker=address, slots=slots)

    async def _supply(self, address: str, host: str) -> Arrival:
        """Sends a worker the bots that it lacks, and has them built there.

        Raises:
            RefusedError: it cannot use them, or has another arena.
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
            await self._ready(address, tasks.make_ready, asked)
        return arrival

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

    async def _archive(self, bot: BotFolder) -> bytes:
        """A bot, packed.

        Raises:
            WrongUse: it cannot be sent.
        """
        async with self._packing:
            if bot.content not in self._archives:
                try:
                    archive = await trio.to_thread.run_sync(bot_archive.packed, bot)
                except BotFolderError as error:
                    raise WrongUse(str(error)) from None
                self._archives[bot.content] = archive
            return self._archives[bot.content]

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
        self, address: str, host: str, slots: int, plan: Plan, players: Sequence[Any], *, transcript: Path
    ) -> Result:
        """See `runner.Worker`. A worker whose bots are not there any more gets them again."""
        for _ in range(SUPPLIES):
            if address not in self._numbers:  # Since this match was given to it.
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
        """Sends a worker that plays the bots that it has lost.

        Raises:
            WorkerGoneError: it cannot play any more.
        """
        say(f"{address} has lost copies of bots, and gets them again")
        self._log.warning("bots_lost", worker=address)
        try:
            await self._supply(address, host)
        except RefusedError as error:
            self._refuse(address, str(error))
            raise WorkerGoneError(str(error)) from None

    def _refuse(self, address: str, reason: str) -> None:
        """Has a worker that has played play no more, and says why."""
        if address in self._numbers:
            self._name({address: reason})
            self._part_with(address)

    async def _done(self, address: str, function: Callable[..., bytes], *arguments: Any, slots: int = 0) -> bytes:
        """What a function gives that a worker runs.

        Raises:
            WorkerGoneError: the worker is gone, or the scheduler is.
            Exception: what Dask says was wrong.
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
            # Now: what is played again must not be given to a worker that cannot be reached.
            self._hang_up()
            raise WorkerGoneError(str(gone)) from None
