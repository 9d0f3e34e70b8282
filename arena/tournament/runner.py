"""Plays what is left of a tournament, so many matches at once, and writes each into the ledger as it ends.

Whom to play, and from which deal, is the schedule's; which match is next is the agenda's; how it is played is its
worker's; what counts is the ledger's. The ledger is written in a thread, one call after the other: no match waits
for the disk, and none for another to end.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace

from arena.errors import MachineCannot, errors_as_exits, shortage
from arena.schedule import Agenda, Block, Match, Ticket
from arena.tournament.ledger import Attempt, Ledger
from arena.workers import Play, Roster, Worker, WorkerGoneError, Workers
from referee.host import Plan, Result
from referee.log import SILENT, Logger
from referee.sandbox import SandboxError
from referee.transcript import TranscriptError

ATTEMPTS = 3
"""How often one run begins a block that turns out void, before it says that the machine cannot do it."""
INTERRUPTIONS = 20
"""How often in one run a match may take its worker with it, before it says so: somebody may be killing workers."""
NAME_BYTES = 90
"""Of each bot's name in a file's: Linux takes 255 in all."""
_UNUSUAL = re.compile(r"[^\w.+@-]")
NAMED = 2
"""With so many seats or fewer, a match is named after those who play it."""

PlayerT = TypeVar("PlayerT")
AnswerT = TypeVar("AnswerT")


class Progress(Protocol):
    """Whoever wants to know how far it is."""

    def ended(self, match: Match, result: Result) -> None:
        """A match has its result."""

    def lost(self, match: Match, reason: str) -> None:
        """The referee process of an attempt is gone, and the match is played again."""

    def void(self, match: Match, reason: str, set_aside: int) -> None:
        """An attempt is void, and its block played again, of which so many matches had a result."""


class MatchSetup(Struct, Generic[PlayerT], frozen=True, kw_only=True):
    """What all matches of a tournament have in common."""

    plan: Plan
    """For every match but for its name, seed and seating."""
    players: tuple[PlayerT, ...]
    """By entrant's number."""
    names: tuple[str, ...]
    transcripts: Path


class Write(Protocol):
    """Makes a call of the ledger."""

    def __call__(self, call: Callable[[], AnswerT]) -> Awaitable[AnswerT]:  # noqa: D102 - see the class
        ...


class InThread:
    """Makes calls one at a time in a thread: the loop, and every match's clock, does not wait for the disk."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(1)

    async def __call__(self, call: Callable[[], AnswerT]) -> AnswerT:
        """See `Write`."""
        return await trio.to_thread.run_sync(call, limiter=self._limiter)


async def play_blocks(
    field: MatchSetup[PlayerT],
    blocks: Callable[[], Iterator[Block]],
    ledger: Ledger,
    *,
    workers: Workers[PlayerT],
    progress: Progress,
    write: Write | None = None,
    log: Logger = SILENT,
) -> None:
    """Plays every match of the blocks that the ledger has no result of.

    Args:
        field: what all matches have in common.
        blocks: gives the whole schedule, anew at each call.
        ledger: where results go, and what is done already.
        workers: play the matches.
        progress: is told of each match that ends.
        write: makes the ledger's calls, one after the other; in a thread if not given.
        log: the operator's.

    Raises:
        MachineCannot: a block stayed void, or nothing more can be written. What is done is in the ledger.
    """
    running = _Run(
        field,
        Agenda(blocks(), ledger.finished()),
        ledger,
        roster=workers if isinstance(workers, Roster) else Roster(workers),
        progress=progress,
        write=InThread() if write is None else write,
        log=log,
    )
    await running.to_the_end()


class _Run(Generic[PlayerT]):
    """One run of a tournament, from where the ledger stands to its end."""

    def __init__(
        self,
        field: MatchSetup[PlayerT],
        agenda: Agenda,
        ledger: Ledger,
        *,
        roster: Roster[Worker[PlayerT]],
        progress: Progress,
        write: Write,
        log: Logger,
    ) -> None:
        self._field = field
        self._agenda = agenda
        self._ledger = ledger
        self._progress = progress
        self._write = write
        self._roster = roster
        self._log = log
        self._door = trio.CancelScope()
        """Who comes is let in until every match has ended."""
        self._interruptions: Counter[Match] = Counter()
        self._changed = trio.Event()
        """A match ended, or is to be played again: who found nothing to do looks again."""

    async def to_the_end(self) -> None:
        """Has all workers play, and those who come, until every match has ended."""
        async with trio.open_nursery() as nursery:
            with self._door:
                async for workers in self._roster.groups():
                    # Each worker's first slot before any second: where matches are few, all have some.
                    for slot in range(max(worker.slots for worker in workers.values())):
                        for number, worker in workers.items():
                            if slot < worker.slots:
                                nursery.start_soon(self._keep_busy, number, worker.play)

    async def _keep_busy(self, worker: int, play: Play[PlayerT]) -> None:
        """Plays one match after the other, until all have ended, or this worker is gone for good."""
        while not self._agenda.done and worker in self._roster:
            ticket = self._agenda.take(worker)
            if ticket is not None:
                await self._settle(ticket, play)
                self._changed.set()
                self._changed = trio.Event()
            elif not self._agenda.done:
                await self._changed.wait()
        if self._agenda.done:
            self._door.cancel()
        else:
            self._agenda.left(worker)

    async def _settle(self, ticket: Ticket, play: Play[PlayerT]) -> None:
        """Makes one attempt at a match, and sees to what is to be done after it."""
        match, field = ticket.match, self._field
        name = _name(field, match)
        labels = tuple(field.names[entrant] for entrant in match.entrants)
        attempt = await self._write(partial(self._ledger.try_match, match, field.transcripts, name))
        try:
            result = await play(
                replace(
                    field.plan,
                    match=match.name,
                    seed=match.seed,
                    block=match.block,
                    seating=match.seating,
                    labels=labels,
                ),
                [field.players[entrant] for entrant in match.entrants],
                transcript=attempt.transcript,
            )
        except WorkerGoneError as gone:
            await self._interrupted(ticket, attempt, str(gone))
        except (SandboxError, TranscriptError) as error:
            # No other match would fare better.
            with trio.CancelScope(shield=True):
                await self._note_void(attempt, str(error))
            with errors_as_exits():
                raise
        except OSError as error:
            await self._void(ticket, attempt, shortage(error))
        else:
            if result.outcome is None:
                await self._void(ticket, attempt, result.void or "no reason given")
                return
            with trio.CancelScope(shield=True):  # Nobody shall have another throw of the dice.
                await self._write(partial(self._ledger.finish, match, attempt, result, ticket.seatings))
            if self._agenda.ended(ticket):
                self._progress.ended(match, result)

    async def _void(self, ticket: Ticket, attempt: Attempt, reason: str) -> None:
        """An attempt is void: its block counts as a whole, so the whole is played again.

        Raises:
            MachineCannot: it has been void too often.
        """
        # The agenda first: what is handed out from now on is written after what is written here.
        turn = self._agenda.void(ticket)
        if turn is None:
            with trio.CancelScope(shield=True):
                await self._write(partial(self._ledger.void, attempt, reason))
        else:
            with trio.CancelScope(shield=True):
                set_aside = await self._write(
                    partial(self._ledger.void_block, ticket.match.block, attempt, reason)
                )
            self._progress.void(ticket.match, reason, set_aside)
            self._log.warning("block_void", block=ticket.match.block, reason=reason, set_aside=set_aside)
            if turn >= ATTEMPTS:
                name = _name(self._field, ticket.match)
                raise MachineCannot(
                    f"{name}: its block was void {turn} times, at last because {reason}; {self._too_small()}"
                )

    def _too_small(self) -> str:
        """What to tell of the machine. Each try at half as much finds soon what fits."""
        if self._roster.remedy is not None:
            return self._roster.remedy
        at_once = sum(worker.slots for worker in self._roster.members.values())
        if at_once == 1:
            return "this machine is too small for even one match at a time"
        return f"this machine is too small for {at_once} matches at once: go on with --concurrency {at_once // 2}"

    async def _interrupted(self, ticket: Ticket, attempt: Attempt, reason: str) -> None:
        """Its worker is gone: the match is played again; what was finished of its block stays.

        Raises:
            MachineCannot: that has happened too often.
        """
        await self._write(partial(self._ledger.lose_worker, attempt, reason))
        self._agenda.interrupted(ticket)
        self._progress.lost(ticket.match, reason)
        self._log.warning("match_lost", match=ticket.match.name, block=ticket.match.block, reason=reason)
        self._interruptions[ticket.match] += 1
        if self._interruptions[ticket.match] >= INTERRUPTIONS:
            name = _name(self._field, ticket.match)
            raise MachineCannot(f"{name}: {INTERRUPTIONS} referee processes ended while they played it: {reason}")

    async def _note_void(self, attempt: Attempt, reason: str) -> None:
        """Writes down why an attempt is void, if that can still be written: it may be the disk that is full."""
        try:
            await self._write(partial(self._ledger.void, attempt, reason))
        except MachineCannot:
            return


def _name(field: MatchSetup[PlayerT], match: Match) -> str:
    """A match's name for people, and its transcript's: no bot is told it. Many seats would make it too long."""
    number = f"{match.block + 1:05d}{'abcdefghijklmnopqrstuvwxyz'[match.seating]}"
    if len(match.entrants) > NAMED:
        return number
    return "-".join((number, *(_in_file_name(field.names[entrant]) for entrant in match.entrants)))


def _in_file_name(name: str) -> str:
    """What any file system, shell and URL takes as it is, and short enough for some of them and an ending."""
    return _UNUSUAL.sub("_", name).encode()[:NAME_BYTES].decode(errors="ignore")
