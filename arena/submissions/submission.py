"""A submission, its history, and the table of all of them."""

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from arena.accounts import DAY, Account, Database
from arena.submissions.store import SubmissionRefused
from arena.submissions.verdict import Verdict

State = Literal["received", "unpacked", "built", "checked", "entered", "refused", "withdrawn"]
STATES: tuple[State, ...] = get_args(State)
ENDED: frozenset[State] = frozenset({"entered", "refused", "withdrawn"})
MOST_LOG_BYTES = 1_000_000
"""Maximum bytes of one of the judge's logs."""
_COLUMNS = (
    "SELECT s.id, s.public, s.team, t.name AS team_name, a.name AS account_name, s.bot, s.note, s.upload, u.size,"
    " s.filename, s.state, s.created, s.changed, s.counts, s.published, s.restores,"
    " coalesce(s.content, '') AS content, coalesce(s.entered, '') AS entered,"
    " coalesce(s.verdict, '') AS verdict_json, coalesce(j.failure, '') AS failure,"
    " coalesce(j.attempts, 0) AS attempts, u.removed IS NOT NULL AS removed"
    " FROM submissions s JOIN teams t ON t.id = s.team JOIN accounts a ON a.id = s.account"
    " JOIN uploads u ON u.hash = s.upload LEFT JOIN jobs j ON j.kind = 'submission' AND j.subject = s.id"
)


class Submission(Struct, frozen=True, kw_only=True):
    """A submission. Texts are empty where there is nothing to say."""

    id: int
    public: str
    """Name in addresses, which does not tell how many submissions there are."""
    team: int
    team_name: str
    account_name: str
    bot: str
    """Label of the bot."""
    note: str
    upload: str
    """Hash of the archive."""
    size: int
    """Bytes of the archive."""
    filename: str
    state: State
    created: str
    changed: str
    counts: bool
    """True if it counts against the quota of its day."""
    published: bool
    """True if its author lets everybody download it."""
    restores: int | None
    """Id of the submission whose upload it takes again."""
    content: str
    """Hash of the bot's folder."""
    entered: str
    """Label of the version in the ledger."""
    verdict_json: str
    failure: str
    """Why the arena failed to judge it at the last attempt, for the host."""
    attempts: int
    """Number of attempts of the judge."""
    removed: bool
    """True if the upload was removed."""

    @property
    def verdict(self) -> Verdict | None:
        """The judge's verdict; None: there is none yet."""
        if not self.verdict_json:
            return None
        return msgspec.json.decode(self.verdict_json, type=Verdict)

    @property
    def is_over(self) -> bool:
        """True if its state will not change any more, except by a withdrawal of the bot."""
        return self.state in ENDED


class SubmissionEvent(Struct, frozen=True):
    """A step in the history of a submission."""

    at: str
    state: State
    text: str


def new_public() -> str:
    """Return a new public name."""
    return secrets.token_hex(8)


def team_of(account: Account) -> tuple[int, str]:
    """Return the number and the name of an account's team.

    Raises:
        SubmissionRefused: it has none.
    """
    if account.team is None:
        raise SubmissionRefused("only members of a team can do this")
    return account.team, account.team_name or ""


def day_of(now: str) -> tuple[str, str]:
    """Return the beginning and the end of the day of a time, in UTC."""
    begin = datetime.fromisoformat(now).replace(hour=0, minute=0, second=0, microsecond=0)
    end = begin + timedelta(seconds=DAY)
    return begin.isoformat(timespec="milliseconds"), end.isoformat(timespec="milliseconds")


class SubmissionTable:
    """The submissions in a database, for reading."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def by_public(self, public: str) -> Submission | None:
        """Return the submission with this public name, or None. Whose it is, the caller has to check."""
        return self.first_where("s.public = ?", public)

    def by_id(self, id_: int) -> Submission | None:
        """Return the submission with this number, or None."""
        return self.first_where("s.id = ?", id_)

    def of_team(self, team: int, *, before: int | None = None, count: int = 50) -> list[Submission]:
        """Return a team's submissions, the newest first; only those with an id before `before`."""
        return self.where("s.team = ? AND s.id < ? ORDER BY s.id DESC LIMIT ?", team, before or 2**62, count)

    def all(
        self, *, states: Collection[State] = STATES, before: int | None = None, count: int = 100
    ) -> list[Submission]:
        """Return all teams' submissions in these states, the newest first."""
        marks = ", ".join("?" * len(states))
        # The plus keeps SQLite from the index by state, after which it would sort all rows.
        where = f"+s.state IN ({marks}) AND s.id < ? ORDER BY s.id DESC LIMIT ?"
        return self.where(where, *states, before or 2**62, count)

    def playing(self, team: int) -> Submission | None:
        """Return the submission with which a team competes: the one that entered last; None if there is none."""
        return self.first_where("s.team = ? AND s.state = 'entered' ORDER BY s.id DESC", team)

    def published(self) -> dict[str, str]:
        """Return the public names of the published submissions whose uploads are kept, by label of the version."""
        rows = self._db.rows(
            _Published,
            "SELECT s.entered, s.public FROM submissions s JOIN uploads u ON u.hash = s.upload"
            " WHERE s.published = 1 AND s.entered IS NOT NULL AND u.removed IS NULL ORDER BY s.id",
        )
        return {row.entered: row.public for row in rows}

    def events(self, submission: Submission) -> list[SubmissionEvent]:
        """Return a submission's history, in order."""
        return self._db.rows(
            SubmissionEvent,
            "SELECT at, state, text FROM submission_events WHERE submission = ? ORDER BY id",
            submission.id,
        )

    def change_number(self) -> int:
        """Return a number that grows with each change of a submission, for pages that follow them."""
        return int(self._db.value("SELECT max(id) FROM submission_events") or 0)

    def counts_by_state(self) -> dict[State, int]:
        """Return the number of submissions in each state."""
        found: dict[State, int] = dict.fromkeys(STATES, 0)
        for row in self._db.rows(_Count, "SELECT state, count(*) AS count FROM submissions GROUP BY state"):
            found[row.state] = row.count
        return found

    def count_where(self, where: str, *values: Any) -> int:
        """Return the number of submissions under a condition in SQL."""
        return int(self._db.value(f"SELECT count(*) FROM submissions WHERE {where}", *values))  # noqa: S608 - constant

    def first_where(self, where: str, *values: Any) -> Submission | None:
        """Return the first submission under a condition in SQL, or None; the table of submissions is `s`."""
        return self._db.row(Submission, f"{_COLUMNS} WHERE {where} LIMIT 1", *values)

    def where(self, where: str, *values: Any) -> list[Submission]:
        """Return the submissions under a condition in SQL."""
        return self._db.rows(Submission, f"{_COLUMNS} WHERE {where}", *values)


class _Count(Struct, frozen=True):
    state: State
    count: int


class _Published(Struct, frozen=True):
    entered: str
    public: str
