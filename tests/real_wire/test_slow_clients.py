"""2,000 slow clients of a season's server, over real sockets: people's pages come, and the slow are let go."""

import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from arena.accounts import Accounts, Database
from arena.portal.visit import SESSION
from arena.submissions import Competition
from tests.builders.tournaments import write_tournament
from tests.real_wire.processes import until

pytestmark = [pytest.mark.slow, pytest.mark.alone]
CLIENTS = 2_000
ADDRESSES = 20
"""Number of addresses from which they come."""
UNREAD = 60
"""Requests that a client sends at once, whose answers are more than sockets hold."""
PAGE_SECONDS = 60.0
"""Seconds in which a person's page must come, on a machine that may be busy."""
LET_GO_SECONDS = 240.0
"""Seconds in which all slow clients must be let go; the longest bound is 30 s for what is not read."""
FORM = b"content-type: application/x-www-form-urlencoded\r\n"


class Served:
    """`arena serve --teams` as a process, with a host who is signed in."""

    def __init__(self, folder: Path, files: int) -> None:
        file = write_tournament(folder / "cup.toml", ["mist_random", "mist_cautious"])
        competition = Competition.read(file)
        with closing(Database(competition.database)) as database:
            accounts = Accounts(database)
            secret = accounts.open_session(accounts.accept(accounts.invite(None), "Ada"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.person = httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            cookies={SESSION: secret},
            headers={"x-forwarded-for": "198.51.100.1"},
            timeout=PAGE_SECONDS,
        )
        command = [sys.executable, "-m", "arena", "serve", str(file), "--teams", "--port", str(self.port)]
        command.append("--behind-proxy")
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(  # noqa: S603 - ours
                command,
                cwd=folder,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),  # noqa: PLW1509
            )
        until(self.answers)

    def answers(self) -> bool:
        try:
            return self.person.get("/healthz").status_code in {HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE}
        except httpx.TransportError:
            return False

    @property
    def files(self) -> int:
        """Number of the process's open files."""
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())

    def close(self) -> None:
        self.person.close()
        self.process.terminate()
        self.process.wait(60)


@contextmanager
def serving(folder: Path, files: int) -> Iterator[Served]:
    with closing(Served(folder, files)) as served:
        yield served


def connect(port: int) -> socket.socket:
    """Connect, with little room for what is not read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
    client.settimeout(PAGE_SECONDS)
    client.connect(("127.0.0.1", port))
    return client


def ways(port: int, number: int) -> tuple[tuple[bytes, bytes], ...]:
    """Return what each kind of slow client sends at first, and then again and again.

    They come through a proxy from some addresses.
    """
    host = f"127.0.0.1:{port}"
    common = f"host: {host}\r\norigin: http://{host}\r\nx-forwarded-for: 192.0.2.{number % ADDRESSES}\r\n".encode()
    page = b"GET /glossary.html HTTP/1.1\r\n" + common
    form = b"POST /sign-in HTTP/1.1\r\n" + common + FORM
    return (
        (b"", b""),
        (page + b"x-slow: ", b"a"),
        (form + b"content-length: 1000\r\n\r\n", b"a"),
        (form + b"transfer-encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
        (page + b"\r\n", b""),
        ((page + b"\r\n") * UNREAD, b""),
    )


class Slow:
    """A slow client."""

    def __init__(self, port: int, number: int) -> None:
        kinds = ways(port, number)
        begin, self._drop = kinds[number % len(kinds)]
        self.reads = number % len(kinds) < len(kinds) - 1
        """False if it asks for much and reads none of it."""
        self.socket = connect(port)
        self.socket.sendall(begin)
        self.socket.setblocking(False)

    def is_let_go(self) -> bool:
        """Send a little, and read what there is; return whether the server has ended the connection."""
        try:
            if self._drop:
                self.socket.send(self._drop)
            while self.socket.recv(65_536):
                pass
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True


def test_with_2000_slow_clients_a_persons_page_comes_and_they_are_let_go(tmp_path: Path) -> None:
    with serving(tmp_path, 10_000) as served, ExitStack() as sockets:
        before = served.files
        clients: list[Slow] = []
        for number in range(CLIENTS):
            clients.append(Slow(served.port, number))
            sockets.callback(clients[-1].socket.close)
            if number % 100 == 0:
                assert HTTPStatus.OK == served.person.get("/host/").status_code
        for path in ("/host/", "/host/teams", "/queue", "/index.html", "/account") * 4:
            assert HTTPStatus.OK == served.person.get(path).status_code, path
        ends = time.monotonic() + LET_GO_SECONDS
        reading = [client for client in clients if client.reads]
        while reading := [client for client in reading if not client.is_let_go()]:
            assert time.monotonic() < ends, f"{len(reading)} clients are still connected"
            time.sleep(0.5)
        until(lambda: served.files <= before + 5)  # Also those who read nothing are let go.
        assert HTTPStatus.OK == served.person.get("/host/").status_code


def test_a_server_with_few_descriptors_refuses_in_words_and_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path, 300) as served, ExitStack() as sockets:
        clients = [sockets.enter_context(connect(served.port)) for _ in range(600)]
        answers = []
        for client in clients[-20:]:
            with suppress(ConnectionResetError):
                answers.append(client.recv(1_000))
        assert not [answer for answer in answers if answer and b" 503 " not in answer]
        sockets.close()
        until(lambda: served.answers() and served.person.get("/host/").status_code == HTTPStatus.OK)
        assert served.process.poll() is None
        log = served.log.read_text()
        assert "Too many open files" not in log
        assert "Traceback" not in log
