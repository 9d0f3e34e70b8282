"""Select the venue for a command's matches, on this machine or on a cluster, and the place of transcripts."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import trio
from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.errors import MachineCannot, WrongUse, errors_as_exits
from arena.feed import FeedLine
from arena.options import Seconds, option
from arena.quantities import pluralise
from arena.workers import machine
from arena.workers.api import Play, Venue, Worker
from arena.workers.cluster import PATIENCE_SECONDS, Asked, Store, address_of, dask_for, open_cluster
from arena.workers.machine import demand_room, ready
from arena.workers.pool import open_pool
from arena.workers.remote_seats import RemoteSeats
from referee import sandbox
from referee.bot_folder import BotFolder
from referee.host import Plan, Player, RemoteBot, Result, SandboxedBot
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


def venue_for(
    where: Placement,
    bots: Sequence[BotFolder | RemoteBot],
    isolation: Isolation,
    *,
    seats: int = 1,
    at_once: int | None = None,
    affinity: str | None = None,
    fresh: bool = False,
    failed: dict[int, str] | None = None,
    feed: FeedLine | None = None,
    log: OperatorLog = NO_LOG,
    remote: RemoteSeats | None = None,
) -> tuple[tuple[Player, ...], Venue[Any]]:
    """Return the bots as players, and the venue that plays them.

    Bots are built on the machines that play them.

    Args:
        where: The command's options.
        bots: Bots by entrant's number.
        isolation: Isolation of the sandboxes.
        seats: Number of seats in a match.
        at_once: Number of concurrent matches on this machine if `where` sets none; None for the calibrated one.
        affinity: Place in the tournament file of `affinity` in `[workers]`, which gives each worker its own cores;
            None if workers share all cores.
        fresh: Whether earlier results will be moved aside; if so, the sandbox is checked first.
        failed: Failed builds on this machine, as for `ready`.
        feed: Live feed of the matches; not available on a cluster.
        log: Operator's log. For matches on a cluster it receives only the events that the arena sees.
        remote: Remote bots, whose matches are all played in this process; None if no remote bot plays.

    Raises:
        WrongUse: options contradict each other, or a bot's build failed.
        MachineCannot: this machine has no disk space for a build, no sandbox, or no resources for one match. The
            venue itself raises it if resources do not suffice for all concurrent matches.
    """
    _refuse_without_workers(affinity, where, remote)
    if remote is not None:
        _refuse_elsewhere(where)
        if fresh:
            _demand(isolation)
        venue = _venue_of_remote(bots, isolation, seats, remote)
        return _players(bots, isolation, failed), venue
    store = None if where.transcripts is None else Store(where.transcripts)
    if where.on != LOCAL:
        if feed is not None:
            raise WrongUse("--feed: only matches of this machine can be followed, not a cluster's")
        folders = tuple(_here(bots))
        return tuple(SandboxedBot(bot) for bot in folders), _venue_of_cluster(where, folders, isolation, log)
    if fresh:
        _demand(isolation)
    most = where.concurrency or at_once or machine.matches_at_once()
    cores = _own_cores(affinity, most, where.workers)
    try:
        # The number of matches is not known yet, but at least one must be possible.
        demand_room(_here(bots), isolation, seats=seats, shares=[1])
    except MachineCannot:
        # The error should name the resources that suffice for all concurrent matches.
        all_at_once = machine.shares(most, concurrency=most, workers=where.workers)
        demand_room(_here(bots), isolation, seats=seats, shares=all_at_once)
        raise

    def local(matches: int) -> AbstractAsyncContextManager[list[Worker[Any]]]:
        shares = machine.shares(matches, concurrency=most, workers=where.workers)
        demand_room(_here(bots), isolation, seats=seats, shares=shares)
        pool = open_pool(shares, feed=feed, log=log, cores=cores)
        if store is None:
            return pool
        return _storing(pool, store)

    return _players(bots, isolation, failed), local


def _venue_of_remote(
    bots: Sequence[BotFolder | RemoteBot], isolation: Isolation, seats: int, remote: RemoteSeats
) -> Venue[Player]:
    """Return the venue of this process, which plays all matches of remote bots.

    Raises:
        MachineCannot: this machine has no resources for one match.
    """
    here = _here(bots)
    away = [bot for bot in bots if isinstance(bot, RemoteBot)]
    slots = remote.slots
    demand_room(here, isolation, seats=seats, shares=[1], of_worker=False)

    def open_remote(matches: int) -> AbstractAsyncContextManager[list[Worker[Player]]]:
        share = max(1, min(slots, matches))
        demand_room(here, isolation, seats=seats, shares=[share], of_worker=False)
        return remote.open(matches, away)

    return open_remote


def _venue_of_cluster(
    where: Placement, bots: tuple[BotFolder, ...], isolation: Isolation, log: OperatorLog
) -> Venue[Any]:
    """Return the venue of a cluster. All options are checked now, before the first side effect.

    Raises:
        WrongUse: the address is invalid, Dask is not installed, or an option is for this machine.
    """
    address_of(where.on)
    if where.concurrency is not None or where.workers is not None:
        raise WrongUse("--concurrency and --workers are of this machine; a cluster's workers have slots")
    dask_for(where.on)
    asked = Asked(bots=bots, isolation=isolation)
    return lambda _: open_cluster(where.on, asked, where.transcripts, patience=where.patience, log=log.logger)


def _refuse_without_workers(affinity: str | None, where: Placement, remote: RemoteSeats | None) -> None:
    """Raise `WrongUse` if workers should have their own cores but this machine runs no workers."""
    if affinity is None:
        return
    if remote is not None:
        raise WrongUse(f"{affinity}: with remote bots the arena's own process plays all matches")
    if where.on != LOCAL:
        start = f"taskset --cpu-list 0-3 dask worker {address_of(where.on)}"
        raise WrongUse(f"{affinity}: is for this machine; a cluster's workers are given cores so: {start}")


def _own_cores(affinity: str | None, concurrency: int, workers: int | None) -> list[frozenset[int]]:
    """Return the cores of each worker, for the maximum number of workers; empty if workers share all cores.

    With fewer workers, because there are few matches, each still has the same number of cores.
    """
    if affinity is None:
        return []
    processes = len(machine.shares(concurrency, concurrency=concurrency, workers=workers))
    if processes > (there := machine.cores()):
        lack = f"{pluralise(processes, 'worker')} cannot each have a core: the arena may use {there}"
        raise WrongUse(f"{affinity}: {lack}; give --workers {there}, or fewer")
    return machine.own_cores(processes)


def _here(bots: Sequence[BotFolder | RemoteBot]) -> list[BotFolder]:
    return [bot for bot in bots if isinstance(bot, BotFolder)]


def _demand(isolation: Isolation) -> None:
    """Raise an error if bots cannot be isolated, before earlier results are moved aside."""
    if isolation != "none":
        with errors_as_exits():
            sandbox.find_isolation()
            sandbox.demand(isolation)


def _refuse_elsewhere(where: Placement) -> None:
    """Raise `WrongUse` for options that remote bots exclude, because their connections end in this process."""
    asked = {"--on": where.on != LOCAL, "--transcripts": where.transcripts, "--workers": where.workers}
    for flag, value in asked.items():
        if value:
            raise WrongUse(f"{flag}: with remote bots the arena's own process plays all matches, on this machine")


def _players(
    bots: Sequence[BotFolder | RemoteBot], isolation: Isolation, failed: dict[int, str] | None
) -> tuple[Player, ...]:
    """Return the bots as players, after building those of this machine."""
    here = [(number, bot) for number, bot in enumerate(bots) if isinstance(bot, BotFolder)]
    failed_here: dict[int, str] | None = None if failed is None else {}
    built = ready([bot for _, bot in here], isolation, failed_here)
    players: list[Player] = [bot if isinstance(bot, RemoteBot) else SandboxedBot(bot) for bot in bots]
    for (number, _), bot in zip(here, built, strict=True):
        players[number] = SandboxedBot(bot)
    if failed is not None and failed_here is not None:
        failed.update({here[place][0]: why for place, why in failed_here.items()})
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
    play: Play[Any], store: Store, plan: Plan, players: Sequence[Any], *, transcript: Path
) -> Result:
    result = await play(plan, players, transcript=transcript)
    return replace(result, transcript=await trio.to_thread.run_sync(store.move, transcript))
