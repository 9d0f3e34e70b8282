"""A ladder without an end, while it is played: its blocks as they come to be known, and where it stands on disk.

What is on disk can be made again from the ledger: a copy that does not fit the ledger is left aside.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Self, TypeVar

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from arena import event_loop
from arena.config import Tournament
from arena.errors import WrongUse, cannot_write
from arena.quantities import pluralise
from arena.schedule import (
    Block,
    LadderState,
    Later,
    ScheduleSpec,
    StrangeResultError,
    Waves,
    fields_of,
    ladder_json,
)
from arena.statistics import Played, RunningRating
from arena.terminal import Screen, progress_console, say
from arena.tournament.feed_standings import AlsoFed, FedStandings
from arena.tournament.ledger import LAST, Ledger
from arena.tournament.notices import Watch
from arena.tournament.progress import LiveProgress
from arena.tournament.results_folder import LADDER, PERIODS
from arena.tournament.runner import InThread, MatchSetup, Progress, Write, play_blocks
from arena.workers import Venue
from referee.linux.files import FOLDER_MODE, for_owner, open_regular
from referee.log import SILENT, Logger

VERSION = 1
"""Of the file, and of how ratings are made."""
EVERY = 500
"""At least so many blocks lie between two copies on disk."""
MOST_BYTES = 50_000_000
"""Of the file: ten times what 5,000 bots need."""
LOOK_SECONDS = 0.5
"""So often it is looked whether the time is up and, while there is nothing to play, whether the field changed."""
MANY = 1_000_000
"""Stands for how many matches there will be."""
PlayerT = TypeVar("PlayerT")
PeriodOver = Callable[[int, tuple[RunningRating, ...]], None]


class _Copy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A ladder on disk."""

    version: int
    key: str
    """Hash of what the schedule was begun with."""
    state: LadderState


class Ladder:
    """Blocks of a ladder, one after the other: an iterator for `play_blocks`, which tells it what they came to."""

    def __init__(self, waves: Waves) -> None:
        """Goes on where the waves are."""
        self._waves = waves
        self._ready = deque(waves.pending())
        self.first = self._ready[0].number if self._ready else waves.first
        """The number of the first block."""

    @classmethod
    def opened(cls, folder: Path, ledger: Ledger, spec: ScheduleSpec, seed: int, labels: Sequence[str]) -> Self:
        """The ladder whose results are in a folder, as far as they lead.

        Raises:
            WrongUse: the ledger holds results of other matches; or the folder cannot be written.
            MachineCannot: the ledger cannot be read; or there is no space.
        """
        period_over = partial(_write_period, folder / PERIODS, labels)
        return cls(ladder_so_far(ledger, spec, seed, period_over, _Copies(folder / LADDER, _key(spec, seed)).keep))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Block | Later:
        if not self._ready:
            wave = self._waves.next()
            if wave is None:
                return Later()
            if not wave:
                raise StopIteration
            self._ready.extend(wave)
        return self._ready.popleft()

    def hear(self, results: Sequence[Played]) -> None:
        """The results of a block."""
        self._waves.hear(results)

    def why_idle(self) -> str:
        """Why there are no more blocks."""
        return self._waves.why_idle()


class _Copies:
    """Writes a copy of a ladder now and then. One that is lost is made again: it takes time, no more."""

    def __init__(self, path: Path, key: str) -> None:
        self._path, self._key = path, key
        self._kept: int | None = None
        """The first block of the latest copy's next wave."""

    def keep(self, state: LadderState) -> None:
        """Writes how a ladder stands before a wave, unless it has hardly moved since the last time."""
        self._kept = state.first if self._kept is None else self._kept
        if state.first < self._kept + EVERY:
            return
        self._kept = state.first
        try:
            _write(self._path, msgspec.json.encode(_Copy(version=VERSION, key=self._key, state=state)))
        except OSError as error:
            say(f"{self._path}: cannot be written: {error.strerror}; the next start will take longer")


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    with open(part, "wb", opener=for_owner) as file:
        file.write(content)
    part.replace(path)


def play_ladder(
    tournament: Tournament,
    field: MatchSetup[PlayerT],
    ledger: Ledger,
    seed: int,
    *,
    open_venue: Venue[PlayerT],
    time_is_up: Callable[[], bool],
    fed: FedStandings | None = None,
    watch: Watch | None = None,
    beside: Callable[[Write], Awaitable[None]] | None = None,
    screen: Screen | None = None,
    log: Logger = SILENT,
) -> bool:
    """Plays until the time is up, or a change waits in the ledger to be taken in; whether the time is up.

    `beside` runs while it is played; `screen`: where people are told how far it is, if not given one of its own.

    Raises:
        WrongUse: the ledger holds results of other matches; or the folder cannot be written.
        MachineCannot: it cannot go on now.
        Stopped: a signal came.
    """
    ladder = Ladder.opened(tournament.results, ledger, tournament.spec, seed, tournament.labels)
    if stopped := ledger.give_up_unfinished():
        say(f"continuing; {pluralise(stopped, 'match')} had been interrupted")
    done = ledger.counting()
    say(f"a ladder without an end, {pluralise(done, 'match')} played before, isolation {field.plan.isolation}")

    async def stop_in_time(cancel: trio.CancelScope) -> None:
        while not time_is_up():  # noqa: ASYNC110 - nobody can tell us
            await trio.sleep(LOOK_SECONDS)
        cancel.cancel()

    async def play_all() -> None:
        write = InThread()
        followed: Progress = progress if fed is None else AlsoFed(progress, fed)
        if watch is not None:
            followed = watch.beside(followed, tournament.labels)
        async with trio.open_nursery() as nursery:
            idle = trio.CancelScope()
            nursery.start_soon(stop_in_time, idle)
            async with open_venue(MANY) as workers:
                if fed is not None:
                    nursery.start_soon(fed.keep, ledger, write, ladder.first)
                if beside is not None:
                    nursery.start_soon(beside, write)
                await play_blocks(
                    field,
                    lambda: ladder,
                    ledger,
                    first=ladder.first,
                    hear=ladder.hear,
                    workers=workers,
                    progress=followed,
                    write=write,
                    log=log,
                    change_at=tournament.schedule.change_at,
                    time_is_up=time_is_up,
                    settle="last",
                    tell_aside=progress.say if watch is None else watch.telling_aside(progress.say),
                )
            with idle:
                if not (time_is_up() or await write(ledger.waiting)):
                    say(f"no match would improve a rating now: {ladder.why_idle()}; waiting for bots to enter")
                while not await write(ledger.waiting):  # noqa: ASYNC110 - another process writes it
                    await trio.sleep(LOOK_SECONDS)
            nursery.cancel_scope.cancel()

    with LiveProgress(progress_console() if screen is None else screen, done, None) as progress:
        event_loop.run(play_all)
    return time_is_up()


def blocks_played(results: Iterable[Played]) -> Iterator[Block]:
    """The blocks of results in schedule order, but for their seeds."""
    for number, matches in groupby(results, key=attrgetter("block")):
        seats = [match.entrants for match in matches]
        yield Block(number, 0, seats[0], tuple([seats[0].index(each[0]) for each in seats]), 0)


def ladder_so_far(
    ledger: Ledger,
    spec: ScheduleSpec,
    seed: int,
    period_over: PeriodOver | None = None,
    before_wave: Callable[[LadderState], None] | None = None,
    *,
    end: int = LAST,
) -> Waves:
    """A ladder as far as the results of the blocks before `end` lead; not all results are read at once.

    Raises:
        WrongUse: the ledger holds results of other matches.
        MachineCannot: it cannot be read.
    """
    waves = Waves(spec, seed, _kept_state(ledger, spec, seed), period_over)
    waves.before_wave = before_wave
    try:
        waves.replay(lambda first, last: ledger.results(first, min(last, end)))
    except StrangeResultError as error:
        raise WrongUse(f"{ledger.path}: {error}") from None
    return waves


def _key(spec: ScheduleSpec, seed: int) -> str:
    return sha256(msgspec.json.encode([seed, replace(spec, changes=())])).hexdigest()


def _kept_state(ledger: Ledger, spec: ScheduleSpec, seed: int) -> LadderState | None:
    """Where the copy beside a ledger begins; None: there is none that fits."""
    try:
        with open_regular(ledger.path.with_name(LADDER)) as file:
            text = file.read(MOST_BYTES + 1)
        found = msgspec.json.decode(text, type=_Copy)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    state = found.state
    if (found.version, found.key) != (VERSION, _key(spec, seed)) or not state.fits(spec.numbers, spec.seats):
        return None
    fields = fields_of(spec)
    begun, later = fields[: state.fields], fields[state.fields :]
    if state.fields > len(fields) or not (
        all(each.first < state.first for each in begun) and all(each.first >= state.first for each in later)
    ):
        return None
    # A power cut may have taken the ledger's last lines, and what was played again is not what was lost.
    last = ledger.results(state.rated - 1, state.rated) if state.rated else []
    if ledger.counting(state.rated) != state.matches or (last[-1].head if last else "") != state.head:
        return None
    return state


def _write_period(folder: Path, labels: Sequence[str], period: int, ratings: tuple[RunningRating, ...]) -> None:
    """How a ladder stands at the end of a period. Written again when its results are read again."""
    path = folder / f"{period}.json"
    content = {"period": period, "ladder": ladder_json(labels[: len(ratings)], ratings)}
    try:
        folder.mkdir(FOLDER_MODE, exist_ok=True)
        _write(path, msgspec.json.encode(content) + b"\n")
    except OSError as error:
        raise cannot_write(path, error) from None
