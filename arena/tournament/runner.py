"""Plays the matches of blocks that have no result yet, several at once, and writes each into the ledger.

The schedule determines who meets whom from which deal, the queue which match is next; a worker plays it, and the
ledger determines which results count. The ledger is written in a thread, one call after the other, so that no
match waits for the disk.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from dataclasses import field as dataclass_field
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Generic, Literal, TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace

from arena.errors import MachineCannot, errors_as_exits, shortage
from arena.event_loop import CallThread
from arena.schedule import Block, MatchQueue, NotYetScheduled, ScheduledMatch, Ticket, sortable_match_name
from arena.statistics import CountedMatch
from arena.tournament.aside import Held, is_alone_in
from arena.tournament.ledger import Attempt, Ledger, LedgerCall
from arena.tournament.observers import MatchObserver
from arena.workers import PlayMatch, Roster, Worker, WorkerGoneError, Workers
from referee.host import AttemptResult, Plan, RemoteBot
from referee.log import SILENT, Logger
from referee.match import HeldUp, Verdict
from referee.sandbox import SandboxError
from referee.transcript import TranscriptError

ATTEMPTS = 3
"""Number of void attempts at a block after which it is set aside if one bot was held up each time; otherwise the
machine is too small."""
Settle = Literal["by_host", "last", "at_once"]
"""The time at which a block that was set aside is played: when the host decides, after all others, or at once. In
the last two cases a hold-up no longer excuses the bot that caused it."""
INTERRUPTIONS = 20
"""Number of workers that may end during the same match in one run: more are no accident of the match."""
NAME_BYTES = 90
"""Most bytes of each bot's name in a file name. Linux allows 255 for the whole name."""
_UNUSUAL = re.compile(r"[^\w.+@-]")
LOOK_SECONDS = 0.2
"""Seconds between two checks whether remote players have connected."""
MANY = 2
"""Reciprocal of the share of bots held up alone in some block from which on the machine is the cause."""
_AFTER: dict[Settle, str] = {
    "by_host": "the rest goes on, and the host decides (arena decide)",
    "last": "it is played once nothing else is left, and then a hold-up does not excuse that bot",
    "at_once": "it is played again, and now a hold-up does not excuse that bot",
}
NAMED = 2
"""Most seats of a match whose name contains the names of its bots."""

PlayerT = TypeVar("PlayerT")


class MatchSetup(Struct, Generic[PlayerT], frozen=True, kw_only=True):
    """The common part of all matches of a tournament."""

    plan: Plan
    """The plan of every match, without its name, seed and seating."""
    players: tuple[PlayerT, ...]
    """Indexed by entrant."""
    names: tuple[str, ...]
    transcripts: Path

    def players_of(self, match: ScheduledMatch) -> list[PlayerT]:
        """Return the players of a match, by seat."""
        return [self.players[entrant] for entrant in match.entrants]

    def names_of(self, match: ScheduledMatch) -> tuple[str, ...]:
        """Return the names of a match's bots, by seat."""
        return tuple(map(self.names.__getitem__, match.entrants))


@dataclass
class BlockRunner(Generic[PlayerT]):
    """Plays every match of some blocks that the ledger has no result of."""

    setup: MatchSetup[PlayerT]
    blocks: Callable[[], Iterator[Block | NotYetScheduled]]
    """Returns the schedule from block `first` on, anew at each call."""
    ledger: Ledger
    _: KW_ONLY
    workers: Workers[PlayerT]
    progress: MatchObserver
    first: int = 0
    """The number of the first block."""
    on_block_finished: Callable[[Sequence[CountedMatch]], None] | None = None
    """Receives the results of each block when they count, if the blocks to come depend on them."""
    write: LedgerCall = dataclass_field(default_factory=CallThread)
    log: Logger = SILENT
    change_at: Callable[[int], int] | None = None
    """The schedule's function: while a change waits in the ledger, no block from its result on is begun. None:
    changes are ignored."""
    time_is_up: Callable[[], bool] | None = None
    """Returns whether no more blocks are begun, and no matches waited for."""
    settle: Settle = "by_host"
    tell_aside: Callable[[str], None] | None = None
    """Shows a line for people about each block that is set aside."""

    def __post_init__(self) -> None:
        """Read from the ledger which matches are left."""
        asides = self.ledger.asides()
        self._queue = MatchQueue(
            self.blocks(),
            self.ledger.finished(self.first),
            aside=set(map(attrgetter("block"), asides.undecided)),
            left_out=set(map(attrgetter("block"), asides.left_out)),
            releases=self.settle != "by_host",
        )
        self._roster = self.workers if isinstance(self.workers, Roster) else Roster(self.workers)
        self._unbound: Counter[int] = Counter()
        """Number of times that a block was void in this run without a bot that the machine held up; by block."""
        self._named: set[int] = set()
        """The bots because of whose hold-ups blocks were set aside in this run."""
        self._joining = trio.CancelScope()
        """The scope in which new workers join. It is cancelled when every match has ended."""
        self._interruptions: Counter[ScheduledMatch] = Counter()
        self._changed = trio.Event()
        """Set, and replaced, when a match has ended or is to be played again, so that idle workers look again."""

    async def play(self) -> None:
        """Play with all workers, and those that join later, until every match has ended.

        Raises:
            MachineCannot: a block stayed void, or the ledger can no longer be written. Finished matches are in it.
        """
        async with trio.open_nursery() as nursery:
            with self._joining:
                async for workers in self._roster.groups():
                    # Each worker's first slot comes before any second one, so that all get some of few matches.
                    for slot in range(max(worker.slots for worker in workers.values())):
                        for number, worker in workers.items():
                            if slot < worker.slots:
                                nursery.start_soon(self._keep_busy, number, worker)

    async def _keep_busy(self, number: int, worker: Worker[PlayerT]) -> None:
        """Play one match after the other, until all have ended or this worker has left."""
        seat, awaits = worker.seat, worker.awaits

        def fits(match: ScheduledMatch) -> bool:
            return seat is None or seat(self.setup.players_of(match))

        def waits(match: ScheduledMatch) -> bool:
            return awaits is not None and awaits(self.setup.players_of(match))

        while not self._queue.done and number in self._roster:
            if self.time_is_up is not None and self.time_is_up():
                self._queue.stop(waits)
            ticket = self._queue.take(number, fits)
            if ticket is not None:
                await self._settle(ticket, worker.play)
                self._changed.set()
                self._changed = trio.Event()
            elif (block := self._queue.release()) is not None:
                # No worker takes a match of this block before the ledger is written.
                await self._play_unexcused(block)
                self._changed.set()
                self._changed = trio.Event()
            elif not self._queue.done:
                await self._wait(math.inf if seat is None else LOOK_SECONDS)
        if self._queue.done:
            self._joining.cancel()
        else:
            self._queue.left(number)

    async def _wait(self, seconds: float) -> None:
        """Wait until something may have changed. While remote players are awaited, no match may end for long."""
        with trio.move_on_after(seconds):
            await self._changed.wait()
        if seconds < math.inf and self.change_at is not None and await self.write(self.ledger.waiting):
            self._queue.end_at(self.change_at)

    async def _settle(self, ticket: Ticket, play: PlayMatch[PlayerT]) -> None:
        """Make one attempt at a match, and act on its result."""
        match, setup = ticket.match, self.setup
        name = _name(setup, match)
        attempt = await self.write(partial(self.ledger.try_match, match, setup.transcripts, name))
        seed = match.dealt(attempt.deal)
        if self._remembers(match):
            seed = match.own_dealt(attempt.deal)
        unexcused = tuple(seat for seat, entrant in enumerate(match.entrants) if entrant in attempt.unexcused)
        try:
            result = await play(
                replace(
                    setup.plan,
                    match=match.name,
                    seed=seed,
                    unexcused=unexcused,
                    block=match.block,
                    seating=match.seating,
                    labels=setup.names_of(match),
                ),
                setup.players_of(match),
                transcript=attempt.transcript,
            )
        except WorkerGoneError as gone:
            await self._interrupted(ticket, attempt, str(gone))
        except (SandboxError, TranscriptError) as error:
            # Every other match would fail, too.
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
            with trio.CancelScope(shield=True):  # A result is never lost, or it could be played for again.
                waits, counts = await self.write(partial(self._finish, match, attempt, result, ticket.seatings))
            if counts and self.on_block_finished is not None:
                self.on_block_finished(counts)
            if waits and self.change_at is not None:
                self._queue.end_at(self.change_at)
            if self._queue.ended(ticket):
                self.progress.ended(match, result)

    def _finish(
        self, match: ScheduledMatch, attempt: Attempt, result: AttemptResult, seatings: int
    ) -> tuple[bool, Sequence[CountedMatch]]:
        """Write a result; return whether a change waits, and the results of its block if they now count."""
        completes = self.ledger.finish(match, attempt, result, seatings)
        counts: Sequence[CountedMatch] = ()
        if completes and self.on_block_finished is not None:
            counts = self.ledger.results(match.block, match.block + 1)
        return self.change_at is not None and self.ledger.waiting(), counts

    def _remembers(self, match: ScheduledMatch) -> bool:
        """Return whether a bot of the match may remember its deal: remote bots may."""
        return any(isinstance(player, RemoteBot) for player in self.setup.players_of(match))

    async def _void(self, ticket: Ticket, attempt: Attempt, reason: str, result: AttemptResult | None) -> None:
        """Record a void attempt. Its block counts as a whole, so all of it is played again.

        The deal is a new one if the attempt was void because a bot lost a window, or if a bot may remember the
        deal: no bot may profit from seeing a deal twice.

        Raises:
            MachineCannot: it has been void too often.
        """
        match, kept = ticket.match, self.setup.plan.policy.processes == "kept"
        # The queue first, so that matches handed out from now on are written after this.
        turn = self._queue.void(ticket)
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
        self,
        match: ScheduledMatch,
        attempt: Attempt,
        reason: str,
        held_up: HeldUp,
        *,
        alone: bool,
        voids_block: bool,
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
            self._queue.set_aside(match.block)
        self._note_void(match, reason, found.set_aside)
        if found.is_aside:
            self._note_aside(match, entrant, found.held)
            if self.settle == "at_once":
                await self.write(partial(self.ledger.play_unexcused, match.block))
        elif held_up.verdict is not Verdict.HOST:
            self._count_unbound(match, reason)
        elif len(found.held) >= ATTEMPTS:
            # Several bots were held up in it, or in many blocks, so no bot is the cause.
            raise self._cannot(match, len(found.held), reason)

    async def _judge_own_doing(self, match: ScheduledMatch, held_up: HeldUp) -> None:
        """Stop excusing a bot that was held up alone too often, and play the blocks set aside because of it."""
        if held_up.verdict is not Verdict.HOST:
            return
        entrant = match.entrants[held_up.seat]
        judge = partial(self.ledger.judge_own_doing, entrant, len(self.setup.players))
        found, blocks = await self.write(judge)
        if found is None:
            return
        self._queue.take_back(blocks)
        name = self.setup.names[entrant]
        self.log.warning("bot_not_excused", bot=name, evidence=found.evidence)
        self._tell(f"{name}: it causes its hold-ups itself, so they no longer excuse it: {found.evidence}")

    def _note_void(self, match: ScheduledMatch, reason: str, set_aside: int) -> None:
        self.progress.void(match, reason, set_aside)
        self.log.warning("block_void", block=match.block, reason=reason, set_aside=set_aside)

    def _count_unbound(self, match: ScheduledMatch, reason: str) -> None:
        """Raise `MachineCannot` if a block was void too often without a bot that the machine held up."""
        self._unbound[match.block] += 1
        if self._unbound[match.block] >= ATTEMPTS:
            raise self._cannot(match, self._unbound[match.block], reason)

    def _is_one_bots(self, entrant: int) -> bool:
        """Return whether a block may be set aside for this bot: not if the machine holds many bots up."""
        named = self._named | {entrant}
        return len(named) == 1 or MANY * len(named) < len(self.setup.players)

    def _note_aside(self, match: ScheduledMatch, entrant: int, held: Sequence[Held]) -> None:
        """Report a block that was set aside."""
        self._named.add(entrant)
        name = self.setup.names[entrant]
        self.log.warning("block_set_aside", block=match.block, bot=name, evidence=[each.text for each in held])
        self._tell(
            f"block {match.block + 1} is set aside: {name} alone was held up in {len(held)} attempts at it,"
            f" most recently in {held[-1].text}; {_AFTER[self.settle]}"
        )

    async def _play_unexcused(self, block: int) -> None:
        """Play a block that was set aside. A hold-up no longer excuses its bot."""
        entrants = await self.write(partial(self.ledger.play_unexcused, block))
        names = ", ".join(self.setup.names[entrant] for entrant in entrants)
        self._tell(f"block {block + 1} is played again: a hold-up does not excuse {names} in it any more")

    def _tell(self, text: str) -> None:
        if self.tell_aside is not None:
            self.tell_aside(text)

    def _cannot(self, match: ScheduledMatch, times: int, reason: str) -> MachineCannot:
        name = _name(self.setup, match)
        return MachineCannot(
            f"{name}: its block was void {times} times, most recently because {reason}; {self._too_small()}"
        )

    def _too_small(self) -> str:
        """Return the remedy for a machine that is too small: half the matches at once."""
        if self._roster.remedy is not None:
            return self._roster.remedy
        at_once = sum(worker.slots for worker in self._roster.members.values())
        if at_once == 1:
            return "this machine is too small for even one match at a time"
        return f"this machine is too small for {at_once} matches at once: go on with --concurrency {at_once // 2}"

    async def _interrupted(self, ticket: Ticket, attempt: Attempt, reason: str) -> None:
        """Record that a match's worker has ended. The match is played again; other results of its block stay.

        Raises:
            MachineCannot: that has happened too often.
        """
        await self.write(partial(self.ledger.lose_worker, attempt, reason))
        self._queue.interrupted(ticket)
        self.progress.lost(ticket.match, reason)
        self.log.warning("match_lost", match=ticket.match.name, block=ticket.match.block, reason=reason)
        self._interruptions[ticket.match] += 1
        if self._interruptions[ticket.match] >= INTERRUPTIONS:
            name = _name(self.setup, ticket.match)
            raise MachineCannot(f"{name}: {INTERRUPTIONS} referee processes ended while they played it: {reason}")

    async def _write_void(self, attempt: Attempt, reason: str) -> None:
        """Write why an attempt is void, unless the ledger cannot be written: the disk may be full."""
        try:
            await self.write(partial(self.ledger.void, attempt, reason))
        except MachineCannot:
            return


def _name(setup: MatchSetup[PlayerT], match: ScheduledMatch) -> str:
    """Return the name of a match and its transcript, such as `00012a-ann-bob`. With many seats it has no names."""
    name = sortable_match_name(match.block, match.seating)
    if len(match.entrants) > NAMED:
        return name
    return "-".join((name, *map(_in_file_name, setup.names_of(match))))


def _in_file_name(name: str) -> str:
    """Return a bot's name as file systems, shells and URLs accept it, shortened to `NAME_BYTES`."""
    return _UNUSUAL.sub("_", name).encode()[:NAME_BYTES].decode(errors="ignore")
