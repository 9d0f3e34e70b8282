"""Pages of a season's server with many teams, submissions and matches: `portal`."""

import argparse
import random
import socket
import sqlite3
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import httpx

from arena.accounts import Account, Accounts, Database
from arena.portal.visit import SESSION
from arena.submissions import Competition
from arena.tournament import LEDGER
from benchmarks.harness import Judgement, bench
from benchmarks.simulated_results import write_results
from benchmarks.tournaments import running

TEAMS, SUBMISSIONS, BLOCKS = 500, 20_000, 4
"""With so many blocks for each pair of so many teams there are 998,000 matches."""
QUICK_TEAMS, QUICK_SUBMISSIONS, QUICK_BLOCKS = 50, 1_000, 2
REQUESTS, QUICK_REQUESTS = 300, 40
"""Requests of each page."""
OF_ONE_ACCOUNT = 100
"""Maximum requests of a page that one account alone asks for."""
AT_ONCE = 4
AT_MOST_MS = 300.0
"""Maximum 99th percentile of a page's time, in milliseconds."""
READY_SECONDS = 900.0
"""Seconds in which the first page of matches must have come after the start."""
FILE = 'game = "mist"\nbots = ["mist_random", "mist_cautious"]\nresults = "cup"\n[server]\nmembers = 50\n'
PAGES = (
    "team/",
    "team/matches",
    "team/matches?page=50",
    "team/match/{part}/{match}",
    "team/submission/{submission}",
    "team/members",
    "team/scrimmages",
    "account",
    "queue",
)
HOSTS_PAGES = ("host/", "host/teams")


def fill(database: Path, teams: int, submissions: int) -> tuple[str, list[str], list[str]]:
    """Write teams, members and submissions. Return sessions of a host and of each team, and the submissions."""
    with closing(Database(database)) as opened:
        accounts = Accounts(opened)
        host = accounts.accept(accounts.invite(None), "Ada")
        now = opened.now()
        with closing(sqlite3.connect(database)) as db, db:
            for number in range(teams):
                name = f"some_bot_with_a_name_{number}"
                db.execute("INSERT INTO teams VALUES (?, ?, ?, ?, NULL)", (number + 1, name, name, now))
                db.execute(
                    "INSERT INTO accounts VALUES (?, ?, 0, ?, NULL, ?, NULL)", (number + 2, "Mia", number + 1, now)
                )
            publics = [f"{number:016x}" for number in range(submissions)]
            for number, public in enumerate(publics, 1):
                team = number % teams + 1
                hash_ = f"{number:064x}"
                db.execute("INSERT INTO uploads VALUES (?, 10000, ?, NULL)", (hash_, now))
                db.execute(
                    "INSERT INTO submissions (id, public, team, account, bot, note, upload, filename, state,"
                    " created, changed, counts, published)"
                    " VALUES (?, ?, ?, ?, ?, 'faster', ?, 'bot.zip', 'entered', ?, ?, 1, 0)",
                    (number, public, team, team + 1, f"some_bot_with_a_name_{team - 1}", hash_, now, now),
                )
                for state in ("received", "unpacked", "built", "checked", "entered"):
                    db.execute(
                        "INSERT INTO submission_events (submission, at, state, text) VALUES (?, ?, ?, 'done')",
                        (number, now, state),
                    )
                db.execute(
                    "INSERT INTO jobs (kind, subject, team, competition, created, attempts, begun, ended, cpu_ms)"
                    " VALUES ('submission', ?, ?, 'cup', ?, 1, ?, ?, 5000)",
                    (number, team, now, now, now),
                )
        sessions = [accounts.open_session(account) for account in _members(accounts, teams)]
        return accounts.open_session(host), sessions, publics


def _members(accounts: Accounts, teams: int) -> Iterator[Account]:
    for team in range(1, teams + 1):
        yield from accounts.members(team)


@contextmanager
def growing(ledger: Path) -> Iterator[None]:
    """Let a block count each second, as while a tournament is played."""
    over = Event()

    def grow() -> None:
        with closing(sqlite3.connect(ledger, timeout=60, isolation_level=None)) as db:
            (last,) = db.execute("SELECT max(block) FROM results").fetchone()
            for block in count(last + 1):
                if over.wait(1):
                    return
                db.execute("BEGIN IMMEDIATE")
                db.execute(
                    "INSERT INTO attempts (block, seating, number, transcript, started, ended, played, reports)"
                    " SELECT ?1, seating, 1, transcript, started, ended, json_set(played, '$.block', ?1), reports"
                    " FROM attempts WHERE block = 0",
                    (block,),
                )
                db.execute(
                    "INSERT INTO results SELECT block, seating, id, printf('%064x', id) FROM attempts"
                    " WHERE block = ?",
                    (block,),
                )
                db.execute("COMMIT")

    thread = Thread(target=grow)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Visitors:
    """Browsers of all teams, each request from an address of its own."""

    def __init__(self, port: int, sessions: Sequence[str]) -> None:
        self._base = f"http://127.0.0.1:{port}/"
        self._sessions = sessions
        self._address = count()
        self._rng = random.Random(1)
        self._client = httpx.Client(timeout=READY_SECONDS)

    def get(self, page: str, session: int | None = None) -> float:
        """Return the milliseconds in which a page comes, of a team drawn at random if none is given."""
        secret = self._sessions[self._rng.randrange(len(self._sessions)) if session is None else session]
        address = next(self._address)
        headers = {
            "cookie": f"{SESSION}={secret}",
            "x-forwarded-for": f"10.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}",
        }
        while True:
            began = time.perf_counter()
            answer = self._client.get(f"{self._base}{page}", headers=headers)
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                break
            time.sleep(float(answer.headers["retry-after"]))  # An account has a rate.
        if answer.status_code != httpx.codes.OK:
            sys.exit(f"{page}: {answer.status_code}")
        return (time.perf_counter() - began) * 1000


def timed(visitors: Visitors, pages: Sequence[tuple[str, int | None]], requests: int, name: str) -> bool:
    """Measure requests of a page, some at once. Return whether they are within the bound."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        asked = [pages[number % len(pages)] for number in range(requests)]
        times = sorted(threads.map(lambda each: visitors.get(*each), asked))
    last = times[min(len(times) - 1, int(len(times) * 0.99))]
    middle = statistics.median(times)
    print(f"{name:30} median {middle:6.1f} ms, 99th percentile {last:6.1f} (at most {AT_MOST_MS:g})")
    return last <= AT_MOST_MS


@bench("portal")
def portal(options: argparse.Namespace) -> Judgement:
    """Measure the pages of teams and hosts with 500 teams, 20,000 submissions and 1,000,000 matches.

    The ledger grows by a block each second. `--quick` has 50 teams, 1,000 submissions and 4,900 matches.
    """
    teams, submissions, blocks = TEAMS, SUBMISSIONS, BLOCKS
    requests = QUICK_REQUESTS if options.quick else REQUESTS
    if options.quick:
        teams, submissions, blocks = QUICK_TEAMS, QUICK_SUBMISSIONS, QUICK_BLOCKS
    with TemporaryDirectory(prefix="bench-portal-") as scratch:
        folder = Path(scratch)
        matches = write_results(folder / "cup", teams, blocks=blocks)
        (folder / "cup.toml").write_text(FILE)
        competition = Competition.read(folder / "cup.toml")
        host, sessions, publics = fill(competition.database, teams, submissions)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        print(f"{teams} teams, {submissions:,} submissions, {matches:,} matches")
        words = ("serve", "cup.toml", "--teams", "--behind-proxy", "--port", port)
        with growing(folder / "cup" / LEDGER), running(*words, cwd=folder, ready="serving at"):
            visitors = Visitors(port, sessions)
            print(f"first page of matches after the start: {visitors.get('team/matches') / 1000:.1f} s")
            good = []
            for page in PAGES:
                asked: list[tuple[str, int | None]] = [(page, None)]
                times = requests
                if "{match}" in page:
                    times = min(requests, OF_ONE_ACCOUNT)
                    # Block 0 is of teams 0 and 1, block 1 of 0 and 2, and so on.
                    asked = [(page.format(part="cup", match=f"{block + 1}a"), 0) for block in range(teams - 1)]
                if "{submission}" in page:
                    asked = [
                        (page.format(submission=public), number % teams)
                        for number, public in enumerate(publics[: 10 * teams], 1)
                    ]
                if "?page" in page and matches // teams < 50 * 50:
                    asked = [("team/matches?page=2", None)]
                good.append(timed(visitors, asked, times, page))
            hosts, few = Visitors(port, [host]), min(requests, OF_ONE_ACCOUNT)
            good += [timed(hosts, [(page, None)], few, page) for page in HOSTS_PAGES]
    return all(good)
