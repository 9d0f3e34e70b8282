"""A server's database and store of uploads for tests, with teams in it."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from arena.accounts import Account, Accounts, Database
from arena.config import ServerTerms
from arena.submissions.records import Submissions
from arena.submissions.store import Upload, UploadStore
from arena.submissions.submission import Submission

MEGABYTE = 1024 * 1024


class Server:
    """The parts of a server that submissions need, in a folder."""

    def __init__(
        self,
        folder: Path,
        terms: ServerTerms | None = None,
        *,
        entries_until: Callable[[], str | None] = lambda: None,
    ) -> None:
        terms = terms or ServerTerms()
        self.database = Database(folder / "server.sqlite")
        self.accounts = Accounts(self.database)
        self.store = UploadStore(folder / "uploads", terms.upload_mb * MEGABYTE, free_bytes=0)
        self.submissions = Submissions(
            self.database,
            terms,
            competition="cup",
            store=self.store,
            logs=folder / "logs",
            entries_until=entries_until,
        )

    def member(self, team: str = "Red Pandas", name: str = "Mia") -> Account:
        """Make an account in a team, which is made too unless it exists."""
        found = self.accounts.team(team) or self.accounts.new_team(team)
        return self.accounts.accept(self.accounts.invite(found.id), name)

    def upload(self, content: bytes) -> Upload:
        """Put an upload into the store."""
        with self.store.begin() as part:
            part.write(content)
            return part.finish()

    def submit(self, account: Account, content: bytes = b"bot") -> Submission:
        """Submit an archive, whatever is in it."""
        return self.submissions.receive(account, self.upload(content), "bot.zip").submission

    def close(self) -> None:
        self.database.close()


def hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
