"""Plays what is left of a tournament, so many matches at once, and writes each into the ledger as it ends.

The schedule says who meets whom from which deal, the queue which match is next; a worker plays it, and the ledger
says what counts. The ledger is written in a thread, one call after the other: no match waits for the disk or for
another match.
"""

import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace

from arena.errors import MachineCannot, errors_as_exits, shortage
from arena.schedule import Block, Later, Match, MatchQueue, Ticket, sortable_match_name
from arena.statistics import Played
from arena.tournament.aside import Held, is_alone_in
from arena.tournament.ledger import Attempt, Ledger
from arena.workers import Play, Roster, Worker, WorkerGoneError, Workers
from referee.host import Plan, RemoteBot, Result
from referee.log import SILENT, Logger
from referee.match import HeldUp, Verdict
from referee.sandbox import SandboxError
from referee.transcript import TranscriptError

ATTEMPTS = 3
"""How often a block may be void: then it is set aside if one bot was held up each time, and else the machine is
too small."""
Settle = Literal["by_host", "last", "at_once"]
"""What becomes of a block that is set aside. It waits for the host; or it is played once nothing else is left, or
at once, and then that bot's hold-ups do not excuse it."""
INTERRUPTIONS = 20
"""How often in one run a match may take its worker with it, before it says so: somebody may be killing workers."""
NAME_BYTES = 90
"""The most of each bot's name in a file's name: Linux takes 255 in all."""
_UNUSUAL = re.compile(r"[^\w.+@-]")
LOOK_SECONDS = 0.2
"""So often it is looked whether players have come for whom matches wait."""
MANY = 2
"""If one of so many bots, or more, are each held up alone in some block, the machine holds them up."""
_AFTER: dict[Settle, str] = {
    "by_host": "the rest goes on, and the host decides (arena decide)",
    "last": "it is played once nothing else is left, and then a hold-up does not excuse that bot",
    "at_once": "it is played again, and now a hold-up does not excuse that bot",
}
NAMED = 2
"""With so many seats or fewer, a match is named after those who play it."""

PlayerT = TypeVar("PlayerT")
AnswerT = TypeVar("AnswerT")


class Progress(Protocol):
    """Hears how far it is."""

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


Write = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Makes a call of the ledger, and gives what it gives."""


class InThread:
    """Makes calls one at a time in a thread: the loop, and every match's clock, does not wait for the disk."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(1)

    async def __call__(self, call: Callable[[], AnswerT]) -> AnswerT:
        """See `Write`."""
        return await trio.to_thread.run_sync(call, limiter=self._limiter)


async def play_blocks(
    field: MatchSetup[PlayerT],
    blocks: Callable[[], Iterator[Block | Later]],
    ledger: Ledger,
    *,
    first: int = 0,
    hear: Callable[[Sequence[Played]], None] | None = None,
    workers: Workers[PlayerT],
    progress: Progress,
    write: Write | None = None,
    log: Logger = SILENT,
    change_at: Callable[[int], int] | None = None,
    time_is_up: Callable[[], bool] | None = None,
    settle: Settle = "by_host",
    tell_aside: Callable[[str], None] | None = None,
) -> None:
    """Plays every match of the blocks that the ledger has no result of.

    Args:
        field: what all matches have in common.
        blocks: gives the whole schedule, anew at each call.
        ledger: where results go, and what is done already.
        first: the number of the first of these blocks.
        hear: is told the results of each block when it counts, where the blocks to come depend on them.
        workers: play the matches.
        progress: hears of each match that ends.
        write: makes the ledger's calls, one after the other; in a thread if not given.
        log: the operator's.
        change_at: as a schedule has it: if a change waits in the ledger, no block from there on is begun. None:
            nobody looks whether one waits.
        time_is_up: whether no more blocks are to be begun, nor matches to be waited for; None: they always are.
        settle: what becomes of a block that is void again and again because of one bot.
        tell_aside: takes a line for people about each such block; None: nobody reads it.

    Raises:
        MachineCannot: a block stayed void, or nothing more can be written. What is done is in the ledger.
    """
    asides = ledger.asides()
    await _Run(
        field=field,
        queue=MatchQueue(
            blocks(),
            ledger.finished(first),
            aside={each.block for each in asides.undecided},
            left_out={each.block for each in asides.left_out},
            releases=settle != "by_host",
        ),
        settle=settle,
        tell_aside=tell_aside,
        ledger=ledger,
        roster=workers if isinstance(workers, Roster) else Roster(workers),
        progress=progress,
        write=InThread() if write is None else write,
        log=log,
        change_at=change_at,
        hear=hear,
        time_is_up=time_is_up,
    ).to_the_end()


@dataclass(kw_only=True)
class _Run(Generic[PlayerT]):
    """One run of a tournament, from where the ledger stands to its end."""

    field: MatchSetup[PlayerT]
    queue: MatchQueue
    ledger: Ledger
    roster: Roster[Worker[PlayerT]]
    progress: Progress
    write: Write
    log: Logger
    change_at: Callable[[int], int] | None
    hear: Callable[[Sequence[Played]], None] | None
    time_is_up: Callable[[], bool] | None
    settle: Settle
    tell_aside: Callable[[str], None] | None
    unbound: Counter[int] = dataclass_field(default_factory=Counter)
    """By block: how often it was void in this run without a bot that was held up by the machine."""
    named: set[int] = dataclass_field(default_factory=set)
    """The bots whose hold-ups made blocks void so often in this run that these are set aside."""
    joining: trio.CancelScope = dataclass_field(default_factory=trio.CancelScope)
    """New workers join until every match has ended."""
    interruptions: Counter[Match] = dataclass_field(default_factory=Counter)
    changed: trio.Event = dataclass_field(default_factory=trio.Event)
    """A match ended, or is to be played again: idle workers look for a match again."""

    async def to_the_end(self) -> None:
        """Has all workers play, and those that join, until every match has ended."""
        async with trio.open_nursery() as nursery:
            with self.joining:
                async for workers in self.roster.groups():
                    # Each worker's first slot before any second: where matches are few, all have some.
                    for slot in range(max(worker.slots for worker in workers.values())):
                        for number, worker in workers.items():
                            if slot < worker.slots:
                                nursery.start_soon(self._keep_busy, number, worker)

    async def _keep_busy(self, number: int, worker: Worker[PlayerT]) -> None:
        """Plays one match after the other, until all have ended, or this worker is gone for good."""
        seat, awaits = worker.seat, worker.awaits
        players = self.field.players

        def fits(match: Match) -> bool:
            return seat is None or seat([players[entrant] for entrant in match.entrants])

        def waits(match: Match) -> bool:
            return awaits is not None and awaits([players[entrant] for entrant in match.entrants])

        while not self.queue.done and number in self.roster:
            if self.time_is_up is not None and self.time_is_up():
                self.queue.stop(waits)
            ticket = self.queue.take(number, fits)
            if ticket is not None:
                await self._settle(ticket, worker.play)
                self.changed.set()
                self.changed = trio.Event()
            elif (block := self.queue.release()) is not None:
                # The queue first: nobody takes a match of it before this is written.
                await self._play_unexcused(block)
                self.changed.set()
                self.changed = trio.Event()
            elif not self.queue.done:
                await self._wait(math.inf if seat is None else LOOK_SECONDS)
        if self.queue.done:
            self.joining.cancel()
        else:
            self.queue.left(number)

    async def _wait(self, seconds: float) -> None:
        """Until something may have changed. Where players are waited for, no match may end for long."""
        with trio.move_on_after(seconds):
            await self.changed.wait()
        if seconds < math.inf and self.change_at is not None and await self.write(self.ledger.waiting):
            self.queue.end_at(self.change_at)

    async def _settle(self, ticket: Ticket, play: Play[PlayerT]) -> None:
        """Makes one attempt at a match, and sees to what is to be done after it."""
        match, field = ticket.match, self.field
        name = _name(field, match)
        labels = tuple(field.names[entrant] for entrant in match.entrants)
        attempt = await self.write(partial(self.ledger.try_match, match, field.transcripts, name))
        players = [field.players[entrant] for entrant in match.entrants]
        remembers = self._remembers(match)
        unexcused = tuple(seat for seat, entrant in enumerate(match.entrants) if entrant in attempt.unexcused)
        try:
            result = await play(
                replace(
                    field.plan,
                    match=match.name,
                    seed=match.own_dealt(attempt.deal) if remembers else match.dealt(attempt.deal),
                    unexcused=unexcused,
                    block=match.block,
                    seating=match.seating,
                    labels=labels,
                ),
                players,
                transcript=attempt.transcript,
            )
        except WorkerGoneError as gone:
            await self._interrupted(ticket, attempt, str(gone))
        except (SandboxError, TranscriptError) as error:
            # No other match would fare better.
            with trio.CancelScope(shield=True):
                await self._write_void(attempt, str(error))
            with errors_as_exits():
                raise
        except OSError as error:
            await self._void(ticket, attempt, shortage(error), None)
        else:
            if result.outcome is None:
                await self._void(ticket, attempt, result.void or "no reason given", result)
                return
            with trio.CancelScope(shield=True):  # Nobody shall have another throw of the dice.
                waits, counts = await self.write(partial(self._finish, match, attempt, result, ticket.seatings))
            if counts and self.hear is not None:
                self.hear(counts)
            if waits and self.change_at is not None:
                self.queue.end_at(self.change_at)
            if self.queue.ended(ticket):
                self.progress.ended(match, result)

    def _finish(
        self, match: Match, attempt: Attempt, result: Result, seatings: int
    ) -> tuple[bool, Sequence[Played]]:
        """Writes a result down; whether a change waits to be taken in, and its block's results to be heard."""
        completes = self.ledger.finish(match, attempt, result, seatings)
        counts = self.ledger.results(match.block, match.block + 1) if completes and self.hear is not None else []
        return self.change_at is not None and self.ledger.waiting(), counts

    def _remembers(self, match: Match) -> bool:
        """Return whether a bot may remember a deal: nothing keeps one on another machine from it."""
        return any(isinstance(self.field.players[entrant], RemoteBot) for entrant in match.entrants)

    async def _void(self, ticket: Ticket, attempt: Attempt, reason: str, result: Result | None) -> None:
        """An attempt is void: its block counts as a whole, so the whole is played again.

        From another deal, if the attempt was void because a bot lost a window, or if a bot may remember the deal:
        who gained by it must not see that deal again.

        Raises:
            MachineCannot: it has been void too often.
        """
        match, kept = ticket.match, self.field.plan.policy.processes == "kept"
        # The queue first: what is handed out from now on is written after what is written here.
        turn = self.queue.void(ticket)
        with trio.CancelScope(shield=True):
            if result is not None and result.held_up is not None:
                longest = await self.write(
                    partial(self.ledger.longest_window, match.entrants[result.held_up.seat])
                )
                alone = is_alone_in(result, longest)
                await self._held_up(
                    match, attempt, reason, result.held_up, alone=alone, voids_block=turn is not None
                )
                await self._judge_own_doing(match, result.held_up)
            elif turn is None:
                await self.write(partial(self.ledger.void, attempt, reason))
            else:
                redeals = kept or self._remembers(match)
                again = partial(self.ledger.void_block, match.block, attempt, reason, redeals=redeals)
                self._note_void(match, reason, await self.write(again))
                self._count_unbound(match, reason)

    async def _held_up(
        self, match: Match, attempt: Attempt, reason: str, held_up: HeldUp, *, alone: bool, voids_block: bool
    ) -> None:
        """See `_void`."""
        entrant = match.entrants[held_up.seat]
        found = await self.write(
            partial(
                self.ledger.hold_up,
                match,
                attempt,
                reason,
                held_up,
                alone=alone,
                voids_block=voids_block,
                most=ATTEMPTS if self._is_one_bots(entrant) else None,
            )
        )
        if not voids_block:
            return
        if found.is_aside and self.settle != "at_once":
            self.queue.set_aside(match.block)
        self._note_void(match, reason, found.set_aside)
        if found.is_aside:
            self._note_aside(match, entrant, found.held)
            if self.settle == "at_once":
                await self.write(partial(self.ledger.play_unexcused, match.block))
        elif held_up.verdict is not Verdict.HOST:
            self._count_unbound(match, reason)
        elif len(found.held) >= ATTEMPTS:
            # Several bots were held up in it, or in many blocks: it is not one bot's doing.
            raise self._cannot(match, len(found.held), reason)

    async def _judge_own_doing(self, match: Match, held_up: HeldUp) -> None:
        """Excuse a bot no more that was held up alone too often, and play what was set aside because of it."""
        if held_up.verdict is not Verdict.HOST:
            return
        entrant = match.entrants[held_up.seat]
        judge = partial(self.ledger.judge_own_doing, entrant, len(self.field.players))
        found, blocks = await self.write(judge)
        if found is None:
            return
        self.queue.take_back(blocks)
        name = self.field.names[entrant]
        self.log.warning("bot_not_excused", bot=name, evidence=found.evidence)
        self._tell(f"{name}: it causes its hold-ups itself, so they no longer excuse it: {found.evidence}")

    def _note_void(self, match: Match, reason: str, set_aside: int) -> None:
        self.progress.void(match, reason, set_aside)
        self.log.warning("block_void", block=match.block, reason=reason, set_aside=set_aside)

    def _count_unbound(self, match: Match, reason: str) -> None:
        """Raise `MachineCannot` if a block was void too often without a bot that the machine held up."""
        self.unbound[match.block] += 1
        if self.unbound[match.block] >= ATTEMPTS:
            raise self._cannot(match, self.unbound[match.block], reason)

    def _is_one_bots(self, entrant: int) -> bool:
        """Return whether a block may be set aside for this bot: not if the machine holds many bots up."""
        named = self.named | {entrant}
        return len(named) == 1 or MANY * len(named) < len(self.field.players)

    def _note_aside(self, match: Match, entrant: int, held: Sequence[Held]) -> None:
        """Tell of a block that was set aside."""
        self.named.add(entrant)
        name = self.field.names[entrant]
        self.log.warning("block_set_aside", block=match.block, bot=name, evidence=[each.text for each in held])
        self._tell(
            f"block {match.block + 1} is set aside: {name} alone was held up in {len(held)} attempts at it,"
            f" most recently in {held[-1].text}; {_AFTER[self.settle]}"
        )

    async def _play_unexcused(self, block: int) -> None:
        """Have a block played that was set aside: that its bot is held up no longer excuses it."""
        entrants = await self.write(partial(self.ledger.play_unexcused, block))
        names = ", ".join(self.field.names[entrant] for entrant in entrants)
        self._tell(f"block {block + 1} is played again: a hold-up does not excuse {names} in it any more")

    def _tell(self, text: str) -> None:
        if self.tell_aside is not None:
            self.tell_aside(text)

    def _cannot(self, match: Match, times: int, reason: str) -> MachineCannot:
        name = _name(self.field, match)
        return MachineCannot(
            f"{name}: its block was void {times} times, most recently because {reason}; {self._too_small()}"
        )

    def _too_small(self) -> str:
        """What to tell of the machine. Each try at half as much finds soon what fits."""
        if self.roster.remedy is not None:
            return self.roster.remedy
        at_once = sum(worker.slots for worker in self.roster.members.values())
        if at_once == 1:
            return "this machine is too small for even one match at a time"
        return f"this machine is too small for {at_once} matches at once: go on with --concurrency {at_once // 2}"

    async def _interrupted(self, ticket: Ticket, attempt: Attempt, reason: str) -> None:
        """Its worker is gone: the match is played again; what was finished of its block stays.

        Raises:
            MachineCannot: that has happened too often.
        """
        await self.write(partial(self.ledger.lose_worker, attempt, reason))
        self.queue.interrupted(ticket)
        self.progress.lost(ticket.match, reason)
        self.log.warning("match_lost", match=ticket.match.name, block=ticket.match.block, reason=reason)
        self.interruptions[ticket.match] += 1
        if self.interruptions[ticket.match] >= INTERRUPTIONS:
            name = _name(self.field, ticket.match)
            raise MachineCannot(f"{name}: {INTERRUPTIONS} referee processes ended while they played it: {reason}")

    async def _write_void(self, attempt: Attempt, reason: str) -> None:
        """Writes down why an attempt is void, if that can still be written: it may be the disk that is full."""
        try:
            await self.write(partial(self.ledger.void, attempt, reason))
        except MachineCannot:
            return


def _name(field: MatchSetup[PlayerT], match: Match) -> str:
    """A match's name in messages, and its transcript's: `00012a-ann-bob`. With more seats it would be too long."""
    name = sortable_match_name(match.block, match.seating)
    if len(match.entrants) > NAMED:
        return name
    return "-".join((name, *(_in_file_name(field.names[entrant]) for entrant in match.entrants)))


def _in_file_name(name: str) -> str:
    """What any file system, shell and URL takes as it is, and short enough for some of them and an ending."""
    return _UNUSUAL.sub("_", name).encode()[:NAME_BYTES].decode(errors="ignore")
