"""An endless ladder while it is played: its blocks as they are chosen, and copies of its state on disk.

A copy can be made again from the ledger. One that does not fit the ledger is ignored.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.errors import WrongUse, cannot_write
from arena.schedule import (
    Block,
    EndlessLadderState,
    LadderState,
    NotYetScheduled,
    ScheduleSpec,
    StrangeResultError,
    fields_of,
    ladder_json,
)
from arena.statistics import CountedMatch, RunningRating
from arena.terminal import say
from arena.tournament.ledger import LAST, Ledger
from arena.tournament.results_folder import LADDER, PERIODS
from referee.linux.files import FOLDER_MODE, for_owner, open_regular

VERSION = 1
"""Version of the copy's form and of the way in which ratings are computed."""
EVERY = 500
"""Least number of blocks between two copies on disk."""
MOST_BYTES = 50_000_000
"""Most bytes of a copy: ten times the size for 5,000 bots."""
PeriodOver = Callable[[int, tuple[RunningRating, ...]], None]


class _Copy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The state of a ladder on disk."""

    version: int
    key: str
    """Hash of the terms with which the schedule was begun."""
    state: LadderState


class LadderBlocks:
    """An iterator over the blocks of a ladder, which `BlockRunner` informs of their results."""

    def __init__(self, waves: EndlessLadderState) -> None:
        """Continue after these waves."""
        self._waves = waves
        self._ready = deque(waves.pending())
        self.first = self._ready[0].number if self._ready else waves.first
        """The number of the first block."""

    @classmethod
    def opened(cls, folder: Path, ledger: Ledger, spec: ScheduleSpec, seed: int, labels: Sequence[str]) -> Self:
        """Return the ladder of a results folder, after the results in its ledger.

        Raises:
            WrongUse: the ledger holds results of other matches, or the folder cannot be written.
            MachineCannot: the ledger cannot be read, or there is no space.
        """
        period_over = partial(_write_period, folder / PERIODS, labels)
        return cls(ladder_so_far(ledger, spec, seed, period_over, _Copies(folder / LADDER, _key(spec, seed)).keep))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Block | NotYetScheduled:
        if not self._ready:
            wave = self._waves.next()
            if wave is None:
                return NotYetScheduled()
            if not wave:
                raise StopIteration
            self._ready.extend(wave)
        return self._ready.popleft()

    def observe(self, results: Sequence[CountedMatch]) -> None:
        """Observe the results of a block."""
        self._waves.hear(results)

    def why_idle(self) -> str:
        """Return the reason why there are no more blocks."""
        return self._waves.why_idle()


class _Copies:
    """Writes copies of a ladder now and then. A lost one is made again, which only takes time."""

    def __init__(self, path: Path, key: str) -> None:
        self._path, self._key = path, key
        self._kept: int | None = None
        """First block of the wave after the latest copy."""

    def keep(self, state: LadderState) -> None:
        """Write the state before a wave, if `EVERY` blocks were played since the latest copy."""
        if self._kept is None:
            self._kept = state.first
        if state.first < self._kept + EVERY:
            return
        self._kept = state.first
        try:
            _write(self._path, msgspec.json.encode(_Copy(version=VERSION, key=self._key, state=state)))
        except OSError as error:
            say(f"{self._path}: cannot be written: {error.strerror}; the next start will take longer")


def _write(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    with open(part, "wb", opener=for_owner) as file:
        file.write(content)
    part.replace(path)


def blocks_played(results: Iterable[CountedMatch]) -> Iterator[Block]:
    """Yield the blocks of results in schedule order, without their seeds."""
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
) -> EndlessLadderState:
    """Return a ladder after the results of the blocks before `end`. The results are read part by part.

    Raises:
        WrongUse: the ledger holds results of other matches.
        MachineCannot: it cannot be read.
    """
    waves = EndlessLadderState(spec, seed, _kept_state(ledger, spec, seed), period_over)
    waves.before_wave = before_wave
    try:
        waves.replay(lambda first, last: ledger.results(first, min(last, end)))
    except StrangeResultError as error:
        raise WrongUse(f"{ledger.path}: {error}") from None
    return waves


def _key(spec: ScheduleSpec, seed: int) -> str:
    return sha256(msgspec.json.encode([seed, replace(spec, changes=())])).hexdigest()


def _kept_state(ledger: Ledger, spec: ScheduleSpec, seed: int) -> LadderState | None:
    """Return the state in the copy beside a ledger; None if there is none that fits the ledger."""
    try:
        with open_regular(ledger.path.with_name(LADDER)) as file:
            text = file.read(MOST_BYTES + 1)
        found = msgspec.json.decode(text, type=_Copy)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    state = found.state
    if (found.version, found.key) != (VERSION, _key(spec, seed)) or not state.fits(spec.numbers, spec.seats):
        return None
    if bisect_left(fields_of(spec), state.first, key=attrgetter("first")) != state.fields:
        return None
    # A power cut may have removed the ledger's last lines, and other results may have been played since.
    heads = [""]
    if state.rated:
        heads += map(attrgetter("head"), ledger.results(state.rated - 1, state.rated))
    if (ledger.matches(state.rated), heads[-1]) != (state.matches, state.head):
        return None
    return state


def _write_period(folder: Path, labels: Sequence[str], period: int, ratings: tuple[RunningRating, ...]) -> None:
    """Write the ratings at the end of a period. This is repeated when the results are read again."""
    path = folder / f"{period}.json"
    content = {"period": period, "ladder": ladder_json(labels[: len(ratings)], ratings)}
    try:
        folder.mkdir(FOLDER_MODE, exist_ok=True)
        _write(path, msgspec.json.encode(content) + b"\n")
    except OSError as error:
        raise cannot_write(path, error) from None
