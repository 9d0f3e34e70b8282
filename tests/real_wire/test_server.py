"""The season's server as hosts run it: its processes are killed, it is killed itself, and starts again."""

import io
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import httpx
import pytest

from arena.accounts import DATABASE, Accounts, Database
from arena.portal.supervisor import ProcessReport, read_reports
from arena.tournament import LEDGER
from tests.builders.tournaments import write_tournament
from tests.real_wire.processes import alive, family, until
from tests.real_wire.test_clocks import back, preloaded

__all__ = ["back", "preloaded"]
pytestmark = pytest.mark.slow
ARENA = (sys.executable, "-m", "arena")
RESULTS = "SELECT count(*) FROM results"
PLAYED_TWICE = """
    SELECT count(*) FROM (
        SELECT 1 FROM attempts WHERE played IS NOT NULL AND set_aside IS NULL
        GROUP BY block, seating HAVING count(*) > 1
    )
"""
LADDER = ('format = "ladder"', "endless = true", 'results = "runs"')


class Server:
    """`arena serve --play` of an endless ladder."""

    def __init__(self, folder: Path, *more: str, on: str = "local") -> None:
        """`more`: further lines of its file; `on`: where it plays."""
        self.folder = folder
        self._on = on
        self.file = write_tournament(folder / "cup.toml", ["mist_random", "mist_cautious"], *LADDER, *more)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.running: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server; return it once it answers."""
        with (self.folder / "log").open("ab") as log:
            self.running = subprocess.Popen(self.command, cwd=self.folder, stdout=log, stderr=log)  # noqa: S603 - ours
        until(self.answers)
        return self.running

    def stop(self) -> None:
        """Stop the server in order, if it runs."""
        if self.running is not None and self.running.poll() is None:
            self.running.send_signal(signal.SIGTERM)
            self.running.wait(90)

    def try_start(self) -> "subprocess.CompletedProcess[str]":
        """Start the server where it cannot work."""
        return subprocess.run(  # noqa: S603 - ours
            self.command, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False
        )

    @property
    def command(self) -> list[str]:
        return [*ARENA, "serve", str(self.file), "--play", "--port", str(self.port), "--on", self._on]

    def answers(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/queue").status_code == 200
        except httpx.TransportError:
            return False

    def health(self) -> str:
        """Return what the server says is wrong with it; "too often" if it was asked too often."""
        return str(httpx.get(f"http://127.0.0.1:{self.port}/healthz").json().get("reason", "too often"))

    def report(self, name: str) -> ProcessReport | None:
        """Return the supervisor's report of a process that runs."""
        for each in read_reports(self.folder / "runs" / "server"):
            if each.name == name and each.state == "runs":
                return each
        return None

    def kill(self, name: str) -> None:
        """Kill a process, and wait until it has been started again."""
        before = until(lambda: self.report(name))
        assert before is not None
        assert before.pid is not None
        os.kill(before.pid, signal.SIGKILL)
        until(lambda: (now := self.report(name)) is not None and now.starts > before.starts)

    def value(self, query: str) -> int:
        """Return the one number that a query of the ledger finds; 0 if there is no ledger yet."""
        ledger = self.folder / "runs" / LEDGER
        try:
            with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
                return int(connection.execute(query).fetchone()[0])
        except sqlite3.OperationalError:
            return 0

    def plays(self) -> int:
        """Wait until more has been played; return how many results there are."""
        before = self.value(RESULTS)
        return until(lambda: max(0, self.value(RESULTS) - before)) + before


def bot_archive(folder: Path, version: str) -> bytes:
    """Return an archive of a bot that plays Mist; another one for each version."""
    bot = folder / "my_bot"
    if not bot.exists():
        subprocess.run([*ARENA, "new-bot", str(bot)], check=True, capture_output=True)  # noqa: S603 - ours
    (bot / "version.txt").write_text(version)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        tar.add(bot, ".")
    return archive.getvalue()


def entered(results: Path) -> int:
    """Return the number of submissions that have entered."""
    with closing(Database(results / "server" / DATABASE)) as database:
        return int(database.value("SELECT count(*) FROM submissions WHERE entered IS NOT NULL"))


def ended(descendants: set[str]) -> bool:
    return not alive(descendants)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    tmp_path.chmod(0o755)  # Bots of root run as others.
    server = Server(tmp_path)
    yield server
    server.stop()


def test_whatever_is_killed_the_server_goes_on(server: Server) -> None:
    running = server.start()
    server.plays()
    for name in ("play", "judge", "serve"):
        server.kill(name)
    until(server.answers)
    server.plays()
    health = httpx.get(f"http://127.0.0.1:{server.port}/healthz").json()
    assert health["processes"] == {"play": "runs", "judge": "runs", "serve": "runs"}
    metrics = httpx.get(f"http://127.0.0.1:{server.port}/metrics").text
    assert 'arena_process_starts{process="judge"} 2.0' in metrics
    second = server.try_start()
    assert second.returncode == 2
    assert "another supervisor (arena serve --play) is at work there now" in second.stderr
    assert second.stderr.count("\n") == 1

    descendants = family(running.pid)
    running.kill()
    running.wait()
    until(partial(ended, descendants))
    assert {each.state for each in read_reports(server.folder / "runs" / "server")} == {"stopped"}

    for number in (signal.SIGINT, signal.SIGTERM):
        running = server.start()
        results = server.plays()
        descendants = family(running.pid)
        running.send_signal(number)
        assert running.wait(90) == 128 + number
        until(partial(ended, descendants))
        assert server.value(RESULTS) >= results
    assert server.value(PLAYED_TWICE) == 0


def test_a_supervisor_that_hangs_is_named_until_it_goes_on(server: Server) -> None:
    """Each process shows signs of life, by which that is noticed."""
    running = server.start()
    folder = server.folder / "runs" / "server"
    until(lambda: {path.stem for path in folder.glob("*.life")} == {"supervisor", "play", "judge", "serve"})
    assert server.health() == ""
    running.send_signal(signal.SIGSTOP)
    try:
        until(lambda: server.health().startswith("supervisor hangs: no sign of life for "))
    finally:
        running.send_signal(signal.SIGCONT)
    until(lambda: server.health() == "")


def test_a_port_in_use_is_said_in_one_line_before_anything_starts(server: Server) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", server.port))
        taken.listen()
        answer = server.try_start()
    assert answer.returncode != 0
    assert "the port is in use; --port takes another" in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert not (server.folder / "runs" / LEDGER).exists()


def token_of_team(results: Path) -> str:
    """Return a token of Mia of the Red Pandas, who hands in bots; the database is made, too."""
    with closing(Database(results / "server" / DATABASE)) as database:
        accounts = Accounts(database)
        mia = accounts.accept(accounts.invite(accounts.new_team("Red Pandas").id), "Mia")
        return accounts.new_token(mia, "test", "submit")


def test_a_server_restored_from_a_backup_goes_on_where_it_was(server: Server) -> None:
    """The backup is made while the server plays and judges; then all of its results are lost."""
    results = server.folder / "runs"
    token = token_of_team(results)
    running = server.start()
    with httpx.Client(
        base_url=f"http://127.0.0.1:{server.port}/api/v1/", headers={"authorization": f"Bearer {token}"}
    ) as program:
        assert program.post("submissions", content=bot_archive(server.folder, "1")).status_code == 201
        until(lambda: entered(results) == 1)
        assert program.post("submissions", content=bot_archive(server.folder, "2")).status_code == 201
        made = subprocess.run(  # noqa: S603 - ours
            [*ARENA, "backup", str(server.file), "backup"], cwd=server.folder, capture_output=True, check=False
        )
        assert made.returncode == 0, made.stderr
        descendants = family(running.pid)
        running.kill()
        running.wait()
        until(partial(ended, descendants))
        shutil.rmtree(results)
        shutil.copytree(server.folder / "backup", results)
        server.start()
        assert program.get("me").json()["team"] == "Red Pandas"
        until(lambda: entered(results) == 2)
    server.plays()
    assert server.value(PLAYED_TWICE) == 0
    checked = subprocess.run(  # noqa: S603 - ours
        [*ARENA, "backup", "--check", "backup"], cwd=server.folder, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, "2 uploads verified" in checked.stdout) == (0, True), checked


def test_a_clock_that_is_set_back_and_forward_stops_nothing(server: Server, back: Path) -> None:
    """It is set back by two days while the server runs, which loses all processes at once, as in a power cut.

    It is set forward again after that.
    """
    results = server.folder / "runs"
    token = token_of_team(results)
    running = server.start()
    with httpx.Client(
        base_url=f"http://127.0.0.1:{server.port}/", headers={"authorization": f"Bearer {token}"}, timeout=60
    ) as program:

        def hand_in(version: str) -> None:
            assert (
                program.post("api/v1/submissions", content=bot_archive(server.folder, version)).status_code == 201
            )
            until(lambda: entered(results) == int(version))
            assert program.get("healthz").json()["reason"] == ""

        hand_in("1")
        back.touch()
        hand_in("2")
        descendants = family(running.pid)
        running.kill()
        for each in descendants:
            with suppress(ProcessLookupError):
                os.kill(int(each.split()[0]), signal.SIGKILL)
        running.wait()
        until(partial(ended, descendants))
        server.start()
        hand_in("3")
        back.unlink()
        hand_in("4")
        assert program.get("api/v1/me").json()["quota"]["used_today"] == 4
    server.plays()
    assert server.value(PLAYED_TWICE) == 0
    log = (server.folder / "log").read_text()
    assert "this machine's clock was set back" in log
    assert "Traceback" not in log
