"""Accounts of a season's server: teams, their members, invitations, sessions of browsers, and tokens of programs.

An invitation, a session and a token are secrets of 256 random bits. The database has their hashes alone, so that
nobody who reads it, or a backup of it, can use them.
"""

import hashlib
import secrets
from contextvars import ContextVar
from typing import Any, Literal, get_args

from msgspec import Struct

from arena.accounts.database import Database
from arena.config import difference, look_alike
from referee.display_text import printable, printable_name

LONGEST_NAME = 60
"""Maximum characters of a team's or a person's name, and of a token's."""
LONGEST_DETAIL = 500
"""Maximum characters of an entry of the audit log."""
DAY = 86_400.0
INVITATION_DAYS = 14
SESSION_DAYS = 30
TOKEN_DAYS = 180
MOST_TEAMS = 5_000
MOST_MEMBERS = 50
"""Maximum members of a team; each can use all of its invitations."""
MOST_OPEN = 100
"""Maximum open invitations of a team, and maximum valid tokens and sessions of an account."""
TOKEN_START = "arena_"  # noqa: S105 - no secret
"""Start of each token, by which scanners of repositories find one that was published."""
LONGEST_SECRET = 100
NO_INVITATION = "this invitation is not open: it was used, revoked, or is too old"
FIRST_HOST = "first_host"
"""Key of the setting with the number of the invitation that the last start without a host made."""
REQUEST: ContextVar[str] = ContextVar("REQUEST", default="")
"""Id of the web's request that is answered; empty outside of one."""

Scope = Literal["submit", "read", "sign-in"]
"""Right of a token: to hand in bots and read what its team may, to read that, or to sign in a browser."""
SCOPES: tuple[Scope, ...] = get_args(Scope)


class AccountError(Exception):
    """A change of accounts is refused. The text is the reason, for the person who asked for it."""


class Account(Struct, frozen=True):
    """A person with an account."""

    id: int
    name: str
    is_host: bool
    team: int | None
    team_name: str | None


class Team(Struct, frozen=True):
    """A team."""

    id: int
    name: str
    created: str
    closed: str | None
    members: int
    """Number of its members."""


class Token(Struct, frozen=True):
    """A token, without its secret."""

    id: int
    account: int
    name: str
    scope: Scope
    created: str
    expires: str
    used: str | None
    """Day and hour of its last use; None if it was never used."""
    revoked: str | None


class Invitation(Struct, frozen=True):
    """An open invitation, without its secret."""

    id: int
    is_host: bool
    team: int | None
    created: str
    expires: str
    uses: int
    """Number of persons who can still accept it."""


class AuditEntry(Struct, frozen=True):
    """An entry of the audit log."""

    id: int
    at: str
    account: str | None
    """Name of the account; None for the arena itself and the command line."""
    team: str | None
    action: str
    detail: str


_ACCOUNT = (
    "SELECT accounts.id, accounts.name, accounts.host AS is_host, accounts.team, teams.name AS team_name"
    " FROM accounts LEFT JOIN teams ON teams.id = accounts.team"
)
_ENABLED = "accounts.disabled IS NULL AND (teams.closed IS NULL OR accounts.host = 1)"


class Accounts:
    """The accounts in a database. Methods raise `AccountError` if they refuse."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def has_host(self) -> bool:
        """Return whether a host has an account."""
        return bool(self.members(None))

    def new_team(self, name: str, by: Account | None = None) -> Team:
        """Make a team."""
        name = _name(name, "the team's name")
        with self._db.change():
            teams = self.teams()
            if len(teams) >= MOST_TEAMS:
                raise AccountError(f"there are {MOST_TEAMS} teams already")
            for other in teams:
                if look_alike(name, other.name):
                    raise AccountError(f"{name}: looks like {other.name}: {difference(name, other.name)}")
            now = self._db.now()
            id_ = self._db.insert("teams", name=name, folded=name.casefold(), created=now)
            self.audit("team made", name, by, id_)
        return Team(id_, name, now, None, 0)

    def teams(self) -> list[Team]:
        """Return all teams, by name."""
        return self._db.rows(
            Team,
            "SELECT teams.id, teams.name, teams.created, teams.closed, count(accounts.id) AS members FROM teams"
            " LEFT JOIN accounts ON accounts.team = teams.id AND accounts.disabled IS NULL"
            " GROUP BY teams.id ORDER BY folded",
        )

    def team(self, name_or_id: str | int) -> Team | None:
        """Return the team with this name or number, or None."""
        for team in self.teams():
            if name_or_id in (team.name, team.id):
                return team
        return None

    def close_team(self, team: int, by: Account | None = None, *, closed: bool = True) -> None:
        """Close a team, whose members can do nothing then, or open it again."""
        with self._db.change():
            self._db.update("UPDATE teams SET closed = ? WHERE id = ?", self._db.now() if closed else None, team)
            self.audit("team closed" if closed else "team opened", "", by, team)

    def invite(
        self,
        team: int | None,
        by: Account | None = None,
        *,
        uses: int = 1,
        days: float = INVITATION_DAYS,
    ) -> str:
        """Return the secret of a new invitation to a team; of the host if `team` is None."""
        if not 1 <= uses <= MOST_MEMBERS or not 0 < days <= 366:  # noqa: PLR2004 - a year
            raise AccountError(f"an invitation is for 1 to {MOST_MEMBERS} persons and up to 366 days")
        with self._db.change():
            if len(self.invitations(team)) >= MOST_OPEN:
                raise AccountError(f"there are {MOST_OPEN} open invitations already: revoke some")
            _, secret = self._invite(team, by, uses, days)
        return secret

    def invite_first_host(self) -> str:
        """Return the secret of an invitation of the host, valid for a day, in place of the one made before."""
        with self._db.change():
            before = self._db.value("SELECT value FROM settings WHERE key = ?", FIRST_HOST)
            if before is not None:
                self._revoke_invitation(int(before), None, None)
            id_, secret = self._invite(None, None, 1, 1)
            self._db.update("DELETE FROM settings WHERE key = ?", FIRST_HOST)
            self._db.insert("settings", key=FIRST_HOST, value=str(id_))
        return secret

    def invitations(self, team: int | None) -> list[Invitation]:
        """Return the open invitations to a team; to the hosts if `team` is None."""
        return self._db.rows(
            Invitation,
            "SELECT id, host AS is_host, team, created, expires, uses FROM invitations"
            " WHERE team IS ? AND host = ? AND revoked IS NULL AND uses > 0 AND expires > ? ORDER BY id",
            team,
            team is None,
            self._db.now(),
        )

    def invited_to(self, secret: str) -> str | None:
        """Return the name of the team that an open invitation is to, "" for the hosts; None if it is not open."""
        found = self._invitation(secret)
        if found is None:
            return None
        team = None if found.team is None else self.team(found.team)
        return "" if team is None else team.name

    def accept(self, secret: str, name: str, subject: str | None = None) -> Account:
        """Make an account by an invitation, and let an identity of a provider open it if `subject` is given."""
        name = _name(name, "your name")
        with self._db.change():
            invitation = self._invitation(secret)
            if invitation is None:
                raise AccountError(NO_INVITATION)
            if invitation.team is not None and len(self.members(invitation.team)) >= MOST_MEMBERS:
                raise AccountError(f"this team has {MOST_MEMBERS} members already")
            self._check_subject(subject)
            self._db.update("UPDATE invitations SET uses = uses - 1 WHERE id = ?", invitation.id)
            id_ = self._db.insert(
                "accounts",
                name=name,
                host=invitation.is_host,
                team=invitation.team,
                subject=subject,
                created=self._db.now(),
            )
            account = self._account("accounts.id = ?", id_)
            if account is None:
                raise AccountError("this team is closed")
            self.audit("joined", name, account, account.team)
        return account

    def revoke_invitation(self, id_: int, team: int | None, by: Account | None = None) -> None:
        """Revoke an invitation to a team."""
        with self._db.change():
            self._revoke_invitation(id_, team, by)

    def members(self, team: int | None) -> list[Account]:
        """Return the members of a team; the hosts if `team` is None."""
        if team is None:
            return self._db.rows(
                Account, f"{_ACCOUNT} WHERE accounts.host = 1 AND {_ENABLED} ORDER BY accounts.id"
            )
        where = "accounts.team = ? AND accounts.disabled IS NULL"
        return self._db.rows(Account, f"{_ACCOUNT} WHERE {where} ORDER BY accounts.id", team)

    def account_of_subject(self, subject: str) -> Account | None:
        """Return the account that a provider of OpenID Connect knows by this subject, or None."""
        return self._account("accounts.subject = ?", subject)

    def has_subject(self, account: Account) -> bool:
        """Return whether an identity of a provider of OpenID Connect opens an account."""
        return self._db.value("SELECT subject FROM accounts WHERE id = ?", account.id) is not None

    def bind_subject(self, account: Account, subject: str) -> None:
        """Let a person sign in by an identity of a provider of OpenID Connect from now on."""
        with self._db.change():
            self._check_subject(subject)
            self._db.update("UPDATE accounts SET subject = ? WHERE id = ?", subject, account.id)
            self.audit("identity linked", "", account, account.team)

    def unbind_subject(self, account: Account) -> None:
        """End that an identity opens an account."""
        with self._db.change():
            self._db.update("UPDATE accounts SET subject = NULL WHERE id = ?", account.id)
            self.audit("identity no longer linked", "", account, account.team)

    def _check_subject(self, subject: str | None) -> None:
        if subject is not None and self._db.value("SELECT 1 FROM accounts WHERE subject = ?", subject):
            raise AccountError("this identity has an account already")

    def leave(self, account: Account, by: Account | None = None) -> None:
        """End an account: its sessions and tokens end, its submissions stay its team's."""
        with self._db.change():
            if account.is_host and len(self.members(None)) == 1:
                raise AccountError("you are the only host: invite another one first")
            self._db.update(
                "UPDATE accounts SET disabled = ?, subject = NULL WHERE id = ?", self._db.now(), account.id
            )
            self._end_all(account)
            self.audit("left", account.name, by or account, account.team)

    def sign_out_everywhere(self, account: Account) -> None:
        """End all sessions and tokens of an account."""
        with self._db.change():
            self._end_all(account)
            self.audit("secrets ended", "all sessions and tokens", account, account.team)

    def open_session(self, account: Account) -> str:
        """Return the secret of a new session. The oldest ends if there are too many."""
        secret = secrets.token_urlsafe(32)
        with self._db.change():
            now = self._db.now()
            self._db.update("DELETE FROM sessions WHERE expires <= ?", now)
            self._db.update(
                "DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE account = ?"
                " ORDER BY created DESC, hash LIMIT -1 OFFSET ?)",
                account.id,
                MOST_OPEN - 1,
            )
            self._db.insert(
                "sessions",
                hash=_hash(secret),
                account=account.id,
                created=now,
                expires=self._db.after(SESSION_DAYS * DAY),
            )
        return secret

    def session(self, secret: str) -> Account | None:
        """Return the account of a valid session, or None."""
        return self._account(
            "accounts.id = (SELECT account FROM sessions WHERE hash = ? AND expires > ?)",
            _hash(secret),
            self._db.now(),
        )

    def close_session(self, secret: str) -> None:
        """End a session."""
        with self._db.change():
            self._db.update("DELETE FROM sessions WHERE hash = ?", _hash(secret))

    def new_token(self, account: Account, name: str, scope: str, days: float = TOKEN_DAYS) -> str:
        """Return the secret of a new token, which is shown once."""
        name = _name(name, "the token's name")
        if scope not in SCOPES or not 0 < days <= 366:  # noqa: PLR2004 - a year
            raise AccountError(f"a token's scope is one of {', '.join(SCOPES)}, for up to 366 days")
        secret = f"{TOKEN_START}{secrets.token_urlsafe(32)}"
        with self._db.change():
            if len(self.tokens(account)) >= MOST_OPEN:
                raise AccountError(f"you have {MOST_OPEN} tokens already: revoke some")
            self._db.insert(
                "tokens",
                hash=_hash(secret),
                account=account.id,
                name=name,
                scope=scope,
                created=self._db.now(),
                expires=self._db.after(days * DAY),
            )
            self.audit("token made", f"{name} ({scope})", account, account.team)
        return secret

    def tokens(self, account: Account) -> list[Token]:
        """Return an account's valid tokens."""
        return self._db.rows(
            Token,
            "SELECT id, account, name, scope, created, expires, used, revoked FROM tokens"
            " WHERE account = ? AND revoked IS NULL AND expires > ? ORDER BY id",
            account.id,
            self._db.now(),
        )

    def token(self, secret: str) -> tuple[Account, Token] | None:
        """Return the account of a valid token, and the token; None if it is not valid. Notes its use."""
        now = self._db.now()
        token = self._db.row(
            Token,
            "SELECT id, account, name, scope, created, expires, used, revoked FROM tokens"
            " WHERE hash = ? AND revoked IS NULL AND expires > ?",
            _hash(secret),
            now,
        )
        account = None if token is None else self._account("accounts.id = ?", token.account)
        if token is None or account is None:
            return None
        hour = now[: len("2026-11-29T02")]
        if token.used is None or token.used != hour:  # One entry per hour, not one per request.
            with self._db.change():
                self._db.update("UPDATE tokens SET used = ? WHERE id = ?", hour, token.id)
        return account, token

    def revoke_token(self, id_: int, account: Account) -> None:
        """Revoke one of an account's tokens."""
        with self._db.change():
            if self._db.update(
                "UPDATE tokens SET revoked = ? WHERE id = ? AND account = ? AND revoked IS NULL",
                self._db.now(),
                id_,
                account.id,
            ):
                self.audit("token revoked", str(id_), account, account.team)

    def audit(self, action: str, detail: str, by: Account | None, team: int | None) -> None:
        """Note what somebody did, with the id of the request; `detail` must contain no secret."""
        detail = printable(detail)[:LONGEST_DETAIL]
        if request := REQUEST.get():
            detail = f"{detail} (request {request})".lstrip()
        self._db.insert(
            "audit",
            at=self._db.now(),
            account=None if by is None else by.id,
            team=team,
            action=action,
            detail=detail,
        )

    def audit_log(
        self, team: int | None = None, *, before: int | None = None, count: int = 100
    ) -> list[AuditEntry]:
        """Return the latest entries of the audit log, the last one first; all teams' if `team` is None."""
        where, values = ["audit.id < ?"], [before if before is not None else 2**63 - 1]
        if team is not None:
            where.append("audit.team = ?")
            values.append(team)
        return self._db.rows(
            AuditEntry,
            "SELECT audit.id, audit.at, accounts.name AS account, teams.name AS team, audit.action, audit.detail"  # noqa: S608 - constants
            " FROM audit LEFT JOIN accounts ON accounts.id = audit.account"
            " LEFT JOIN teams ON teams.id = audit.team"
            f" WHERE {' AND '.join(where)} ORDER BY audit.id DESC LIMIT ?",
            *values,
            count,
        )

    def _invite(self, team: int | None, by: Account | None, uses: int, days: float) -> tuple[int, str]:
        """Return the number and the secret of a new invitation."""
        secret = secrets.token_urlsafe(32)
        id_ = self._db.insert(
            "invitations",
            hash=_hash(secret),
            host=team is None,
            team=team,
            inviter=None if by is None else by.id,
            created=self._db.now(),
            expires=self._db.after(days * DAY),
            uses=uses,
        )
        self.audit("invited", f"{uses} to {'the hosts' if team is None else 'the team'}", by, team)
        return id_, secret

    def _revoke_invitation(self, id_: int, team: int | None, by: Account | None) -> None:
        if self._db.update(
            "UPDATE invitations SET revoked = ? WHERE id = ? AND team IS ? AND revoked IS NULL AND uses > 0",
            self._db.now(),
            id_,
            team,
        ):
            self.audit("invitation revoked", str(id_), by, team)

    def _account(self, where: str, *values: Any) -> Account | None:
        return self._db.row(Account, f"{_ACCOUNT} WHERE {where} AND {_ENABLED}", *values)

    def _invitation(self, secret: str) -> Invitation | None:
        return self._db.row(
            Invitation,
            "SELECT id, host AS is_host, team, created, expires, uses FROM invitations"
            " WHERE hash = ? AND revoked IS NULL AND uses > 0 AND expires > ?",
            _hash(secret),
            self._db.now(),
        )

    def _end_all(self, account: Account) -> None:
        self._db.update("DELETE FROM sessions WHERE account = ?", account.id)
        self._db.update(
            "UPDATE tokens SET revoked = ? WHERE account = ? AND revoked IS NULL", self._db.now(), account.id
        )


def _name(text: str, what: str) -> str:
    """Return a name, without spaces around it."""
    name = text.strip()
    if not name or len(name) > LONGEST_NAME:
        raise AccountError(f"{what}: give 1 to {LONGEST_NAME} characters")
    if printable_name(name) != name:
        raise AccountError(f"{what}: has characters that cannot be shown")
    return name


def _hash(secret: str) -> bytes:
    """Return the hash of a secret. A secret of 256 random bits needs no slow one, and no salt."""
    return hashlib.sha256(secret[:LONGEST_SECRET].encode(errors="replace")).digest()
