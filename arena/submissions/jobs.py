"""The queue of the judge: jobs in the database, each taken by one process at a time.

A job fails only by the arena's doing. It is tried again after a pause, and the host is told when that happens
often.
"""

from collections.abc import Sequence
from datetime import datetime
from statistics import median
from typing import get_args

from msgspec import Struct

from arena.accounts import Database
from arena.quantities import pluralise
from arena.submissions.order import JobKind, Share, WaitingJob, in_order, next_job

PAUSES = (1.0, 10.0, 60.0, 600.0, 3_600.0)
"""Seconds until a job is tried again, by the number of attempts so far; after that the last of them."""
TOLD_AFTER = 5
"""Attempts after which the host is told."""
HOUR = 3_600.0
MEASURED = 20
"""Number of the latest jobs by which the time of the next ones is estimated."""
LONGEST_FAILURE = 1_000
_WAITING = "SELECT id, kind, team, competition, created FROM jobs WHERE ended IS NULL AND holder IS NULL"
PAUSED = "judge paused"
"""Key of the setting."""
GOES_ON = "judge goes on"
"""Action in the log of hosts' actions when the judge is no longer paused."""
MINUTE = 60
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


class Job(Struct, frozen=True, kw_only=True):
    """A job that this process has taken."""

    id: int
    kind: JobKind
    subject: int
    """Id of its submission or scrimmage."""
    team: int
    attempts: int
    """Number of attempts, including this one."""


class Place(Struct, frozen=True, kw_only=True):
    """The place of a job in the queue."""

    place: int
    """Number of jobs up to this one; 0: it is being judged."""
    waiting: int
    """Number of jobs that wait."""
    of_teams: int
    """Number of teams that have jobs waiting."""
    seconds: float | None
    """Estimate of the seconds until its end; None: nothing was measured yet, or the judge is paused."""

    @property
    def text(self) -> str:
        """The place in words, such as `2nd of 7, about 2 min`."""
        first = "being judged" if not self.place else f"{_ordinal(self.place)} of {self.waiting}"
        if self.seconds is None:
            return first
        return f"{first}, about {about(self.seconds)}"


class Queue(Struct, frozen=True, kw_only=True):
    """The state of the queue, which all may see."""

    waiting: int
    teams: int
    """Number of teams whose jobs wait."""
    since: str | None
    """Time at which the oldest waiting job arrived."""
    in_work: int
    paused: bool
    seconds: float | None
    """Estimate of the seconds of one job; None: nothing was measured yet."""


class _Span(Struct, frozen=True):
    begun: str
    ended: str
    cpu_ms: int


class _Kind(Struct, frozen=True):
    kind: JobKind
    count: int


class _Shared(Struct, frozen=True):
    party: str
    last: str
    cpu_ms: int


def about(seconds: float) -> str:
    """Return a time in words, no more exact than an estimate is."""
    if seconds < MINUTE:
        return f"{max(10, round(seconds / 10) * 10)} s"
    minutes = round(seconds / MINUTE)
    return f"{minutes} min" if minutes < 2 * MINUTE else pluralise(round(minutes / MINUTE), "hour")


class Jobs:
    """The jobs in a database."""

    def __init__(self, database: Database, *, pauses: Sequence[float] = PAUSES) -> None:
        self._db = database
        self._pauses = pauses

    def add(self, kind: JobKind, subject: int, team: int, competition: str) -> None:
        """Add a job. Call it within a change of the database."""
        self._db.insert(
            "jobs",
            kind=kind,
            subject=subject,
            team=team,
            competition=competition,
            created=self._db.now(),
            attempts=0,
            cpu_ms=0,
        )

    def take(self, holder: str, *, scrimmages: bool = True) -> Job | None:
        """Take the next job for a process; None if there is none, or the judge is paused.

        Args:
            holder: name of the process.
            scrimmages: whether it may be a scrimmage.
        """
        with self._db.change():
            if self.paused:
                return None
            waiting = [job for job in self._waiting(due=True) if scrimmages or job.kind == "submission"]
            chosen = next_job(waiting, self._teams(), self._competitions())
            if chosen is None:
                return None
            self._db.update(
                "UPDATE jobs SET holder = ?, begun = ?, attempts = attempts + 1, not_before = NULL WHERE id = ?",
                holder,
                self._db.now(),
                chosen.id,
            )
            return self._db.row(Job, "SELECT id, kind, subject, team, attempts FROM jobs WHERE id = ?", chosen.id)

    def end(self, job: int) -> None:
        """End a job that is done. Call it within a change of the database."""
        self._db.update(
            "UPDATE jobs SET ended = ?, holder = NULL, failure = NULL WHERE id = ? AND ended IS NULL",
            self._db.now(),
            job,
        )

    def end_of(self, kind: JobKind, subject: int) -> None:
        """End the job of a submission or a scrimmage. Call it within a change of the database."""
        if (
            job := self._db.value("SELECT id FROM jobs WHERE kind = ? AND subject = ?", kind, subject)
        ) is not None:
            self.end(job)

    def charge(self, job: int, cpu_ms: int) -> None:
        """Charge processor time to a job's team. Call it within a change of the database."""
        self._db.update("UPDATE jobs SET cpu_ms = cpu_ms + ? WHERE id = ?", max(0, cpu_ms), job)

    def put_back(self, job: Job) -> None:
        """Let a job that goes well wait for its turn again. Call it within a change of the database."""
        self._db.update(
            "UPDATE jobs SET holder = NULL, attempts = 0, failure = NULL WHERE id = ? AND ended IS NULL", job.id
        )

    def fail(self, job: int, failure: str) -> bool:
        """Let a job at which the arena failed be tried again later. Call it within a change of the database.

        Returns:
            Whether the host has to be told now.
        """
        attempts = int(self._db.value("SELECT attempts FROM jobs WHERE id = ?", job) or 1)
        pause = self._pauses[min(max(attempts, 1), len(self._pauses)) - 1]
        self._db.update(
            "UPDATE jobs SET holder = NULL, failure = ?, not_before = ? WHERE id = ? AND ended IS NULL",
            failure[:LONGEST_FAILURE],
            self._db.after(pause),
            job,
        )
        return attempts == TOLD_AFTER

    def note_failure(self, kind: JobKind, subject: int, failure: str) -> None:
        """Record why a job is not done, unless it failed before. Call it within a change of the database."""
        self._db.update(
            "UPDATE jobs SET failure = coalesce(failure, ?) WHERE kind = ? AND subject = ? AND ended IS NULL",
            failure,
            kind,
            subject,
        )

    def late(self, before: str, reported: str) -> list[int]:
        """Return the submissions whose jobs have not ended and are older than a time.

        Args:
            before: the time. None is late if the judge was paused since then.
            reported: text of an event that late submissions get; those that have it are left out.
        """
        found = self._db.column(
            int,
            "SELECT subject FROM jobs WHERE ended IS NULL AND kind = 'submission' AND created < ? AND NOT EXISTS"
            " (SELECT 1 FROM submission_events WHERE submission = jobs.subject AND text = ?) ORDER BY id",
            before,
            reported,
        )
        if not found or self.paused:
            return []
        resumed = self._db.value("SELECT max(at) FROM audit WHERE action = ?", GOES_ON)
        return [] if resumed is not None and resumed > before else found

    def held(self) -> list[Job]:
        """Return the jobs that some process has taken, dead or alive."""
        return self._db.rows(
            Job,
            "SELECT id, kind, subject, team, attempts FROM jobs"
            " WHERE holder IS NOT NULL AND ended IS NULL ORDER BY id",
        )

    def try_now(self, kind: JobKind, subject: int) -> None:
        """Let a job that waits after a failure be tried at once. Call it within a change of the database."""
        self._db.update(
            "UPDATE jobs SET not_before = NULL, attempts = 0 WHERE kind = ? AND subject = ? AND ended IS NULL",
            kind,
            subject,
        )

    @property
    def paused(self) -> bool:
        """True if the host has paused the judge."""
        return bool(self._db.value("SELECT value FROM settings WHERE key = ?", PAUSED) == "1")

    def pause(self, *, paused: bool) -> None:
        """Let the judge take no more jobs, or go on. Call it within a change of the database."""
        self._db.update("DELETE FROM settings WHERE key = ?", PAUSED)
        self._db.insert("settings", key=PAUSED, value="1" if paused else "0")

    def seconds_waited(self) -> float:
        """Return the seconds for which the oldest job has waited; 0 if none waits."""
        since = self._db.value("SELECT min(created) FROM jobs WHERE ended IS NULL AND holder IS NULL")
        return 0.0 if since is None else max(0.0, _seconds(since, self._db.now()))

    def failed(self) -> int:
        """Return the number of jobs that the arena failed at and will try again."""
        return int(self._db.value("SELECT count(*) FROM jobs WHERE ended IS NULL AND failure IS NOT NULL"))

    def waiting_by_kind(self) -> dict[JobKind, int]:
        """Return the number of jobs that wait, of each kind."""
        found: dict[JobKind, int] = dict.fromkeys(get_args(JobKind), 0)
        query = "SELECT kind, count(*) AS count FROM jobs WHERE ended IS NULL AND holder IS NULL GROUP BY kind"
        for row in self._db.rows(_Kind, query):
            found[row.kind] = row.count
        return found

    def queue(self) -> Queue:
        """Return the state of the queue."""
        waiting = self._waiting(due=False)
        return Queue(
            waiting=len(waiting),
            teams=len({job.team for job in waiting}),
            since=min((job.created for job in waiting), default=None),
            in_work=len(self.held()),
            paused=self.paused,
            seconds=self._typical()[0],
        )

    def place(self, kind: JobKind, subject: int) -> Place | None:
        """Return the place of a job in the queue; None if it has ended."""
        return self.places(kind).get(subject)

    def places(self, kind: JobKind) -> dict[int, Place]:
        """Return the places of all jobs of a kind that have not ended, by subject."""
        seconds, cpu_ms = self._typical()
        now = self._db.now()
        waiting = self._waiting(due=False)
        teams = len({job.team for job in waiting})
        estimate = None if self.paused else seconds
        subjects = {job.id: job.subject for job in self._open(kind)}
        found: dict[int, Place] = {}
        under_way = [job for job in self.held() if job.id in subjects]
        for job in under_way:
            found[job.subject] = Place(place=0, waiting=len(waiting), of_teams=teams, seconds=estimate)
        ordered = in_order(waiting, self._teams(), self._competitions(), now=now, cpu_ms=cpu_ms)
        for number, waits in enumerate(ordered, start=1):
            if waits.id in subjects:
                left = None if estimate is None else estimate * (number + min(1, len(under_way)))
                found[subjects[waits.id]] = Place(place=number, waiting=len(waiting), of_teams=teams, seconds=left)
        return found

    def _open(self, kind: JobKind) -> list[Job]:
        return self._db.rows(
            Job, "SELECT id, kind, subject, team, attempts FROM jobs WHERE ended IS NULL AND kind = ?", kind
        )

    def _waiting(self, *, due: bool) -> list[WaitingJob]:
        """Return the jobs that wait; with `due`, those that may be begun now.

        A team's submissions are judged one after the other, so that an older one never takes the place of a newer
        one. One that the arena fails at again and again holds up no others.
        """
        if not due:
            return self._db.rows(WaitingJob, f"{_WAITING} ORDER BY id")
        return self._db.rows(
            WaitingJob,
            f"{_WAITING} AND (not_before IS NULL OR not_before <= ?) AND NOT EXISTS (SELECT 1 FROM jobs older"  # noqa: S608 - constants
            " WHERE older.kind = 'submission' AND jobs.kind = 'submission' AND older.team = jobs.team"
            " AND older.id < jobs.id AND older.ended IS NULL AND older.attempts < ?) ORDER BY id",
            self._db.now(),
            TOLD_AFTER,
        )

    def _teams(self) -> dict[int, Share]:
        return {int(each.party): Share(each.last, each.cpu_ms) for each in self._shares("team")}

    def _competitions(self) -> dict[str, Share]:
        return {each.party: Share(each.last, each.cpu_ms) for each in self._shares("competition")}

    def _shares(self, column: str) -> list[_Shared]:
        since = self._db.after(-HOUR)
        return self._db.rows(
            _Shared,
            f"SELECT CAST({column} AS TEXT) AS party, max(coalesce(ended, begun)) AS last,"  # noqa: S608 - constants
            f" sum(cpu_ms) AS cpu_ms FROM jobs WHERE coalesce(ended, begun) > ? GROUP BY {column}",
            since,
        )

    def _typical(self) -> tuple[float | None, int]:
        """Return the estimated seconds of a submission's job, None if unknown, and its processor time in ms."""
        spans = self._db.rows(
            _Span,
            "SELECT begun, ended, cpu_ms FROM jobs WHERE kind = 'submission' AND begun IS NOT NULL"
            " AND ended IS NOT NULL AND cpu_ms > 0 ORDER BY ended DESC LIMIT ?",
            MEASURED,
        )
        if not spans:
            return None, 1
        seconds = median(_seconds(span.begun, span.ended) for span in spans)
        return seconds, max(1, round(median(span.cpu_ms for span in spans)))


def _seconds(begun: str, ended: str) -> float:
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()


def _ordinal(number: int) -> str:
    if number % 100 in {11, 12, 13}:
        return f"{number}th"
    return f"{number}{_ENDINGS.get(number % 10, 'th')}"
