"""The judge: a process that takes submissions from the queue, examines them, and enters them into the ledger.

It may be killed at any moment. All that it has decided is in the database or in the ledger, and what was under way
is begun again by the next judge; a lock lets there be one at a time. Whatever the arena fails at is tried again,
and is never a team's fault.
"""

import fcntl
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

import click
import msgspec
from msgspec import Struct, structs

from arena.errors import MachineCannot, Stopped, WrongUse, cannot_write, reason_of
from arena.processes import show_life
from arena.quantities import pluralise
from arena.schedule import Entered, entered
from arena.submissions.competition import Competition, NoMore, NotYet, OpenPart, Part
from arena.submissions.entering import OpenField, open_field
from arena.submissions.examiner import Examiner, Findings, Unfit
from arena.submissions.jobs import TOLD_AFTER, Job, about
from arena.submissions.records import LATE_SECONDS, Submissions
from arena.submissions.scrimmages import ScrimmagePlayer
from arena.submissions.submission import State, Submission
from arena.submissions.verdict import Verdict
from arena.terminal import say
from arena.tournament import (
    LEDGER,
    FieldState,
    Ledger,
    Notify,
    copy_of_entry,
    load_start_terms,
    no_notices,
    notice_of,
)
from arena.workers import cores
from referee.bot_folder import BotFolder
from referee.display_text import printable
from referee.linux.files import FOLDER_MODE, MODE

LOCK = "judge.lock"
IDLE_SECONDS = 2.0
"""Seconds between two looks at an empty queue."""
CHECKED: tuple[State, ...] = ("checked",)
MOST_WAITING = 5_000
HOUSEKEEPING_SECONDS = 600.0
"""Seconds between two removals of old uploads, logs and transcripts."""
BUSY = 2
"""Load per core above which a match of a scrimmage is begun every `BUSY_SECONDS` only."""
BUSY_SECONDS = 60.0
SAME = "this is what plays already: the archive has the same content as the version that competes now"
DIED = "the judge's process ended before it was done"


def is_busy() -> bool:
    """Return whether this machine has too much to do for matches that do not count."""
    return os.getloadavg()[0] > BUSY * cores()


class EntryMark(Struct, frozen=True):
    """Recorded before a submission is written into a ledger, to find it there after a crash."""

    folder: str
    """Name of the tournament's results folder."""
    after: int
    """Id of the ledger's last event before; 0: there was none."""


@contextmanager
def judge_lock(server: Path) -> Iterator[str]:
    """Lock a server's folder for the one judge; yield the name of this process as a holder of jobs.

    Raises:
        WrongUse: another judge is at work, or the folder cannot be written.
        MachineCannot: there is no space.
    """
    with server_lock(server, LOCK, "judge"):
        yield f"process {os.getpid()}"


@contextmanager
def server_lock(server: Path, name: str, holder: str) -> Iterator[None]:
    """Lock a file in a server's folder, which is made if it is missing, for the one process of a kind.

    Raises:
        WrongUse: another such process is at work, or the folder cannot be written.
        MachineCannot: there is no space.
    """
    try:
        server.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        lock = os.open(server / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, MODE)
    except OSError as error:
        raise cannot_write(server, error) from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WrongUse(f"{server}: another {holder} is at work there now") from None
        yield
    finally:
        os.close(lock)


class Judge:
    """Does the jobs of a competition, one after the other."""

    def __init__(
        self,
        competition: Callable[[], Competition],
        submissions: Submissions,
        examiner: Examiner,
        scrimmages: ScrimmagePlayer,
        *,
        holder: str,
        tell: Callable[[str], None] = say,
        notify: Notify = no_notices,
    ) -> None:
        """Create a judge.

        Args:
            competition: returns the competition as its file says now.
            submissions: the submissions.
            examiner: examines bots.
            scrimmages: plays matches that teams ask for.
            holder: name of this process.
            tell: shows a line to the host.
            notify: sends notices to the host.
        """
        self._read = competition
        self._submissions = submissions
        self._examiner = examiner
        self._scrimmages = scrimmages
        self._holder = holder
        self._tell = tell
        self._notify = notify
        self._practised = time.monotonic()
        """Time at which the last match of a scrimmage ended, or this judge began."""
        self._failed_entries = Counter[int]()
        """Number of failed attempts to enter each submission that passed."""

    def run(self, *, once: bool) -> None:
        """Work until a signal ends the process; with `once`, until the queue is empty.

        Raises:
            Stopped: a signal arrived.
        """
        cleaned = -HOUSEKEEPING_SECONDS
        while True:
            show_life()
            try:
                if time.monotonic() - cleaned >= HOUSEKEEPING_SECONDS:
                    self._submissions.remove_old()
                    self._scrimmages.remove_old()
                    cleaned = time.monotonic()
                if self.work():
                    continue
            except (MachineCannot, OSError) as error:
                # The disk is full, perhaps. The job that was under way is found by the next round.
                self._tell(f"judge: {printable(str(error))}")
            if once:
                return
            time.sleep(IDLE_SECONDS)

    def work(self) -> bool:
        """Do the next job, and enter what waits; return whether there was a job.

        Raises:
            MachineCannot: the database cannot be written.
            Stopped: a signal arrived.
        """
        self._give_up_dead()
        self._enter_waiting()
        for late in self._submissions.report_late():
            self._send_notice(late, f"no verdict for {about(LATE_SECONDS)}: see the host's page")
            self._tell(f"{late.bot}: no verdict for {about(LATE_SECONDS)}: see the host's page")
        job = self._submissions.jobs.take(self._holder, scrimmages=self._has_room())
        if job is None:
            return False
        if job.kind == "scrimmage":
            self._scrimmages.play(job)
            self._practised = time.monotonic()
            return True
        found = self._submissions.by_id(job.subject)
        if found is not None:
            self._submissions.note_start(found.id, job.attempts)
            self._attempt(found, job)
        return True

    def _has_room(self) -> bool:
        """Return whether the machine has room for a match that does not count.

        Bots with many threads make any load, and must not keep all teams from practice.
        """
        if not is_busy():
            return True
        return time.monotonic() - self._practised >= BUSY_SECONDS

    def _give_up_dead(self) -> None:
        """Let the jobs that a judge had when it ended be tried again. No job of this one is under way."""
        for job in self._submissions.jobs.held():
            if job.kind == "scrimmage":
                self._scrimmages.give_up(job, DIED)
            else:
                self._submissions.fail(job.subject, DIED)

    def _attempt(self, found: Submission, job: Job) -> None:
        """Judge a submission once."""
        findings = Findings()
        with self._ending_early(found, findings, job):
            self._judge(found, findings)

    @contextmanager
    def _ending_early(self, found: Submission, findings: Findings | None, job: Job | None) -> Iterator[None]:
        """Record why a submission was not judged to its end; without findings, why it was not entered."""
        try:
            yield
        except Unfit as error:
            self._refuse(found, str(error), findings)
        except (KeyboardInterrupt, Stopped):
            if job is not None:
                self._submissions.put_back(job)
            raise
        except Exception as error:  # noqa: BLE001 - every failure of the arena's own is tried again
            self._fail(found, error, findings)

    def _refuse(self, found: Submission, reason: str, findings: Findings | None) -> None:
        columns = {}
        if findings is not None:
            columns["verdict"] = _json(self._verdict(found, findings, passed=False, reason=reason))
        elif found.verdict is not None:
            columns["verdict"] = _json(structs.replace(found.verdict, passed=False, reason=reason))
        cpu_ms = _milliseconds(findings)
        if self._submissions.advance(found.id, "refused", reason, cpu_ms=cpu_ms, ends=True, **columns):
            self._tell(f"{found.bot}: refused: {printable(reason)}")

    def _fail(self, found: Submission, error: Exception, findings: Findings | None) -> None:
        reason = reason_of(error)
        why = printable(reason.format_message() if isinstance(reason, click.ClickException) else repr(reason))
        if findings is None:
            self._fail_to_enter(found, why)
            return
        told = self._submissions.fail(found.id, why, cpu_ms=_milliseconds(findings))
        again = ""
        if told:
            again = "; it has failed often: see the host's page"
            attempts = pluralise(found.attempts, "attempt")
            self._send_notice(found, f"not judged in {attempts}: see the host's page", count=found.attempts)
        self._tell(f"{found.bot}: not judged, and tried again: {why}{again}")

    def _fail_to_enter(self, found: Submission, why: str) -> None:
        """Tell the host that a submission could not be entered, at the first and at a later failure."""
        self._failed_entries[found.id] += 1
        if self._failed_entries[found.id] in {1, TOLD_AFTER}:
            self._tell(f"{found.bot}: not entered, and tried again: {why}")
        if self._failed_entries[found.id] == TOLD_AFTER:
            self._submissions.tell_host(found, f"it could not be entered: {why}")
            self._send_notice(found, "passed, and could not be entered: see the host's page", count=TOLD_AFTER)

    def _send_notice(self, found: Submission, text: str, count: int | None = None) -> None:
        """Send a notice without the reason, which may name files of this machine."""
        name = self._submissions.competition
        self._notify(notice_of("judging", name, f"{found.bot}: {text}", bot=printable(found.bot), count=count))

    def _judge(self, found: Submission, findings: Findings) -> None:
        """Examine a submission, and enter it if a tournament takes it.

        Raises:
            Unfit: it does not pass.
        """
        competition = self._read()
        logs = competition.logs / found.public
        shutil.rmtree(logs, ignore_errors=True)
        part = competition.part_for(found.bot)
        if isinstance(part, NoMore):
            raise Unfit(part.text)
        try:
            if self._examine(found, findings, competition, part, logs):
                return
        except Unfit:
            self._discard(competition, findings.content)
            raise
        self._discard(competition, findings.content)

    def _discard(self, competition: Competition, content: str) -> None:
        """Remove what was made of a bot that does not pass: else a team could fill the disk with such bots."""
        waiting = {each.content for each in self._submissions.all(states=CHECKED, count=MOST_WAITING)}
        if content and content not in waiting | competition.contents():
            self._examiner.discard(content)

    def _examine(
        self, found: Submission, findings: Findings, competition: Competition, part: Part, logs: Path
    ) -> bool:
        """Unpack, build and start a bot; return False if the submission was withdrawn meanwhile.

        Raises:
            Unfit: it does not pass.
        """
        tournament = competition.tournament(part)
        archive = self._submissions.store.checked(found.upload)
        bot = self._examiner.unpack(tournament, archive, found.bot, findings)
        if competition.competitors().get(found.bot) == bot.content and not self._submissions.entry(found.id):
            raise Unfit(SAME)
        text = f"unpacked: {printable(bot.name)} {printable(bot.version)}"
        if not self._advance(found, "unpacked", text, findings, content=bot.content):
            return False
        self._examiner.build(tournament, bot, logs, findings)
        text = "built" if bot.build else "there is nothing to build"
        if not self._advance(found, "built", text, findings):
            return False
        self._examiner.start(tournament, bot, found.bot, logs, findings)
        verdict = self._verdict(found, findings, passed=True)
        text = "; ".join(["passed", *verdict.warnings])
        if isinstance(part, NotYet):
            text = f"{text}; it enters later: {part.text}"
        # The next round enters it: whatever happens there, the examination is over.
        return self._advance(found, "checked", text, findings, ends=True, verdict=_json(verdict))

    def _advance(
        self, found: Submission, state: State, text: str, findings: Findings, *, ends: bool = False, **columns: str
    ) -> bool:
        """Write the next state, and charge the processor time so far; False if the submission is over."""
        cpu_ms = _milliseconds(findings)
        done = self._submissions.advance(found.id, state, text, cpu_ms=cpu_ms, ends=ends, **columns)
        findings.cpu_seconds = 0.0
        return done

    def _verdict(self, found: Submission, findings: Findings, *, passed: bool, reason: str = "") -> Verdict:
        return Verdict(
            passed=passed,
            reason=reason,
            warnings=tuple(findings.warnings),
            steps=tuple(findings.steps),
            margins=findings.margins,
            match=findings.match,
            logs=tuple(self._submissions.log_names(found)),
        )

    def _enter_waiting(self) -> None:
        """Enter the submissions that passed while no tournament took them. Of a team's, the newest one enters."""
        waiting = self._submissions.all(states=CHECKED, count=MOST_WAITING)
        newest: dict[int, Submission] = {}
        for found in waiting:
            newest.setdefault(found.team, found)
        for found in reversed(waiting):
            plays = self._submissions.playing(found.team)
            is_old = newest[found.team].id != found.id or (plays is not None and plays.id > found.id)
            if is_old and self._submissions.entry(found.id) is None:
                self._submissions.advance(found.id, "withdrawn", "a later version of yours takes its place")
                continue
            with self._ending_early(found, None, None):
                self._enter(found, self._read())

    def _enter(self, found: Submission, competition: Competition) -> None:
        """Enter a submission that passed, exactly once, if a tournament takes it now.

        Raises:
            Unfit: no tournament will take it.
            WrongUse: the arena failed.
            MachineCannot: the arena failed.
        """
        if (recorded := self._submissions.entry(found.id)) is not None:
            mark = msgspec.json.decode(recorded, type=EntryMark)
            if (label := _entered_as(competition.folder(mark.folder), mark.after, found)) is not None:
                self._entered(found, label)
                return
        part = competition.part_for(found.bot)
        if isinstance(part, NoMore):
            raise Unfit(part.text)
        if isinstance(part, NotYet):
            return
        tournament = competition.tournament_in(part.results)
        archive = self._submissions.store.checked(found.upload)
        bot = self._examiner.unpack(tournament, archive, found.bot, Findings())
        received = datetime.fromisoformat(found.created)
        with open_field(tournament, checks=False, received=received) as field:
            label = self._write(found, part, field, bot)
        if label is not None:
            self._entered(found, label)

    def _write(self, found: Submission, part: OpenPart, field: OpenField, bot: BotFolder) -> str | None:
        """Write a submission into a ledger; return the label of the version, None if it was withdrawn.

        Raises:
            Unfit: it may not enter.
        """
        before = None
        standing = field.standing
        try:
            if found.bot not in standing.labels or not _has_withdrawn(standing, found.bot):
                before = field.predecessor(found.bot)
            if before is not None and standing.content(before) == bot.content:
                raise Unfit(SAME)
            standing.check_deadline(datetime.fromisoformat(found.created))
        except WrongUse as error:
            raise Unfit(error.format_message()) from None
        field.keep(bot, before)
        mark = EntryMark(part.results.name, standing.events[-1].id if standing.events else 0)
        if not self._submissions.begin_entry(found.id, msgspec.json.encode(mark).decode()):
            return None
        given = str(copy_of_entry(part.results.absolute(), bot.content))
        try:
            field.write(bot, found.bot, given, before)
        except WrongUse as error:
            raise Unfit(error.format_message()) from None
        return _entered_as(part.results, mark.after, found, bot.content)

    def _entered(self, found: Submission, label: str) -> None:
        self._submissions.advance(found.id, "entered", f"entered as {label}", entered=label)
        del self._failed_entries[found.id]
        self._tell(f"{found.bot}: entered as {label}")


def _entered_as(results: Path, after: int, found: Submission, content: str = "") -> str | None:
    """Return the label under which a submission is in a ledger after an event; None if it is not."""
    if not (results / LEDGER).is_file():
        return None
    with closing(Ledger(results / LEDGER)) as ledger:
        events = ledger.events()
        standing = FieldState.of(load_start_terms(ledger), events, ledger.begun())
    entrants = [event for event in standing.events if isinstance(event.what, Entered)]
    first = len(standing.begun.labels)
    assert len(entrants) == len(entered(standing.spec))  # noqa: S101
    for number, event in enumerate(entrants):
        team = standing.labels[standing.teams[first + number]]
        what = event.what
        is_own = isinstance(what, Entered) and what.content == (content or found.content)
        if event.id > after and is_own and team == found.bot:
            return standing.labels[first + number]
    return None


def _has_withdrawn(standing: FieldState, label: str) -> bool:
    with suppress(WrongUse):
        standing.entrant(label)
        return False
    return True


def _milliseconds(findings: Findings | None) -> int:
    return 0 if findings is None else round(findings.cpu_seconds * 1_000)


def _json(verdict: Verdict) -> str:
    return msgspec.json.encode(verdict).decode()
