"""Notices over a real line to servers of all kinds: none holds up the arena, and none hears or tells a secret."""

import json
import logging
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import trio
from structlog.testing import CapturingLogger

from arena.tournament import notices
from arena.tournament.notices import Notice, open_notices
from referee.log import SILENT

PATH = "/hooks/S3CRET?key=S3CRET"
NOTICE = Notice(event="void", tournament="cup", at="now", text="a block was void 3 times in a row", count=3)
Behave = Callable[[socket.socket, int], None]


class Server:
    """Hears requests, and behaves as it is told to: `behave(line, number of the request)`."""

    def __init__(self, behave: Behave) -> None:
        self.heard: list[tuple[str, Any]] = []
        self._behave = behave
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}{PATH}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self._socket.accept()
                line.settimeout(5)
                threading.Thread(target=self._hear, args=[line], daemon=True).start()

    def _hear(self, line: socket.socket) -> None:
        with line, suppress(OSError):
            self._answer(line)

    def _answer(self, line: socket.socket) -> None:
        got = b""
        while b"\r\n\r\n" not in got:
            got += line.recv(65536)
        head, _, body = got.partition(b"\r\n\r\n")
        size = next(int(each[15:]) for each in head.lower().splitlines() if each.startswith(b"content-length:"))
        while len(body) < size:
            body += line.recv(65536)
        self.heard.append((head.decode().splitlines()[0], json.loads(body)))
        self._behave(line, len(self.heard))


def answer(status: str, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "content-length: 0", "connection: close", *headers, "", ""]).encode()


def answers(*all_answers: bytes) -> Behave:
    """One after the other, the last one for ever."""
    return lambda line, number: line.sendall(all_answers[min(number, len(all_answers)) - 1])


@pytest.fixture
def served() -> Iterator[Callable[[Behave], Server]]:
    servers: list[Server] = []

    def serve(behave: Behave) -> Server:
        servers.append(Server(behave))
        return servers[-1]

    yield serve
    for server in servers:
        server.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"FIRST_WAIT": 0.01, "LONGEST_WAIT": 0.05, "CLOSE_SECONDS": 30.0, "TRIES": 4}.items():
        monkeypatch.setattr(notices, name, value)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "ANSWER_SECONDS", 0.3)


def silent(_line: socket.socket, _number: int) -> None:
    """Never answers, as far as anybody here waits."""
    time.sleep(60)


def sent(url: str, *, wait: Callable[[], bool] = lambda: True) -> None:
    """Send a notice, and continue once `wait` is true."""
    with open_notices(url) as tell:
        tell(NOTICE)
        until(wait)


def until(what: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if what():
            return
        time.sleep(0.01)


def test_a_notice_arrives_once_as_json(served: Callable[[Behave], Server]) -> None:
    server = served(answers(answer("204 No Content")))
    sent(server.url)
    text = {
        "event": "void",
        "tournament": "cup",
        "at": "now",
        "text": "a block was void 3 times in a row",
        "count": 3,
    }
    assert [(f"POST {PATH} HTTP/1.1", text)] == server.heard


@pytest.mark.parametrize("first", ["503 Later", "429 Too Many", "500 Oh", "408 Slow"])
def test_a_server_that_fails_is_tried_again(
    served: Callable[[Behave], Server], first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server = served(answers(answer(first, "retry-after: 99999999"), b"", answer("200 OK")))
    sent(server.url, wait=lambda: len(server.heard) == 3)
    assert (3, "") == (len(server.heard), capsys.readouterr().err)


@pytest.mark.parametrize(
    ("behave", "tries", "said"),
    [
        (answers(answer("503 Later")), 4, "answers 503"),
        (answers(answer("404 S3CRET")), 1, "answers 404"),
        (answers(b"S3CRET is no HTTP\r\n\r\n"), 4, "cannot be reached (RemoteProtocolError)"),
        (answers(b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000), 4, "cannot be reached (RemoteProtocolError)"),
        (answers(b""), 4, "cannot be reached (RemoteProtocolError)"),
    ],
)
def test_a_lost_notice_is_reported_without_the_secret(
    *,
    served: Callable[[Behave], Server],
    behave: Behave,
    tries: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = served(behave)
    log = CapturingLogger()
    with caplog.at_level(logging.DEBUG), open_notices(server.url, log) as tell:
        tell(NOTICE)
        until(lambda: bool(log.calls))
    err = capsys.readouterr().err
    assert f"notices: 127.0.0.1: {said}: lost a notice (void)\n" == err
    assert tries == len(server.heard)
    (call,) = log.calls
    assert ("warning", {"host": "127.0.0.1", "reason": f"{said}: lost a notice (void)"}) == (
        call.method_name,
        call.kwargs,
    )
    assert "S3CRET" not in f"{err}{log.calls}{caplog.text}"


def test_a_redirect_is_not_followed(
    served: Callable[[Behave], Server], capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = served(answers(answer("200 OK")))
    server = served(answers(answer("307 Elsewhere", f"location: {elsewhere.url}")))
    sent(server.url)
    assert (1, []) == (len(server.heard), elsewhere.heard)
    assert "answers 307, a redirect, which is not followed: lost a notice" in capsys.readouterr().err


def test_an_answer_without_an_end_is_not_read(served: Callable[[Behave], Server]) -> None:
    written = []

    def endless(line: socket.socket, number: int) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        with suppress(OSError):
            while True:
                written.append(line.send(b"10000\r\n" + b"x" * 0x10000 + b"\r\n"))

    server = served(endless)
    sent(server.url)
    assert 1 == len(server.heard)
    assert sum(written) < 50_000_000


def drip(line: socket.socket, _number: int) -> None:
    """Each byte comes in time; all of them never would."""
    for _ in range(1_000):
        line.sendall(b"H")
        time.sleep(0.05)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("behave", [silent, drip])
def test_a_server_that_does_not_come_to_an_end_is_given_up(
    served: Callable[[Behave], Server], behave: Behave, capsys: pytest.CaptureFixture[str]
) -> None:
    server = served(behave)
    with open_notices(server.url) as tell:
        tell(NOTICE)
        until(lambda: len(server.heard) == 4)
    assert "notices: 127.0.0.1: does not answer in 0 s: lost a notice (void)\n" == capsys.readouterr().err


def test_notices_to_a_closed_port_are_reported_as_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "SOON", 30.0)  # A busy machine may take more than a second.
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))  # Does not listen, and no other program can take the port.
        sent(f"http://127.0.0.1:{unheard.getsockname()[1]}{PATH}")
    assert (
        "notices: 127.0.0.1: cannot be reached (ConnectError): lost a notice (void)\n" == capsys.readouterr().err
    )


def test_waiting_notices_are_bounded_and_the_end_does_not_wait_for_ever(
    served: Callable[[Behave], Server], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "CLOSE_SECONDS", 0.3)
    monkeypatch.setattr(notices, "SOON", 0.1)
    server = served(silent)
    began = time.monotonic()
    with open_notices(server.url) as tell:
        tell(NOTICE)
        until(lambda: bool(server.heard))
        for _ in range(200):
            tell(NOTICE)
    assert time.monotonic() - began < notices.ANSWER_SECONDS
    assert [
        "notices: 127.0.0.1: 51 notices to be sent, for up to 0 s",
        "notices: 127.0.0.1: 51 notices could not be sent in time",
        "notices: 127.0.0.1: 150 notices left out: 50 waited already",
    ] == capsys.readouterr().err.splitlines()


def test_without_a_url_nothing_is_sent() -> None:
    before = threading.active_count()
    with open_notices(None) as tell:
        tell(NOTICE)
        assert before == threading.active_count()


async def times_of_posts(
    monkeypatch: pytest.MonkeyPatch, longest: float, *, closes_at: float = math.inf
) -> list[float]:
    """Return the times of tries at a server that always fails, in seconds of a clock that jumps."""
    for name, value in {"FIRST_WAIT": 1.0, "LONGEST_WAIT": longest, "TRIES": 8}.items():
        monkeypatch.setattr(notices, name, value)
    sender, times = object.__new__(notices.Sender), list[float]()
    sender._host, sender._log, sender._closing = "h", SILENT, trio.Event()
    sender._queue, sender._scope = trio.open_memory_channel[Notice](1)[0], trio.CancelScope()

    async def post(*_: object) -> tuple[str, bool, None]:
        times.append(trio.current_time())
        return "answers 503", True, None

    async def close() -> None:
        await trio.sleep_until(closes_at)
        sender._end()

    monkeypatch.setattr(sender, "_post", post)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(close)
        await sender._deliver(None, NOTICE)  # type: ignore[arg-type]
        nursery.cancel_scope.cancel()
    return [at - times[0] for at in times]


async def test_each_wait_is_twice_the_one_before_up_to_the_longest(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    assert [0, 1, 3, 7, 15, 25, 35, 45] == await times_of_posts(monkeypatch, 10.0)


async def test_at_the_end_of_a_command_no_try_waits_for_longer_than_a_second(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    closes_at = trio.current_time() + 9.5
    assert [0, 1, 3, 7, 10.5, 11.5, 12.5, 13.5] == await times_of_posts(monkeypatch, 10.0, closes_at=closes_at)
