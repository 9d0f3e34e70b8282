"""`arena serve` as people run it: a process, real sockets, a real feed, Ctrl-C."""

import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from arena.commands.main import main
from arena.errors import CANNOT, SIGNALLED, WRONG_USE
from arena.feed import open_feed
from arena.tournament import feed_endpoint
from protocol.codec import encode
from tests.arena.commands.test_report import cup
from tests.arena.web.test_live import BEGUN, ended, window
from tests.builders.programs import start_program
from tests.real_wire.processes import PATIENCE_SECONDS, until


@pytest.fixture
def results(tmp_path: Path) -> Path:
    cup(tmp_path)
    return tmp_path / "runs" / "cup"


class Serving:
    """A server of its own."""

    def __init__(self, *arguments: object) -> None:
        self.process = start_program("arena", "serve", "--port", "0", *arguments, stdout=None)
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found, line + self.process.stderr.read()
        self.port = int(found[1])

    def asks(self, path: str, method: str = "GET") -> httpx.Response:
        return httpx.request(method, f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE_SECONDS)

    def has(self, path: str) -> bool:
        """Whether there is such a stream."""
        with httpx.stream("GET", f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE_SECONDS) as answer:
            return answer.status_code == 200

    @contextmanager
    def told(self, path: str) -> Iterator[Iterator[dict[str, Any]]]:
        """Yield the messages of an event stream."""
        with httpx.stream("GET", f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE_SECONDS) as answer:
            assert 200 == answer.status_code
            lines = answer.iter_lines()
            yield (json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: "))

    def ends(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, said


@pytest.fixture
def serving(results: Path) -> Iterator[Serving]:
    made = Serving(results.parent)
    yield made
    made.process.kill()
    made.process.communicate()


def test_pages_are_served_until_ctrl_c(serving: Serving) -> None:
    for path, status in (("/", 200), ("/cup/", 200), ("/cup/matches.html", 200), ("/%2e%2e/etc/passwd", 404)):
        assert status == serving.asks(path).status_code
    head = serving.asks("/cup/", "HEAD")
    assert (200, b"") == (head.status_code, head.content)
    with serving.told("/cup/events") as told:
        assert "changed" == next(told)["type"]
        assert (SIGNALLED + signal.SIGINT, "arena: stopped\n") == serving.ends()


@pytest.mark.slow
def test_a_match_is_followed_from_its_feed_to_its_end(results: Path, serving: Serving) -> None:
    with serving.told("/cup/live/events") as told, open_feed(feed_endpoint(results)) as line:
        assert [] == next(told)["matches"]
        assert line is not None

        def play() -> bool:
            """Publish: what is said before the server listens, nobody hears."""
            begun = replace(BEGUN, alone=True, started=str(time.monotonic()))
            for message in (begun, window(1), ended(2)):
                line.publish("match/m1", encode(message))
            return serving.has("/cup/live/m1/events")

        until(play)
        seen = [next(told)]
        while seen[-1].get("state") != "ended":
            seen.append(next(told))
    assert ["a", "b"] == seen[-1]["players"]
    assert (77, {"1": 1, "0": 2}) == (seen[-1]["view"]["turn"], seen[-1]["places"])


def test_half_a_request_and_a_thousand_headers_delay_no_other_client(serving: Serving) -> None:
    strange = []
    for sent in (b"GET / HT", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 1_000, b"\xff" * 100, b""):
        for _ in range(20):
            client = socket.create_connection(("127.0.0.1", serving.port))
            client.sendall(sent)
            strange.append(client)
    assert 200 == serving.asks("/cup/").status_code
    for client in strange:
        client.close()
    assert 200 == serving.asks("/").status_code


def test_a_port_that_is_taken_is_said_to_be_so(results: Path, serving: Serving) -> None:
    done = CliRunner().invoke(main, ["serve", str(results), "--port", str(serving.port)])
    assert CANNOT == done.exit_code
    assert f"arena: http://127.0.0.1:{serving.port}: the port is in use; --port takes another\n" == done.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--host", "192.0.2.1", "."], "cannot listen there"),
        (["--feed", "http://x", "."], "is neither ipc://PATH nor tcp://ADDRESS:PORT"),
        (["--port", "65536", "."], "0<=x<=65535"),
        (["--feed", "tcp://x", "."], "is neither ipc://PATH nor tcp://ADDRESS:PORT"),
    ],
)
def test_a_folder_that_cannot_be_served_is_refused_in_one_line(
    tmp_path: Path, arguments: list[str], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["serve", "--port", "0", *arguments])
    assert WRONG_USE == done.exit_code
    assert why in done.stderr
    assert 1 == done.stderr.count("\n")
