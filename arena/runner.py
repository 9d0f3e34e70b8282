"""Plays what is left of a tournament, so many matches at once, and writes each into the ledger as it ends.

Whom to play, and from which deal, is the schedule's; how a match is played is the referee's; what counts is the
ledger's. The ledger is written in a thread: no match's clock waits for the disk.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace

from arena.exits import MachineCannot
from arena.ledger import Attempt, Ledger
from arena.results_folder import transcript_failed
from arena.schedule import Block, Match
from referee.plan import Plan, Result
from referee.sandbox import SandboxError
from referee.transcript_chain import TranscriptError

ATTEMPTS = 3
"""How often one run tries a match whose attempts are void, before it says that the machine cannot do it."""
NAMED = 2
"""With so many seats or fewer, a match is named after those who play it."""

PlayerT = TypeVar("PlayerT")
PlayerT_contra = TypeVar("PlayerT_contra", contravariant=True)
AnswerT = TypeVar("AnswerT")


class Play(Protocol[PlayerT_contra]):
    """Plays one match: `referee.play.play`, or a stand-in."""

    def __call__(  # noqa: D102 - see the class
        self, plan: Plan, players: Sequence[PlayerT_contra], *, transcript: Path
    ) -> Awaitable[Result]: ...


class Progress(Protocol):
    """Whoever wants to know how far it is."""

    def ended(self, match: Match, result: Result) -> None:
        """A match has its result."""

    def void(self, match: Match, reason: str) -> None:
        """An attempt is void, and is made again."""


class Field(Struct, Generic[PlayerT], frozen=True, kw_only=True):
    """What all matches of a tournament have in common."""

    plan: Plan
    """For every match but for its name and seed."""
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


async def run(
    field: Field[PlayerT],
    blocks: Callable[[], Iterator[Block]],
    ledger: Ledger,
    *,
    play: Play[PlayerT],
    progress: Progress,
    concurrency: int,
    write: Write | None = None,
) -> None:
    """Plays every match of the blocks that the ledger has no result of.

    Args:
        field: what all matches have in common.
        blocks: gives the whole schedule, anew at each call.
        ledger: where results go, and what is done already.
        play: plays one match.
        progress: is told of each match that ends.
        concurrency: how many matches are played at once.
        write: makes the ledger's calls; in a thread if not given.

    Raises:
        MachineCannot: a match stayed void, or nothing more can be written. What is done is in the ledger.
    """
    finished = ledger.finished()
    left = (
        (match, len(block.matches))
        for block in blocks()
        for match in block.matches
        if (match.block, match.seating) not in finished
    )
    writing = InThread() if write is None else write

    async def work() -> None:
        for match, seatings in left:
            await _settle(field, match, seatings, ledger=ledger, write=writing, play=play, progress=progress)

    async with trio.open_nursery() as nursery:
        for _ in range(concurrency):
            nursery.start_soon(work)


async def _settle(
    field: Field[PlayerT],
    match: Match,
    seatings: int,
    *,
    ledger: Ledger,
    write: Write,
    play: Play[PlayerT],
    progress: Progress,
) -> None:
    """Plays one match until it has a result."""
    reason = ""
    for _ in range(ATTEMPTS):
        attempt = await write(partial(ledger.try_match, match, field.transcripts, _name(field, match)))
        try:
            result = await play(
                replace(field.plan, match=match.name, seed=match.seed),
                [field.players[entrant] for entrant in match.entrants],
                transcript=attempt.transcript,
            )
        except (SandboxError, TranscriptError) as error:
            # No other match would fare better.
            with trio.CancelScope(shield=True):
                await _note_void(ledger, write, attempt, str(error))
            if isinstance(error, TranscriptError):
                raise transcript_failed(error) from None
            raise MachineCannot(str(error)) from None
        except OSError as error:
            reason = f"the machine has run out of something: {error.strerror or error}"
        else:
            if result.outcome is not None:
                await write(partial(ledger.finish, match, attempt, result, seatings))
                progress.ended(match, result)
                return
            reason = result.void or "no reason given"
        await write(partial(ledger.void, attempt, reason))
        progress.void(match, reason)
    raise MachineCannot(f"{_name(field, match)}: void {ATTEMPTS} times, at last because {reason}")


async def _note_void(ledger: Ledger, write: Write, attempt: Attempt, reason: str) -> None:
    """Writes down why an attempt is void, if that can still be written: it may be the disk that is full."""
    try:
        await write(partial(ledger.void, attempt, reason))
    except MachineCannot:
        return


def _name(field: Field[PlayerT], match: Match) -> str:
    """A match's name for people, and its transcript's: no bot is told it. Many seats would make it too long."""
    number = f"{match.block + 1:05d}{'abcdefghijklmnopqrstuvwxyz'[match.seating]}"
    if len(match.entrants) > NAMED:
        return number
    return "-".join((number, *(field.names[entrant].replace("/", "_") for entrant in match.entrants)))
