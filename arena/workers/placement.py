"""The place of a command's matches: on this machine or on a cluster, with the place of transcripts."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import trio
from msgspec import Meta, Struct
from msgspec.structs import replace

from arena import event_loop
from arena.errors import MachineCannot, WrongUse, errors_as_exits
from arena.feed import FeedLine
from arena.options import Seconds, option
from arena.quantities import pluralise
from arena.workers import machine
from arena.workers.api import PlayMatch, Worker, WorkerPool
from arena.workers.cluster import PATIENCE_SECONDS, Asked, Store, address_of, build_there, dask_for, open_cluster
from arena.workers.machine import BuildReport, build_here, demand_room, ready
from arena.workers.pool import open_pool
from arena.workers.remote_seats import RemoteSeats
from referee import sandbox
from referee.bot_folder import BotFolder
from referee.host import AttemptResult, Plan, Player, RemoteBot, SandboxedBot
from referee.log import NO_LOG, OperatorLog
from referee.sandbox import Isolation

LOCAL = "local"
AtOnce = Annotated[int, Meta(ge=1, le=machine.MAX_CONCURRENCY)]


class Placement(Struct, frozen=True, kw_only=True):
    """Options for the number and place of matches at once."""

    concurrency: Annotated[AtOnce | None, option("Number of matches at once.  [default: one for each core]")] = (
        None
    )
    workers: Annotated[AtOnce | None, option("Number of referee processes.  [default: one for each core]")] = None
    on: Annotated[
        str,
        option(
            "Play here (local), or on an existing Dask cluster (dask://HOST:PORT).",
            show_default=True,
            metavar="PLACE",
        ),
    ] = LOCAL
    patience: Annotated[
        float,
        option(
            "How long to wait for a cluster's scheduler or workers when they are gone, for example 90s or 1h.",
            type=Seconds(),
            default=f"{PATIENCE_SECONDS}s",
            show_default=True,
            metavar="TIME",
        ),
    ] = PATIENCE_SECONDS
    transcripts: Annotated[
        str | None,
        option(
            "Folder or object store for transcripts (s3://..., file:///...).  [default: the results folder]",
            metavar="URL",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PoolSetup:
    """The needs of a command's matches: number, isolation and place of the workers that play them."""

    where: Placement
    isolation: Isolation
    seats: int = 1
    """Number of seats in a match."""
    at_once: int | None = None
    """Number of concurrent matches on this machine if `where` sets none; None for the calibrated one."""
    affinity: str | None = None
    """Place of `affinity` in the tournament's file, if each worker has its own cores; None: they share all."""
    feed: FeedLine | None = None
    """Live feed of the matches; not available on a cluster."""
    log: OperatorLog = NO_LOG
    """Operator's log. For matches on a cluster it receives only the events that the arena sees."""
    remote: RemoteSeats | None = None
    """Remote bots, whose matches are all played in this process; None if no remote bot plays."""

    def pool_for(
        self, bots: Sequence[BotFolder | RemoteBot], *, fresh: bool = False, failed: dict[int, str] | None = None
    ) -> tuple[tuple[Player, ...], WorkerPool[Any]]:
        """Return the bots as players, and the pool of workers that play them.

        Bots are built on the machines that play them.

        Args:
            bots: Bots by entrant's number.
            fresh: Whether earlier results will be moved aside; if so, the sandbox is checked first.
            failed: Failed builds on this machine, as for `ready`.

        Raises:
            WrongUse: options contradict each other, or a bot's build failed.
            MachineCannot: this machine has no disk space for a build, no sandbox, or no resources for one match.
                The pool itself raises it if resources do not suffice for all concurrent matches.
        """
        self._check_affinity()
        here = [bot for bot in bots if isinstance(bot, BotFolder)]
        if self.where.on != LOCAL and self.remote is None:
            return tuple(map(SandboxedBot, here)), self._cluster(tuple(here))
        if self.remote is not None:
            self._check_local()
        store = None if self.where.transcripts is None else Store(self.where.transcripts)
        if fresh and self.isolation != "none":
            with errors_as_exits():
                sandbox.find_isolation()
                sandbox.demand(self.isolation)
        if self.remote is not None:
            away = [bot for bot in bots if isinstance(bot, RemoteBot)]
            pool = self._pool_of_remote(here, away, self.remote)
        else:
            pool = self._local_pool(here, store)
        return _players(bots, self.isolation, failed), pool

    def _local_pool(self, bots: Sequence[BotFolder], store: Store | None) -> WorkerPool[Any]:
        """Return the pool of this machine's referee processes.

        Raises:
            WrongUse: there are not enough cores.
            MachineCannot: this machine has no resources for one match.
        """
        most = self.where.concurrency or self.at_once or machine.matches_at_once()
        cores = self._own_cores(most)
        try:
            # The number of matches is not known yet, but at least one must be possible.
            demand_room(bots, self.isolation, seats=self.seats, shares=[1])
        except MachineCannot:
            # The error should name the resources that suffice for all concurrent matches.
            all_at_once = machine.shares(most, concurrency=most, workers=self.where.workers)
            demand_room(bots, self.isolation, seats=self.seats, shares=all_at_once)
            raise

        def open_local(matches: int) -> AbstractAsyncContextManager[list[Worker[Any]]]:
            shares = machine.shares(matches, concurrency=most, workers=self.where.workers)
            demand_room(bots, self.isolation, seats=self.seats, shares=shares)
            pool = open_pool(shares, feed=self.feed, log=self.log, cores=cores)
            return pool if store is None else _storing(pool, store)

        return open_local

    def _pool_of_remote(
        self, here: Sequence[BotFolder], away: Sequence[RemoteBot], remote: RemoteSeats
    ) -> WorkerPool[Player]:
        """Return the pool of this process, which plays all matches of remote bots.

        Raises:
            MachineCannot: this machine has no resources for one match.
        """

        def open_remote(matches: int) -> AbstractAsyncContextManager[list[Worker[Player]]]:
            self._demand_room_here(here, max(1, min(remote.slots, matches)))
            return remote.open(matches, away)

        self._demand_room_here(here, 1)
        return open_remote

    def _demand_room_here(self, bots: Sequence[BotFolder], matches: int) -> None:
        demand_room(bots, self.isolation, seats=self.seats, shares=[matches], of_worker=False)

    def _cluster(self, bots: tuple[BotFolder, ...]) -> WorkerPool[Any]:
        """Return the pool of a cluster. All options are checked now, before the first side effect.

        Raises:
            WrongUse: the address is invalid, Dask is not installed, or an option is for this machine.
        """
        where = self.where
        if where.transcripts is not None:
            Store(where.transcripts)
        if self.feed is not None:
            raise WrongUse("--feed: only matches of this machine can be followed, not a cluster's")
        address_of(where.on)
        if where.concurrency is not None or where.workers is not None:
            raise WrongUse("--concurrency and --workers are of this machine; a cluster's workers have slots")
        dask_for(where.on)
        asked = Asked(bots=bots, isolation=self.isolation)
        log = self.log.logger
        return lambda _: open_cluster(where.on, asked, where.transcripts, patience=where.patience, log=log)

    def _check_affinity(self) -> None:
        """Raise `WrongUse` if workers should have their own cores but this machine runs no workers."""
        if self.affinity is None:
            return
        if self.remote is not None:
            raise WrongUse(f"{self.affinity}: with remote bots the arena's own process plays all matches")
        if self.where.on != LOCAL:
            start = f"taskset --cpu-list 0-3 dask worker {address_of(self.where.on)}"
            raise WrongUse(
                f"{self.affinity}: is for this machine; a cluster's workers are given cores so: {start}"
            )

    def _check_local(self) -> None:
        """Raise `WrongUse` for options that remote bots exclude, because their connections end in this process."""
        where = self.where
        asked = {"--on": where.on != LOCAL, "--transcripts": where.transcripts, "--workers": where.workers}
        for flag, value in asked.items():
            if value:
                raise WrongUse(
                    f"{flag}: with remote bots the arena's own process plays all matches, on this machine"
                )

    def _own_cores(self, concurrency: int) -> list[frozenset[int]]:
        """Return the cores of each worker, for the maximum number of workers; empty if workers share all cores.

        With fewer workers, because there are few matches, each still has the same number of cores.
        """
        if self.affinity is None:
            return []
        processes = len(machine.shares(concurrency, concurrency=concurrency, workers=self.where.workers))
        there = machine.cores()
        if processes > there:
            lack = f"{pluralise(processes, 'worker')} cannot each have a core: the arena may use {there}"
            raise WrongUse(f"{self.affinity}: {lack}; give --workers {there}, or fewer")
        return machine.own_cores(processes)


def build_at(where: Placement, bot: BotFolder, isolation: Isolation) -> BuildReport:
    """Build a bot at a place of matches, and report on it.

    Raises:
        MachineCannot: there is no space, no sandbox, or no worker for it.
        Stopped: a signal arrived.
    """
    if where.on == LOCAL:
        return build_here(bot, isolation)
    return event_loop.run(partial(build_there, where.on, bot, isolation, patience=where.patience))


def _players(
    bots: Sequence[BotFolder | RemoteBot], isolation: Isolation, failed: dict[int, str] | None
) -> tuple[Player, ...]:
    """Return the bots as players, after building those of this machine."""
    failed_here: dict[int, str] | None = None if failed is None else {}
    players: list[Player] = []
    for number, bot in enumerate(bots):
        if isinstance(bot, RemoteBot):
            players.append(bot)
            continue
        (built,) = ready([bot], isolation, failed_here)
        players.append(SandboxedBot(built))
        if failed is not None and failed_here:
            failed[number] = failed_here.pop(0)
    return tuple(players)


@asynccontextmanager
async def _storing(
    pool: AbstractAsyncContextManager[list[Worker[Any]]], store: Store
) -> AsyncIterator[list[Worker[Any]]]:
    """Open a pool whose workers move each transcript to a store."""
    await trio.to_thread.run_sync(store.prepare)
    async with pool as workers:
        yield [replace(worker, play=partial(_play_and_store, worker.play, store)) for worker in workers]


async def _play_and_store(
    play: PlayMatch[Any], store: Store, plan: Plan, players: Sequence[Any], *, transcript: Path
) -> AttemptResult:
    result = await play(plan, players, transcript=transcript)
    return replace(result, transcript=await trio.to_thread.run_sync(store.move, transcript))
