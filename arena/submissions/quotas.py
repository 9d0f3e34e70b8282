"""The quotas of teams, and the rule by which their uploads are kept."""

from datetime import datetime

from msgspec import Struct

from arena.accounts import DAY, Database
from arena.config import ServerTerms
from arena.quantities import pluralise
from arena.submissions.jobs import Jobs
from arena.submissions.store import SubmissionRefused, Upload
from arena.submissions.submission import SubmissionTable, day_of
from referee.bot_folder import MEGABYTE

REFUSED_KEPT_DAYS = 30
"""Days for which the upload of a refused submission is kept."""


class Quota(Struct, frozen=True, kw_only=True):
    """What a team may still submit."""

    used_today: int
    per_day: int
    in_flight: int
    """Number of its submissions that are not judged yet."""
    most_in_flight: int
    disk_bytes: int
    disk_most: int
    resets: str
    """Time at which a new day begins."""
    seconds: int
    """Seconds until then."""


class Quotas:
    """The quotas of teams. Methods that check raise `SubmissionRefused`."""

    def __init__(self, database: Database, terms: ServerTerms, jobs: Jobs, table: SubmissionTable) -> None:
        self._db = database
        self._terms = terms
        self._jobs = jobs
        self._table = table

    def of(self, team: int) -> Quota:
        """Return what a team may still submit."""
        now = self._db.now()
        begin, end = day_of(now)
        left = datetime.fromisoformat(end) - datetime.fromisoformat(now)
        return Quota(
            used_today=self._table.count_where("team = ? AND counts = 1 AND created >= ?", team, begin),
            per_day=self._terms.submissions_per_day,
            in_flight=self._in_flight(team),
            most_in_flight=self._terms.in_flight,
            disk_bytes=self._disk(team),
            disk_most=self._terms.disk_mb * MEGABYTE,
            resets=end,
            seconds=int(left.total_seconds()) + 1,
        )

    def check(self, team: int) -> None:
        """Check that a team has a submission left for today, and a place in the queue."""
        quota = self.of(team)
        if quota.used_today >= quota.per_day:
            submissions = pluralise(quota.per_day, "submission")
            text = f"a team has {submissions} per day, and all of today's are used; a new day begins at 00:00 UTC"
            raise SubmissionRefused(text, "quota", quota.seconds)
        self.check_in_flight(team)

    def check_restores(self, team: int) -> None:
        """Check that a team may hand in an earlier version again today, and has a place in the queue."""
        quota, (begin, _) = self.of(team), day_of(self._db.now())
        where = "team = ? AND restores IS NOT NULL AND created >= ?"
        if self._table.count_where(where, team, begin) >= quota.per_day:
            times = pluralise(quota.per_day, "time")
            text = f"a team hands earlier versions in again {times} per day; a new day begins at 00:00 UTC"
            raise SubmissionRefused(text, "quota", quota.seconds)
        self.check_in_flight(team)

    def check_in_flight(self, team: int) -> None:
        """Check that a team has a place in the queue."""
        if (number := self._in_flight(team)) >= self._terms.in_flight:
            seconds = self._jobs.queue().seconds or 60.0
            submissions = pluralise(number, "submission")
            raise SubmissionRefused(
                f"{submissions} of yours {'is' if number == 1 else 'are'} not judged yet: wait for the verdict, or"
                " withdraw one",
                "quota",
                int(seconds) + 1,
            )

    def check_disk(self, team: int, upload: Upload) -> None:
        """Check that a team's uploads have room for one more, without those that the rule does not keep."""
        kept = self.kept(team) - {upload.hash}
        size = upload.size
        for row in self._db.rows(_Size, "SELECT hash, size FROM uploads WHERE removed IS NULL"):
            if row.hash in kept:
                size += row.size
        if size > self._terms.disk_mb * MEGABYTE:
            text = f"your uploads would take {size / MEGABYTE:.0f} MB, and a team has {self._terms.disk_mb} MB"
            raise SubmissionRefused(f"{text}: make the archive smaller, or ask the host", "large")

    def kept(self, team: int) -> set[str]:
        """Return the hashes of a team's uploads that the rule keeps."""
        month = self._db.after(-REFUSED_KEPT_DAYS * DAY)
        keep: dict[str, None] = {}
        kept_always: set[str] = set()
        if (plays := self._table.playing(team)) is not None:
            kept_always.add(plays.upload)
        for found in self._table.where("s.team = ? ORDER BY s.id DESC", team):
            if not found.is_over:
                kept_always.add(found.upload)
            elif len(keep) < self._terms.versions_kept and (found.state != "refused" or found.changed >= month):
                keep[found.upload] = None
        return kept_always | keep.keys()

    def forget_old(self) -> tuple[set[str], set[str]]:
        """Record the uploads that the rule does not keep as removed. Call it within a change of the database.

        Returns:
            The hashes of the other uploads, and the public names of the submissions that have them.
        """
        keep: set[str] = set()
        for team in self._db.column(int, "SELECT DISTINCT team FROM submissions"):
            keep |= self.kept(team)
        known = self._db.column(str, "SELECT hash FROM uploads WHERE removed IS NULL")
        for hash_ in set(known) - keep:
            self._db.update("UPDATE uploads SET removed = ? WHERE hash = ?", self._db.now(), hash_)
        publics = self._db.column(
            str,
            "SELECT s.public FROM submissions s JOIN uploads u ON u.hash = s.upload WHERE u.removed IS NULL",
        )
        return keep, set(publics)

    def _in_flight(self, team: int) -> int:
        """Return the number of a team's submissions that wait for a verdict, without those the arena failed at."""
        return int(
            self._db.value(
                "SELECT count(*) FROM jobs WHERE kind = 'submission' AND team = ? AND ended IS NULL"
                " AND failure IS NULL",
                team,
            )
        )

    def _disk(self, team: int) -> int:
        found = self._db.value(
            "SELECT sum(size) FROM uploads WHERE removed IS NULL"
            " AND hash IN (SELECT upload FROM submissions WHERE team = ?)",
            team,
        )
        return int(found or 0)


class _Size(Struct, frozen=True):
    hash: str
    size: int
