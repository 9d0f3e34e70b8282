"""Accounts of a season's server, and the database that they share with submissions and jobs."""

from arena.accounts.accounts import (
    DAY,
    LONGEST_NAME,
    NO_INVITATION,
    REQUEST,
    SCOPES,
    SESSION_DAYS,
    Account,
    AccountError,
    Accounts,
    AuditEntry,
    Invitation,
    Scope,
    Team,
    Token,
)
from arena.accounts.database import DATABASE, SERVER, Database
