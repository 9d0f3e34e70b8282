"""Submissions: their records, states, quotas and history, in the database of the server.

A submission is received, unpacked, built, checked and entered; or refused, for a reason of its own; or withdrawn
by its team. Each state has its time and an event with a text for the team.
"""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from arena.accounts import Account, Accounts, Database
from arena.config import ServerTerms
from arena.quantities import pluralise
from arena.submissions.jobs import GOES_ON, Job, Jobs, Place, Queue, about
from arena.submissions.quotas import Quota, Quotas
from arena.submissions.store import SubmissionRefused, Upload, UploadStore, remove_others
from arena.submissions.submission import (
    MOST_LOG_BYTES,
    State,
    Submission,
    SubmissionTable,
    new_public,
    team_of,
)
from referee.display_text import printable, printable_name
from referee.linux.files import read_regular

LONGEST_NOTE = 500
LONGEST_FILENAME = 200
LONGEST_REQUEST = 100
LONGEST_TEXT = 2_000
"""Maximum characters of an event's text."""
YOUNG_SECONDS = 3_600.0
"""Seconds for which an upload without a submission stays."""
TROUBLE = "the arena could not judge it"
REPORTED = f"{TROUBLE}; the host is told, and it will try again"
LATE_SECONDS = 3_600.0
"""Seconds without a verdict after which the host is told of a submission."""
LATE = "no verdict after {}: it waits in the queue, or the judge does not work"


class Receipt(Struct, frozen=True, kw_only=True):
    """The answer to a submission that was received."""

    submission: Submission
    repeated: bool
    """True if it had been received before: the same request, or the same upload, which waits to be judged."""
    same_as: str
    """Public name of an earlier submission of the same upload; empty: there is none."""


_ALIVE = "state NOT IN ('entered', 'refused', 'withdrawn')"


class Submissions(SubmissionTable):
    """The submissions in a database. Methods raise `SubmissionRefused` if they refuse."""

    def __init__(
        self,
        database: Database,
        terms: ServerTerms,
        *,
        competition: str,
        store: UploadStore,
        logs: Path,
        entries_until: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Open the submissions of a competition.

        Args:
            database: the server's database.
            terms: the terms of its file.
            competition: its name.
            store: the uploads.
            logs: the folder with the judge's logs, a folder for each submission.
            entries_until: returns the time until which bots may enter; None: to the end.
        """
        super().__init__(database)
        self.jobs = Jobs(database)
        self.store = store
        self.terms = terms
        self.logs = logs
        self._quotas = Quotas(database, terms, self.jobs, self)
        self._accounts = Accounts(database)
        self.competition = competition
        self._entries_until = entries_until

    def receive(
        self, account: Account, upload: Upload, filename: str, *, note: str = "", request: str | None = None
    ) -> Receipt:
        """Record a submission with its job, in one transaction.

        Args:
            account: who submits, for the account's team.
            upload: the archive, in the store.
            filename: its name on the author's machine.
            note: the author's words about this version.
            request: a key of the author's choice; a request with the same key is answered as the first was.
        """
        team, label = team_of(account)
        if request is not None and not 0 < len(request) <= LONGEST_REQUEST:
            raise SubmissionRefused(f"the key of a request has 1 to {LONGEST_REQUEST} characters")
        if len(note) > LONGEST_NOTE:
            raise SubmissionRefused(f"a note has at most {LONGEST_NOTE} characters")
        until = self._entries_until()
        with self._db.change():
            if (known := self._known(team, request, upload)) is not None:
                return Receipt(submission=known, repeated=True, same_as=known.public)
            self._check_deadline(until)
            self._quotas.check(team)
            self._quotas.check_disk(team, upload)
            if not self.store.path(upload.hash).exists():  # An equal one was dropped at this moment.
                raise SubmissionRefused("the upload was lost: send it again", "full", 1)
            earlier = self.first_where("s.team = ? AND s.upload = ? ORDER BY s.id DESC", team, upload.hash)
            self._db.update(
                "INSERT INTO uploads (hash, size, created) VALUES (?, ?, ?)"
                " ON CONFLICT (hash) DO UPDATE SET removed = NULL",
                upload.hash,
                upload.size,
                self._db.now(),
            )
            text = "received"
            if earlier is not None:
                text = f"received; the same archive as that of {earlier.created[:16].replace('T', ' ')} UTC"
            submission = self._insert(
                account,
                upload.hash,
                text,
                bot=label,
                note=printable(note),
                filename=printable_name(filename)[:LONGEST_FILENAME],
                request=request,
                counts=True,
            )
            self._accounts.audit("submitted", submission.public, account, team)
        return Receipt(submission=submission, repeated=False, same_as="" if earlier is None else earlier.public)

    def drop(self, upload: Upload) -> None:
        """Remove an upload from the store, unless a submission has it."""
        with self._db.change():
            if self._db.value("SELECT 1 FROM uploads WHERE hash = ? AND removed IS NULL", upload.hash) is None:
                self.store.remove(upload.hash)

    def check(self, team: int, request: str | None = None) -> None:
        """Check that a team may submit now, before its upload is read. A repeated request passes.

        Raises:
            SubmissionRefused: a quota is used up, or no entries are taken.
        """
        where = "SELECT count(*) FROM submissions WHERE team = ? AND request = ?"
        if request is not None and self._db.value(where, team, request):
            return
        self._check_deadline(self._entries_until())
        self._quotas.check(team)

    def restore(self, submission: Submission, by: Account) -> Submission:
        """Submit the upload of an earlier version again, which has a quota of its own."""
        team, label = team_of(by)
        if submission.team != team:
            raise SubmissionRefused("this is not your team's")
        until = self._entries_until()
        with self._db.change():
            self._check_deadline(until)
            self._quotas.check_restores(team)
            if submission.removed or not self.store.path(submission.upload).exists():
                raise SubmissionRefused("its archive was removed, as older ones are: submit it again", "late")
            day = submission.created[:16].replace("T", " ")
            restored = self._insert(
                by,
                submission.upload,
                f"received: the version of {day} UTC again",
                bot=label,
                note=submission.note,
                filename=submission.filename,
                request=None,
                counts=False,
                restores=submission.restores or submission.id,
            )
            self._accounts.audit("restored", submission.public, by, team)
        return restored

    def withdraw(self, submission: Submission, by: Account) -> None:
        """Withdraw a submission that has not entered; see `Competition.withdraw` for a bot that competes."""
        with self._db.change():
            changed = self._db.update(
                f"UPDATE submissions SET state = 'withdrawn', changed = ? WHERE id = ? AND {_ALIVE}"  # noqa: S608 - constant
                " AND entry IS NULL",
                self._db.now(),
                submission.id,
            )
            if not changed:
                raise SubmissionRefused("it is too late to withdraw this submission", "late")
            self.jobs.end_of("submission", submission.id)
            self._note(submission.id, "withdrawn", f"withdrawn by {by.name}")
            self._accounts.audit("submission withdrawn", submission.public, by, submission.team)

    def refuse(self, submission: Submission, by: Account, reason: str) -> None:
        """Refuse a submission that has not entered, by the host's decision."""
        reason = printable(reason.strip())[:LONGEST_NOTE] or "no reason given"
        with self._db.change():
            changed = self._db.update(
                f"UPDATE submissions SET state = 'refused', changed = ? WHERE id = ? AND {_ALIVE}"  # noqa: S608 - constant
                " AND entry IS NULL",
                self._db.now(),
                submission.id,
            )
            if not changed:
                raise SubmissionRefused("it is too late to refuse this submission", "late")
            self.jobs.end_of("submission", submission.id)
            self._note(submission.id, "refused", f"refused by the host: {reason}")
            self._accounts.audit("submission refused", f"{submission.public}: {reason}", by, submission.team)

    def retry(self, submission: Submission, by: Account) -> None:
        """Let the judge try now what the arena failed at."""
        with self._db.change():
            self.jobs.try_now("submission", submission.id)
            self._accounts.audit("submission tried again", submission.public, by, submission.team)

    def pause(self, by: Account | None, *, paused: bool) -> None:
        """Let the judge begin nothing more, or go on."""
        with self._db.change():
            self.jobs.pause(paused=paused)
            self._accounts.audit("judge paused" if paused else GOES_ON, "", by, None)

    def publish(self, submission: Submission, by: Account, *, published: bool = True) -> None:
        """Let everybody download a submission, or end that."""
        with self._db.change():
            self._db.update("UPDATE submissions SET published = ? WHERE id = ?", published, submission.id)
            self._accounts.audit(
                "submission published" if published else "submission no longer published",
                submission.public,
                by,
                submission.team,
            )

    def place(self, submission: Submission) -> Place | None:
        """Return a submission's place in the queue; None if it has been judged."""
        return self.jobs.place("submission", submission.id)

    def queue(self) -> Queue:
        """Return the state of the queue."""
        return self.jobs.queue()

    def quota(self, team: int) -> Quota:
        """Return what a team may still submit."""
        return self._quotas.of(team)

    def log_names(self, submission: Submission) -> list[str]:
        """Return the names of the judge's logs of a submission."""
        folder = self.logs / submission.public
        try:
            return sorted(path.name for path in folder.iterdir())
        except OSError:
            return []

    def log(self, submission: Submission, name: str) -> bytes | None:
        """Return one of the judge's logs, at most `MOST_LOG_BYTES`, as the bot wrote it; None if there is none."""
        if name not in self.log_names(submission):
            return None
        try:
            return read_regular(self.logs / submission.public / name, MOST_LOG_BYTES, follow=False)
        except OSError:
            return None

    def advance(
        self, submission: int, state: State, text: str, *, cpu_ms: int = 0, ends: bool = False, **columns: Any
    ) -> bool:
        """Write the judge's next state of a submission; return False if it is over already.

        Args:
            submission: its id.
            state: the new state.
            text: the event, for the team.
            cpu_ms: processor time that is charged to the team.
            ends: whether the job ends.
            columns: further columns of its row.
        """
        with self._db.change():
            names = "".join(f", {name} = ?" for name in columns)
            changed = self._db.update(
                f"UPDATE submissions SET state = ?, changed = ?{names} WHERE id = ? AND {_ALIVE}",  # noqa: S608 - names of columns
                state,
                self._db.now(),
                *columns.values(),
                submission,
            )
            job = self._job(submission)
            if job is not None:
                self.jobs.charge(job, cpu_ms)
            if not changed:
                return False
            self._note(submission, state, text)
            if job is not None and ends:
                self.jobs.end(job)
        return True

    def begin_entry(self, submission: int, entry: str) -> bool:
        """Record that a submission is being entered, so that it cannot be withdrawn; False if it is over already.

        Args:
            submission: its id.
            entry: what is needed to find its event in the ledger after a crash.
        """
        with self._db.change():
            return bool(
                self._db.update(
                    f"UPDATE submissions SET entry = ? WHERE id = ? AND {_ALIVE}",  # noqa: S608 - constant
                    entry,
                    submission,
                )
            )

    def entry(self, submission: int) -> str | None:
        """Return what `begin_entry` has recorded; None: nothing."""
        found = self._db.value("SELECT entry FROM submissions WHERE id = ?", submission)
        return None if found is None else str(found)

    def fail(self, submission: int, why: str, *, cpu_ms: int = 0) -> bool:
        """Record that the arena failed at a submission, which then counts against no quota and is tried again.

        Returns:
            Whether the host has to be told now.
        """
        with self._db.change():
            job = self._job(submission)
            found = self.by_id(submission)
            if job is None or found is None or found.is_over:
                return False
            told = self.jobs.fail(job, why)
            self.jobs.charge(job, cpu_ms)
            self._db.update(
                f"UPDATE submissions SET state = 'received', changed = ?, counts = 0 WHERE id = ? AND {_ALIVE}",  # noqa: S608 - constant
                self._db.now(),
                submission,
            )
            text = f"{TROUBLE}: it will try again; this does not count against your quota"
            if told:
                text = REPORTED
                number = pluralise(found.attempts, "attempt")
                self._accounts.audit("judge failed", f"{found.public}: {number}: {why}", None, found.team)
            self._note(submission, "received", text)
            return told

    def report_late(self, seconds: float = LATE_SECONDS) -> list[Submission]:
        """Tell the host and the team of submissions without a verdict for so long, once of each.

        They count against no quota then. Nothing is late while the host has paused the judge.

        Returns:
            The submissions that were reported now.
        """
        if not self.jobs.late(self._db.after(-seconds), REPORTED):
            return []  # This is asked each second, and mostly needs no transaction.
        with self._db.change():
            late = self.jobs.late(self._db.after(-seconds), REPORTED)
            found = [each for each in map(self.by_id, late) if each is not None and not each.is_over]
            why = LATE.format(about(seconds))
            for each in found:
                self.jobs.note_failure("submission", each.id, why)
                self._db.update("UPDATE submissions SET counts = 0 WHERE id = ?", each.id)
                self._report(each, why)
        return found

    def in_trouble(self, count: int = 100) -> list[Submission]:
        """Return the latest submissions that the arena failed to judge, or to enter again and again."""
        return self.where(
            "s.id IN (SELECT subject FROM jobs WHERE kind = 'submission' AND failure IS NOT NULL AND ended IS NULL"
            " UNION SELECT id FROM submissions c WHERE state = 'checked' AND EXISTS (SELECT 1 FROM"
            " submission_events e WHERE e.submission = c.id AND e.text = ?)) ORDER BY s.id DESC LIMIT ?",
            REPORTED,
            count,
        )

    def put_back(self, job: Job) -> None:
        """Let a job wait again that was stopped in order."""
        with self._db.change():
            self.jobs.put_back(job)

    def tell_host(self, submission: Submission, why: str) -> None:
        """Tell the host, and the team without the reason, that the arena fails at a submission again and again."""
        with self._db.change():
            self._report(submission, why)

    def _report(self, submission: Submission, why: str) -> None:
        self._note(submission.id, submission.state, REPORTED)
        self._accounts.audit("judge failed", f"{submission.public}: {why}", None, submission.team)

    def note_start(self, submission: int, attempt: int) -> None:
        """Write the event that the judge works at a submission."""
        found = self.by_id(submission)
        if found is not None and not found.is_over:
            text = "being judged" if attempt == 1 else f"being judged, attempt {attempt}"
            with self._db.change():
                self._note(submission, found.state, text)

    def withdraw_entered(self, team: int, by: Account | None, text: str) -> None:
        """Record that a team's bot no longer competes."""
        with self._db.change():
            for found in self.where("s.team = ? AND s.state = 'entered'", team):
                self._db.update(
                    "UPDATE submissions SET state = 'withdrawn', changed = ? WHERE id = ?",
                    self._db.now(),
                    found.id,
                )
                self._note(found.id, "withdrawn", text)
            self._accounts.audit("bot withdrawn", "", by, team)

    def remove_old(self) -> int:
        """Remove the uploads that the rule does not keep, with their logs, and parts of dead processes.

        The rule: of each team the latest `versions_kept` uploads are kept, without refused ones that are older
        than `REFUSED_KEPT_DAYS`; and always those that compete or are not judged yet.

        Returns:
            The number of removed uploads and parts.
        """
        with self._db.change():
            keep, logs = self._quotas.forget_old()
        remove_others(self.logs, logs)
        # Files have the machine's time. The database's stays ahead of it for as long as a clock was once ahead.
        return self.store.sweep(keep, older_than=time.time() - YOUNG_SECONDS)

    def _known(self, team: int, request: str | None, upload: Upload) -> Submission | None:
        """Return the submission that was received before for the same request or with the same waiting upload."""
        if (
            request is not None
            and (found := self.first_where("s.team = ? AND s.request = ?", team, request)) is not None
        ):
            if found.upload != upload.hash:
                raise SubmissionRefused("the key of this request was used for another upload")
            return found
        return self.first_where(f"s.team = ? AND s.upload = ? AND s.{_ALIVE}", team, upload.hash)

    def _check_deadline(self, until: str | None) -> None:
        now = datetime.fromisoformat(self._db.now())
        if until is not None and now > datetime.fromisoformat(until):
            raise SubmissionRefused(f"entries were taken until {until}", "closed")

    def _insert(self, account: Account, upload: str, text: str, *, counts: bool, **columns: Any) -> Submission:
        """Record a submission with its job and its first event, whose text is given."""
        now = self._db.now()
        public = new_public()
        id_ = self._db.insert(
            "submissions",
            public=public,
            team=account.team,
            account=account.id,
            upload=upload,
            state="received",
            created=now,
            changed=now,
            counts=counts,
            published=False,
            **columns,
        )
        self.jobs.add("submission", id_, account.team or 0, self.competition)
        self._note(id_, "received", text, now)
        found = self.by_id(id_)
        assert found is not None  # noqa: S101
        return found

    def _note(self, submission: int, state: State, text: str, at: str | None = None) -> None:
        """Write an event; its time is `at`, or now."""
        self._db.insert(
            "submission_events",
            submission=submission,
            at=at or self._db.now(),
            state=state,
            text=text[:LONGEST_TEXT],
        )

    def _job(self, submission: int) -> int | None:
        found = self._db.value("SELECT id FROM jobs WHERE kind = 'submission' AND subject = ?", submission)
        return None if found is None else int(found)
