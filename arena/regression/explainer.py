"""Asks the new version of a bot what the old one was asked in a regression test's matches, so many at once."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import msgspec
import trio
from rich.progress import TimeElapsedColumn, TimeRemainingColumn

from arena import event_loop
from arena.errors import WrongUse, cannot_write, errors_as_exits
from arena.quantities import counted
from arena.regression.divergence import Explained, Place, explained, places
from arena.regression.model import Regression
from arena.terminal import progress_bar, progress_console, say
from arena.tournament import DECISIONS, EXPLAINED, LEDGER, TRANSCRIPTS, Ledger, held
from referee.bot_folder import BotFolder
from referee.host import Interviewed, Plan, ask
from referee.linux.files import FOLDER_MODE, read_regular, write_bytes_whole
from referee.transcript import Differs, TranscriptError, read_transcript, verify_transcript
from referee.wire import open_wire

MOST_BYTES = 16 * 1024 * 1024
"""Of the file that says what was found."""
Ask = Callable[..., Awaitable[Interviewed]]
"""Asks head what the bot of a seat was asked in a match: of a transcript, a seat, and the file for head's log."""
OpenAsking = Callable[[], AbstractAsyncContextManager[Ask]]
"""Opens what all that is asked shares."""


def explain(
    regression: Regression, blocks: int, open_asking: OpenAsking, *, at_once: int, limit: int
) -> list[Explained]:
    """Where head would have acted otherwise than base did, match by match in schedule order.

    Args:
        regression: what was played; its results folder holds the ledger and the transcripts.
        blocks: the first so many count.
        open_asking: see `asking`.
        at_once: how many matches are asked about at once.
        limit: of base's matches, the first so many.

    Raises:
        WrongUse: a transcript is not there, or is not the one that counted.
        MachineCannot: a bot cannot be started, or something has run out.
        Stopped: a signal came.
    """
    folder = regression.arena.results
    with held(folder):
        ledger = Ledger(folder / LEDGER)
        try:
            chosen = places(ledger.results(end=blocks))[:limit]
            names = ledger.transcripts()
        finally:
            ledger.close()
        logs = folder / EXPLAINED
        try:
            logs.mkdir(FOLDER_MODE, exist_ok=True)
        except OSError as error:
            raise cannot_write(logs, error) from None
        files = [folder / TRANSCRIPTS / names[place.block, place.seating] for place in chosen]
        say(f"asking head for its decisions in {counted(len(chosen), 'match')} of base")
        run = _Run(list(zip(chosen, files, strict=True)), logs)
        event_loop.run(partial(run.ask_all, open_asking, at_once))
        with suppress(OSError):
            # Only if nothing was written.
            logs.rmdir()
        found = run.found()
        _keep(folder / DECISIONS, found)
    return found


def _keep(path: Path, found: Sequence[Explained]) -> None:
    """Writes what was found beside the results, for pages of them."""
    try:
        write_bytes_whole(path, msgspec.json.encode(found))
    except OSError as error:
        raise cannot_write(path, error) from None


def explained_in(folder: Path) -> tuple[Explained, ...]:
    """What was found when the test of a results folder was explained; nothing, where it was not.

    Raises:
        WrongUse: the file is none that the arena has written.
    """
    path = folder / DECISIONS
    try:
        return msgspec.json.decode(read_regular(path, MOST_BYTES), type=tuple[Explained, ...])
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise WrongUse(f"{path}: cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WrongUse(f"{path}: not as an arena writes it: {error}") from None


class _Run:
    """All that is asked, and how far it is."""

    def __init__(self, todo: Sequence[tuple[Place, Path]], logs: Path) -> None:
        self._todo = list(enumerate(todo))
        self._logs = logs
        self._found: dict[int, Explained] = {}
        self._bar = progress_bar(progress_console(), TimeElapsedColumn(), TimeRemainingColumn())
        self._task = self._bar.add_task("matches", total=len(todo))

    def found(self) -> list[Explained]:
        """What was found, in schedule order."""
        return [self._found[number] for number in sorted(self._found)]

    async def ask_all(self, open_asking: OpenAsking, at_once: int) -> None:
        with self._bar:
            async with open_asking() as ask, trio.open_nursery() as nursery:
                todo = iter(self._todo)
                for _ in range(min(at_once, len(self._todo))):
                    nursery.start_soon(self._keep_asking, todo, ask)

    async def _keep_asking(self, todo: Iterator[tuple[int, tuple[Place, Path]]], ask: Ask) -> None:
        for number, (place, transcript) in todo:
            self._found[number] = explained(place, await _asked(place, transcript, self._logs, ask))
            self._bar.advance(self._task)


async def _asked(place: Place, transcript: Path, logs: Path, ask: Ask) -> Interviewed:
    """Asks about one match, of whose transcript it is sure that it is the one that counted."""
    log = logs / f"{transcript.stem}.log"
    try:
        if verify_transcript(transcript).head != place.head:
            raise WrongUse(f"{transcript}: is not the transcript whose result is in the ledger")
        with errors_as_exits():
            return await ask(transcript, place.seat, log=log)
    except Differs as differs:
        raise WrongUse(f"{transcript}: {differs}") from None
    except TranscriptError as error:
        raise WrongUse(str(error)) from None
    finally:
        if log.exists() and log.stat().st_size == 0:
            log.unlink()


def asking(head: BotFolder, plan: Plan) -> OpenAsking:
    """Asks real bots: `plan` says how they are started."""

    @asynccontextmanager
    async def open_asking() -> AsyncIterator[Ask]:
        async with open_wire() as wire:

            async def of_head(transcript: Path, seat: int, *, log: Path) -> Interviewed:
                return await ask(
                    head,
                    read_transcript(transcript),
                    seat,
                    policy=plan.policy,
                    isolation=plan.isolation,
                    warm=plan.warm,
                    log=log,
                    wire=wire,
                )

            yield of_head

    return open_asking
