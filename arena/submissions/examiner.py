"""Examines a submission: unpacks it, builds it in the sandbox, starts it five times, and plays a match with it.

A start is part of a short match under the competition's terms. A start that the machine delayed is void and is
repeated: the referee has the evidence. The first of the matches is the check match.
"""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from arena.checks import Trial, TrialSummary, never_started, order, play_trials, players_at, summarise_trials
from arena.config import ServerTerms, Tournament, random_bot
from arena.errors import MachineCannot, WrongUse, writing
from arena.submissions.entering import bot_in
from arena.submissions.submission import MOST_LOG_BYTES
from arena.submissions.verdict import Margin, MatchSummary, Step, StepName, margins_of
from arena.workers import BUILD_LOG, LOCAL, Placement, PoolSetup, WorkerPool, build_at, workers_kept
from protocol.codec import Refused, decode_untrusted
from referee.bot_folder import MEGABYTE, BotFolder, cache_folder, discard_copy, find_bot
from referee.games import GAMES
from referee.host import SandboxedBot
from referee.linux.files import FOLDER_MODE, open_regular, write_bytes_whole
from referee.linux.processes import MICROSECONDS, children_cpu_seconds
from referee.match import clock_terms
from referee.sandbox import Isolation, discard_build

STARTS = 5
FAILURES = 2
"""Number of failed starts of which a bot is refused."""
MOST_VOID = 5
"""Maximum number of starts that the machine delayed; with more it is too busy to judge."""
MATCH_SECONDS, START_SECONDS = 30.0, 5.0
"""Maximum seconds of the check match and of the other matches, in addition to the start-up time."""
RESERVE_MB = 500
"""Megabytes of the disk that stay free when an archive is unpacked or a bot is built, for matches that count."""
MOST_LOGS = 16
WAIT_SECONDS = 60.0
"""Seconds that a match may wait on a cluster, whose slots the competition's own matches use, too."""
MILLISECONDS = 1_000


class Unfit(Exception):  # noqa: N818 - a verdict, not a fault
    """A bot does not pass, by its own doing. The text is the reason, for its author."""

    def __init__(self, text: str, found: "Findings | None" = None) -> None:
        super().__init__(text)
        self.found = found


class Findings(Struct, kw_only=True):
    """What was found out about a submission so far."""

    steps: list[Step] = []
    warnings: list[str] = []
    margins: tuple[Margin, ...] = ()
    match: MatchSummary | None = None
    content: str = ""
    """Content hash of the bot that was unpacked, also if it may not play; empty: none was."""
    cpu_seconds: float = 0.0
    """Processor time of all steps, which is charged to the team."""


class Examiner(Protocol):
    """The steps of an examination, on this machine or in a test."""

    def unpack(self, tournament: Tournament, archive: Path, label: str, found: Findings) -> BotFolder:
        """Return the bot in an archive.

        Raises:
            Unfit: it may not play in this tournament.
        """

    def build(self, tournament: Tournament, bot: BotFolder, logs: Path, found: Findings) -> None:
        """Build a bot.

        Raises:
            Unfit: its build failed.
        """

    def start(self, tournament: Tournament, bot: BotFolder, label: str, logs: Path, found: Findings) -> None:
        """Start a bot `STARTS` times, and play a match with it.

        Raises:
            Unfit: it failed to start.
        """

    def discard(self, content: str) -> None:
        """Remove what the steps have made of a bot's content, which does not pass and is used by no other bot."""


class MachineExaminer:
    """Examines on this machine; matches may be played on a cluster."""

    def __init__(
        self, where: Placement, scratch: Path, terms: ServerTerms, *, reserve_mb: int = RESERVE_MB
    ) -> None:
        """Create an examiner.

        Args:
            where: place of the matches.
            scratch: folder for temporary files, which nobody else uses; what is in it is removed.
            terms: the terms of the competition's server.
            reserve_mb: megabytes of the disk that stay free, for matches that count.

        Raises:
            WrongUse: the folder cannot be written.
            MachineCannot: there is no space.
        """
        self._where = replace(where, transcripts=None)
        if where.on == LOCAL:
            self._where = replace(self._where, concurrency=1, workers=1)
        self._scratch = scratch
        self._terms = terms
        self._reserve_mb = reserve_mb
        self._built: tuple[BotFolder, Isolation] | None = None
        """The bot that was built last, and the level of its build."""
        with writing(scratch):
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(FOLDER_MODE, parents=True)

    def unpack(self, tournament: Tournament, archive: Path, label: str, found: Findings) -> BotFolder:
        """See `Examiner`."""
        with _step("unpack", found):
            try:
                bot = bot_in(
                    tournament,
                    archive,
                    label,
                    inside=self._scratch,
                    most_mb=self._terms.unpacked_mb,
                    reserve_mb=self._reserve_mb,
                    unfit=partial(setattr, found, "content"),
                )
            except WrongUse as error:
                raise Unfit(_as_told(error.format_message(), label)) from None
        assert isinstance(bot, BotFolder)  # noqa: S101 - an archive names no key
        found.content = bot.content
        return replace(bot, given=label)

    def build(self, tournament: Tournament, bot: BotFolder, logs: Path, found: Findings) -> None:
        """See `Examiner`."""
        if not bot.build:
            return
        if not self._is_away:
            self._check_room(bot.build_limits.scratch_mb)
        self._built = (bot, tournament.form.isolation)
        with _step("build", found) as spent:
            report = build_at(self._where, bot, tournament.form.isolation)
            if self._is_away:
                spent.cpu_seconds += report.cpu_seconds
        if report.log:
            _write_log(logs / BUILD_LOG, report.log)
        if report.complaint:
            raise Unfit(report.complaint)
        if report.cpu_seconds > self._terms.build_seconds:
            used = f"{report.cpu_seconds:.0f} s of processor time"
            raise Unfit(f"build: used {used}; {self._terms.build_seconds} s are the most here")

    @property
    def _is_away(self) -> bool:
        """True if builds and matches are done on a cluster."""
        return self._where.on != LOCAL

    def discard(self, content: str) -> None:
        """See `Examiner`. Other machines of a cluster keep what they have."""
        discard_copy(content)
        if self._built is not None and self._built[0].content == content:
            discard_build(*self._built)

    def _check_room(self, megabytes: int) -> None:
        """Check that the reserve stays free on the disk of the cache, beside what a step may write there.

        Raises:
            MachineCannot: it does not.
        """
        needed = self._reserve_mb + megabytes
        if shutil.disk_usage(cache_folder()).free < needed * MEGABYTE:
            raise MachineCannot(f"{cache_folder()}: less than {needed} MB are free")

    def start(self, tournament: Tournament, bot: BotFolder, label: str, logs: Path, found: Findings) -> None:
        """See `Examiner`."""
        opponent = find_bot(random_bot(tournament.form.game))
        setup = PoolSetup(
            where=self._where, isolation=tournament.form.isolation, seats=tournament.seats, at_once=1
        )
        folder = self._scratch / "starts"
        with _step("starts", found) as spent, workers_kept():
            shutil.rmtree(folder, ignore_errors=True)
            (own, other), pool = setup.pool_for((bot, opponent))
            assert isinstance(own, SandboxedBot)  # noqa: S101 - neither has a key
            assert isinstance(other, SandboxedBot)  # noqa: S101
            wait_seconds = WAIT_SECONDS if self._is_away else 0.0
            starts = _Starts(tournament, label, (own, other), pool, folder, wait_seconds=wait_seconds)
            try:
                starts.play()
            finally:
                if self._is_away:
                    spent.cpu_seconds += starts.cpu_seconds
                starts.keep_logs(logs)
                shutil.rmtree(folder, ignore_errors=True)
        starts.report(bot, found)


class _Starts:
    """The starts of a bot."""

    def __init__(
        self,
        tournament: Tournament,
        label: str,
        players: tuple[SandboxedBot, SandboxedBot],
        pool: WorkerPool[Any],
        folder: Path,
        *,
        wait_seconds: float,
    ) -> None:
        """Prepare starts; `players` are the bot and its opponent."""
        self._wait_seconds = wait_seconds
        self._tournament = tournament
        self._label = label
        self._own, self._other = players
        self._pool = pool
        self._folder = folder
        self._number = 0
        self._voids: list[str] = []
        self.good: list[Trial] = []
        self.hellos_us: list[int] = []
        self.failed: list[Trial] = []

    def play(self) -> None:
        """Start the bot until it has started often enough, or has failed too often.

        Raises:
            MachineCannot: the machine is too busy, or lacks something.
        """
        while len(self.good) < STARTS and len(self.failed) < FAILURES:
            # First one alone: a bot that never starts costs the whole start-up time.
            count = STARTS - len(self.good) if self.good else 1
            for name, trial in self._play(count):
                self._sort(name, trial)
            if len(self._voids) > MOST_VOID:
                raise MachineCannot(f"{len(self._voids)} starts were void: {self._voids[-1]}")

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all seats of all starts, as the referee counted it."""
        results = [trial.result for trial in (*self.good, *self.failed) if trial.result is not None]
        return sum(report.cpu_us or 0 for result in results for report in result.reports) / MICROSECONDS

    def keep_logs(self, logs: Path) -> None:
        """Keep what the bot printed in each start."""
        for number in range(1, min(self._number, MOST_LOGS) + 1):
            seat = (number - 1) % self._tournament.seats
            _keep_log(self._folder / f"start-{number}.seat-{seat}.log", logs / f"start-{number}.log")

    def report(self, bot: BotFolder, found: Findings) -> None:
        """Add what was found to the findings.

        Raises:
            Unfit: the bot failed to start.
        """
        tournament = self._tournament
        reports = [trial.result.report(trial.seat) for trial in self.good if trial.result is not None]
        policy, clock = tournament.form.policy, tournament.form.clock
        terms = clock_terms(GAMES[tournament.form.game], tournament.variant, policy, clock)
        found.margins = margins_of(
            reports,
            self.hellos_us,
            bot.limits,
            startup_ms=policy.startup_ms,
            reply_ms=min((time for time in terms.main_ms.values() if time), default=0),
        )
        if self.good:
            check = summarise_trials(self.good[:1])
            found.match = _match(self.good[0], check, random_bot(tournament.form.game))
            found.warnings += [f"check match: {text}" for text in check.said]
        found.warnings += [each.text for each in found.margins if each.warning]
        if self.failed:
            number = len(self.good) + len(self.failed)
            why = never_started(summarise_trials(self.failed))
            text = f"{len(self.failed)} of {number} starts failed: {why}"
            if len(self.failed) >= FAILURES:
                raise Unfit(why if not self.good else text)
            found.warnings.append(text)

    def _play(self, count: int) -> Iterator[tuple[str, Trial]]:
        """Play matches one after the other; yield each with its name."""
        tournament = self._tournament
        policy = replace(
            tournament.form.policy, fault="forfeit", unfair="void", pacing="prompt", processes="fresh"
        )
        plan = replace(tournament.plan(), policy=policy)
        orders = []
        for _ in range(count):
            seconds = START_SECONDS if self._number else MATCH_SECONDS
            seat = self._number % tournament.seats
            self._number += 1
            orders.append(
                order(
                    f"start-{self._number}",
                    plan,
                    players_at(seat, self._own, self._other, tournament.seats),
                    seat,
                    label=self._label,
                    seconds=policy.startup_ms / MILLISECONDS + seconds + self._wait_seconds,
                )
            )
        trials = play_trials(orders, self._pool, self._folder, words=f"starting {self._label}")
        for each, trial in zip(orders, trials, strict=True):
            yield each.name, trial

    def _sort(self, name: str, trial: Trial) -> None:
        """Count a start as good, failed or void."""
        result = trial.result
        hello_us = None if result is None else result.report(trial.seat).hello_us
        if result is None:
            # The match was stopped, as that of a bot that thinks long; its transcript has the start.
            hello_us = hello_in(self._folder / f"{name}.jsonl", trial.seat)
        if hello_us is not None and not trial.is_void:
            self.good.append(trial)
            self.hellos_us.append(hello_us)
        elif result is None or (trial.is_void and not _stalls_itself(trial)):
            self._voids.append(trial.trouble)
        else:
            self.failed.append(trial)


class _Line(Struct):
    """The parts of a transcript's line that tell of a start."""

    kind: str = ""
    at: int = 0
    seat: int | None = None
    frame: Any = None


def hello_in(transcript: Path, seat: int) -> int | None:
    """Return the microseconds until a seat's bot was welcomed, from a transcript that may be cut off; or None."""
    with suppress(OSError, Refused), open_regular(transcript) as file:
        for line in file:
            found = decode_untrusted(line, _Line)
            is_welcome = isinstance(found.frame, dict) and found.frame.get("type") == "welcome"
            if found.kind == "out" and found.seat == seat and is_welcome:
                return found.at
    return None


def _stalls_itself(trial: Trial) -> bool:
    """Return whether a match is void because of a window, which the bot had after it had started."""
    held_up = None if trial.result is None else trial.result.held_up
    return held_up is not None and held_up.seat == trial.seat and held_up.window is not None


def _match(trial: Trial, check: TrialSummary, opponent: str) -> MatchSummary:
    conduct = "stopped"
    if trial.result is not None:
        conduct = trial.result.conduct[trial.seat].value
    return MatchSummary(
        opponent=opponent,
        seat=trial.seat,
        points=check.mean_points,
        conduct=conduct,
        said=tuple(check.said),
    )


class _Spent(Struct):
    """What a step took on other machines."""

    cpu_seconds: float = 0.0


@contextmanager
def _step(name: StepName, found: Findings) -> Iterator[_Spent]:
    """Add a step to the findings, with the times of the block and of the processes that ended in it."""
    began, cpu = time.monotonic(), children_cpu_seconds()
    spent = _Spent()
    try:
        yield spent
    finally:
        used = children_cpu_seconds() - cpu + spent.cpu_seconds
        found.cpu_seconds += used
        found.steps.append(Step(name, round(time.monotonic() - began, 2), round(used, 2)))


def _as_told(text: str, label: str) -> str:
    """Return a reason without the label in front of it, which its author knows."""
    return text.removeprefix(f"{label}: ").removeprefix(f"{label}/")


def _keep_log(source: Path, target: Path) -> None:
    """Copy a log, at most `MOST_LOG_BYTES` of it."""
    with suppress(FileNotFoundError), open_regular(source, follow=False) as file:
        _write_log(target, file.read(MOST_LOG_BYTES))


def _write_log(target: Path, content: bytes) -> None:
    with writing(target):
        target.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        write_bytes_whole(target, content, 0o600)
