"""Writes the database of a server that tests open as an old one, once there is a newer schema.

`python -m tests.arena.accounts.old_databases` writes one of the schema that there is now. Databases of schema 1
count as released: a change of the tables is a new schema, with a migration, and with one more file here.
"""

import hashlib
import tempfile
from contextlib import closing
from pathlib import Path

from arena.accounts.database import SCHEMA
from tests.arena.submissions.servers import Server

FOLDER = Path(__file__).with_name("fixtures")
SESSION, TOKEN = "kept-session", "arena_kept-token"
STATES = ("entered", "refused", "withdrawn", "checked", "received")
FAR = "9000-01-01T00:00:00.000+00:00"


def old_database(schema: int) -> Path:
    """The file of a schema."""
    return FOLDER / f"schema-{schema}.sqlite"


def fill(server: Server) -> None:
    """Two teams, a host, a session and a token; a submission in each state, one in work; a practice match."""
    host = server.accounts.accept(server.accounts.invite(None), "Ada")
    mia = server.member()
    server.accounts.new_team("Blue Herons", host)
    common = {"account": mia.id, "created": server.database.now(), "expires": FAR}
    server.database.insert("sessions", hash=_hash(SESSION), **common)
    server.database.insert("tokens", hash=_hash(TOKEN), name="ci", scope="submit", **common)
    for number, state in enumerate(STATES):
        found = server.submit(mia, b"bot %d" % number)
        ends = state in {"entered", "refused", "withdrawn"}
        columns = {"entered": "Red Pandas"} if state == "entered" else {}
        server.submissions.advance(found.id, state, f"now {state}", ends=ends, cpu_ms=900, **columns)  # type: ignore[arg-type]
    server.submissions.jobs.take("a dead process")
    server.submissions.pause(host, paused=True)
    now = server.database.now()
    server.database.insert("announcements", at=now, account=host.id, text="No matches on Sunday")
    server.database.insert(
        "scrimmages",
        public="0123456789abcdef",
        team=mia.team,
        account=mia.id,
        bot="Red Pandas",
        opponents='["mist_random"]',
        matches=3,
        state="queued",
        created=now,
        changed=now,
    )


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def main() -> None:
    """Write the file of this arena's schema."""
    with tempfile.TemporaryDirectory() as folder:
        with closing(Server(Path(folder))) as server:
            fill(server)
            server.database.settle()
        old_database(SCHEMA).write_bytes((Path(folder) / "server.sqlite").read_bytes())


if __name__ == "__main__":
    main()
