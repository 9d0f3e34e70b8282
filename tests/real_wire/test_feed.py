"""The live feed as subscribers get it: over ZeroMQ, from processes, whatever they do or leave undone."""

import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from select import select
from typing import Any

import msgspec
import pytest
import zmq

from arena.errors import DONE, WrongUse
from arena.feed.lines import MAX_BYTES, FeedLine, open_feed
from arena.feed.process import MAX_MEMORY_BYTES, MAX_WAITING, CannotListenError, _check_port
from protocol.feed import FeedBegun, FeedEnded, FeedMessage, FeedSnapshot, FeedStandings
from tests.builders.programs import start_program
from tests.docs_pages import blocks
from tests.long import mostly_slow
from tests.real_wire.processes import PATIENCE_SECONDS, alive, children, family, until

Subscribe = Callable[[str], "zmq.Socket[bytes]"]
MIB = 1024 * 1024
LISTENS_NEVER = """
import sys, zmq
socket = zmq.Context().socket(zmq.SUB)
socket.setsockopt(zmq.RCVHWM, 1)
socket.setsockopt(zmq.RCVBUF, 4096)
socket.connect(sys.argv[1])
socket.subscribe(b"")
print("connected", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def endpoint(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/feed"


@pytest.fixture
def subscribe() -> Iterator[Subscribe]:
    """Connect subscribers to an endpoint, where nobody may be listening yet."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    subscribers = []

    def subscribed(endpoint: str) -> "zmq.Socket[bytes]":
        subscriber = context.socket(zmq.SUB)
        subscribers.append(subscriber)
        subscriber.setsockopt(zmq.RECONNECT_IVL, 5)
        subscriber.connect(endpoint)
        subscriber.subscribe(b"")
        return subscriber

    yield subscribed
    for subscriber in subscribers:
        subscriber.close(linger=0)
    context.term()


@pytest.fixture
def line(endpoint: str) -> Iterator[FeedLine]:
    with open_feed(endpoint) as line:
        assert line is not None
        yield line


def received(subscriber: "zmq.Socket[bytes]") -> tuple[str, bytes]:
    assert subscriber.poll(PATIENCE_SECONDS * 1000)
    topic, message = subscriber.recv_multipart()
    return topic.decode(), message


def joined(line: FeedLine, subscriber: "zmq.Socket[bytes]") -> None:
    """Return once the subscriber hears what is published, and has heard all that was."""
    while not subscriber.poll(10):
        line.publish("joined", b"yet?")
    # Once: so few are not dropped, and a second one would be heard by whoever asked.
    line.publish("joined", b"now")
    while received(subscriber) != ("joined", b"now"):
        pass


def publish_surely(line: FeedLine, subscriber: "zmq.Socket[bytes]", message: bytes) -> None:
    """Publish until it is heard, since anything may be dropped. Forget what was heard before."""
    while True:
        line.publish("end", message)
        while subscriber.poll(10):
            if received(subscriber) == ("end", message):
                return


def publisher() -> int:
    """Return the process that publishes, which is this one's only child."""
    (pid,) = [
        child
        for child in children(os.getpid())
        if b"arena.feed.process" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    return pid


def memory(pid: int) -> int:
    """Return a process's resident memory, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(next(row.split()[1] for row in status.splitlines() if row.startswith("VmRSS:")))


WRONG = {
    "nonsense": "is neither ipc://PATH nor tcp://ADDRESS:PORT",
    "ipc:///no/such/folder/feed": "cannot listen there: No such file or directory",
    "tcp://nowhere": "the port must be a number up to 65535, or *",
    "tcp://nowhere.invalid:5555": "cannot listen there: No such device",
    "tcp://192.0.2.1:5555": "cannot listen there: Cannot assign requested address",
    "ipc://": "ipc:// takes a path",
    "inproc://here": "is neither ipc://PATH nor tcp://ADDRESS:PORT",
    "ipc://@name": "ipc:// takes a path",
    f"ipc:///{'long/' * 100}": "cannot listen there: ",
    "tcp://127.0.0.1:": "the port must be a number up to 65535, or *",
    "tcp://127.0.0.1:99999": "the port must be a number up to 65535, or *",
    "tcp://127.0.0.1:-1": "the port must be a number up to 65535, or *",
}
"""Endpoints, and why they are none: one of each kind comes first."""


class TestEndpoint:
    def test_any_free_tcp_port_can_be_requested_and_is_printed(
        self, subscribe: Subscribe, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with open_feed("tcp://127.0.0.1:*") as line:
            assert line is not None
            subscriber = subscribe(capfd.readouterr().err.removeprefix("feed at ").strip())
            joined(line, subscriber)

    def test_without_an_endpoint_there_is_no_feed(self) -> None:
        with open_feed(None) as line:
            assert line is None

    @pytest.mark.parametrize("wrong", mostly_slow(5, WRONG))
    def test_a_bad_one_is_refused_in_one_line(self, wrong: str) -> None:
        with pytest.raises(WrongUse) as caught, open_feed(wrong):
            pass
        assert caught.value.message.startswith(f"--feed {wrong}: {WRONG[wrong]}")
        assert "\n" not in caught.value.message

    def test_the_highest_port_is_65535(self) -> None:
        _check_port("65535")
        with pytest.raises(CannotListenError, match="up to 65535"):
            _check_port("65536")

    def test_one_that_is_in_use_is_refused(self, line: FeedLine, endpoint: str) -> None:
        with pytest.raises(WrongUse, match="another program already does"), open_feed(endpoint):
            pass
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(WrongUse, match="Address already in use"), open_feed(f"tcp://127.0.0.1:{port}"):
                pass

    def test_a_file_that_is_no_socket_stays_and_is_refused(self, tmp_path: Path) -> None:
        """ZeroMQ would delete it."""
        file = tmp_path / "precious"
        file.write_text("precious")
        with pytest.raises(WrongUse, match="not a socket"), open_feed(f"ipc://{file}"):
            pass
        assert "precious" == file.read_text()

    def test_a_socket_that_was_left_behind_is_no_hindrance_and_none_is_left(self, endpoint: str) -> None:
        path = Path(endpoint.removeprefix("ipc://"))
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(path))
        with open_feed(endpoint):
            assert 0 == stat.S_IMODE(path.stat().st_mode) & 0o077
        assert not path.exists()


class TestSubscribers:
    def test_published_messages_are_received_in_order_under_their_topic(
        self, line: FeedLine, endpoint: str, subscribe: Subscribe
    ) -> None:
        subscriber = subscribe(endpoint)
        joined(line, subscriber)
        for number in range(100):
            line.publish(f"match/{number}", b'{"a":"line\\nbreak"}\n%d' % number)
        assert [(f"match/{n}", b'{"a":"line\\nbreak"}\n%d' % n) for n in range(100)] == [
            received(subscriber) for _ in range(100)
        ]

    def test_the_last_published_messages_are_still_delivered(self, endpoint: str, subscribe: Subscribe) -> None:
        subscriber = subscribe(endpoint)
        with open_feed(endpoint) as line:
            assert line is not None
            joined(line, subscriber)
            for number in range(200):
                line.publish("last", b"%d" % number)
        assert [b"%d" % number for number in range(200)] == [received(subscriber)[1] for _ in range(200)]

    def test_a_subscriber_that_never_reads_neither_takes_memory_nor_delays_others(
        self, line: FeedLine, endpoint: str, subscribe: Subscribe
    ) -> None:
        command = [sys.executable, "-c", LISTENS_NEVER, endpoint]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as deaf:  # noqa: S603
            assert deaf.stdin is not None
            assert deaf.stdout is not None
            assert b"connected\n" == deaf.stdout.readline()
            reader = subscribe(endpoint)
            joined(line, reader)
            message = b"x" * 4096
            before = [memory(os.getpid()), memory(publisher())]
            heard = 0
            for _ in range(100):
                for _ in range(100):
                    line.publish("much", message)
                while reader.poll(10):
                    heard += len(received(reader)[1])
            publish_surely(line, reader, b"done")
            grown = [
                after - was for after, was in zip([memory(os.getpid()), memory(publisher())], before, strict=True)
            ]
            # What waits for the reader in this process is the reader's.
            assert grown[0] < 16 * MIB
            assert grown[1] < MAX_WAITING * 2 * len(message) + 16 * MIB
            assert heard > 0
            deaf.stdin.close()

    def test_while_the_publisher_stands_still_messages_are_dropped_and_their_numbers_tell(
        self, line: FeedLine, endpoint: str, subscribe: Subscribe
    ) -> None:
        subscriber = subscribe(endpoint)
        joined(line, subscriber)
        os.kill(publisher(), signal.SIGSTOP)
        before = memory(os.getpid())
        for number in range(20_000):
            line.publish("n", b"%1000d" % number)
        grown = memory(os.getpid()) - before
        os.kill(publisher(), signal.SIGCONT)
        heard = []
        for number in range(20_000, 10**9):
            line.publish("n", b"%1000d" % number)
            if subscriber.poll(1):
                heard.append(int(received(subscriber)[1]))
                if heard[-1] >= 20_000:
                    break
        assert grown < MIB
        assert heard == sorted(heard)
        assert 0 == heard[0]
        assert max(b - a for a, b in pairwise(heard)) > 10_000

    def test_a_message_too_large_for_the_way_is_dropped(
        self, line: FeedLine, endpoint: str, subscribe: Subscribe
    ) -> None:
        subscriber = subscribe(endpoint)
        joined(line, subscriber)
        line.publish("large", b"x" * 2 * MAX_BYTES)
        line.publish("small", b"x")
        assert ("small", b"x") == received(subscriber)

    def test_one_that_subscribes_without_end_may_end_the_feed_and_nothing_else(
        self, endpoint: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with open_feed(endpoint) as line:
            assert line is not None
            pid = publisher()
            assert (MAX_MEMORY_BYTES,) * 2 == resource.prlimit(pid, resource.RLIMIT_DATA)
            # Less, so that it is soon reached.
            resource.prlimit(pid, resource.RLIMIT_DATA, (memory(pid) + 32 * MIB,) * 2)
            with zmq.Context() as context, context.socket(zmq.XSUB) as greedy:
                greedy.setsockopt(zmq.LINGER, 0)
                greedy.connect(endpoint)
                rng = Random(1)
                before = memory(os.getpid())
                while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                    if greedy.poll(1, zmq.POLLOUT):
                        greedy.send(b"\x01" + rng.randbytes(200))
                    line.publish("going", b"on")
                assert memory(os.getpid()) - before < 64 * MIB
            line.publish("gone", b"on")
        assert "the feed had ended before" in capfd.readouterr().err


class TestPage:
    def test_the_subscriber_of_the_page_has_ten_lines_and_prints_a_match(
        self, line: FeedLine, endpoint: str, tmp_path: Path
    ) -> None:
        (block,) = blocks("python subscriber")
        assert 10 == len([row for row in block.text.splitlines() if row])
        program = block.text.replace("ipc:///tmp/arena-feed", endpoint)
        assert program != block.text
        with subprocess.Popen(  # noqa: S603 - the page's own program
            [sys.executable, "-u", "-c", program], stdout=subprocess.PIPE, text=True
        ) as subscriber:
            assert subscriber.stdout is not None
            publish = iter(
                partial(line.publish, "match/m", b'{"type":"event","n":1,"event":{"type":"sun"}}'), True
            )
            while not select([subscriber.stdout], [], [], 0.02)[0]:
                next(publish)
            line.publish("standings", b'{"type":"standings","n":0}')
            line.publish("match/m", b'{"type":"ended","n":2}')
            rows = subscriber.stdout.read().splitlines()
        assert 0 == subscriber.returncode
        assert {"match/m 1 event {'type': 'sun'}"} == set(rows[:-1])
        assert "match/m 2 ended " == rows[-1]


class TestCommands:
    def run(self, endpoint: str, *arguments: str | Path) -> "subprocess.Popen[str]":
        return start_program("arena", *arguments, "--isolation", "none", "--json", "--feed", endpoint)

    def outcome(self, process: "subprocess.Popen[str]") -> Any:
        output, complaints = process.communicate()
        assert DONE == process.returncode, complaints
        return json.loads(output)

    def heard(
        self, subscriber: "zmq.Socket[bytes]", process: "subprocess.Popen[str]"
    ) -> Iterator[tuple[str, FeedMessage]]:
        """All that comes until the process has ended, and what comes then."""
        while process.poll() is None or subscriber.poll(200):
            if subscriber.poll(10):
                topic, message = received(subscriber)
                yield topic, msgspec.json.decode(message, type=FeedMessage)

    @pytest.mark.slow
    def test_a_match_is_told_to_its_outcome_and_its_transcripts_head(
        self, endpoint: str, subscribe: Subscribe, tmp_path: Path
    ) -> None:
        subscriber = subscribe(endpoint)
        process = self.run(endpoint, "match", "mist", "mist_random", "mist_cautious", "--transcripts", tmp_path)
        told = list(self.heard(subscriber, process))
        outcome = self.outcome(process)
        assert {f"match/{outcome['match']}"} == {topic for topic, _ in told}
        numbers = [message.n for _, message in told if not isinstance(message, FeedSnapshot)]
        assert list(range(numbers[0], numbers[0] + len(numbers))) == numbers
        ended = told[-1][1]
        assert isinstance(ended, FeedEnded)
        assert ended.outcome is not None
        assert (outcome["head"], outcome["outcome"]["winners"]) == (ended.head, list(ended.outcome.winners))

    @pytest.mark.slow
    def test_a_tournament_is_told_by_match_and_by_its_standings(
        self, endpoint: str, subscribe: Subscribe, tmp_path: Path
    ) -> None:
        subscriber = subscribe(endpoint)
        file = tmp_path / "cup.toml"
        file.write_text(
            'game = "mist"\nbots = ["mist_random", "mist_cautious"]\nblocks = 3\noptions.max_turns = 6\n'
        )
        words = ("--no-check", "--concurrency", "2", "--workers", "2")
        process = self.run(endpoint, "tournament", file, *words)
        told = list(self.heard(subscriber, process))
        results = self.outcome(process)
        standings = [message for topic, message in told if topic == "standings"]
        assert all(isinstance(message, FeedStandings) for message in standings)
        last = standings[-1]
        assert isinstance(last, FeedStandings)
        assert (True, 6) == (last.final, last.played)
        assert [(row["bot"], row["points"]) for row in results["standings"]] == [
            (row.bot, row.points) for row in last.rows
        ]
        begun = [message for _, message in told if isinstance(message, FeedBegun)]
        ended = [message for _, message in told if isinstance(message, FeedEnded)]
        assert len(ended) > 1
        assert {("mist_random", "mist_cautious"), ("mist_cautious", "mist_random")} >= {
            each.players for each in begun
        }
        assert all(each.outcome is not None and len(each.head) == 64 for each in ended)
        assert not [child for child in children(os.getpid()) if child == process.pid]

    def test_when_the_arena_is_killed_its_publisher_ends(self, endpoint: str, tmp_path: Path) -> None:
        process = self.run(endpoint, "match", "mist", "console", "mist_random", "--transcripts", tmp_path)
        assert process.stderr is not None
        assert process.stderr.readline().startswith("feed at ")
        (pid,) = until(lambda: [pid for pid in children(process.pid) if _publishes(pid)])
        publishers = {each for each in family(process.pid) if each.split()[0] == str(pid)}
        process.kill()
        process.communicate()
        until(lambda: not alive(publishers))


def _publishes(pid: int) -> bool:
    return b"arena.feed.process" in Path(f"/proc/{pid}/cmdline").read_bytes()
