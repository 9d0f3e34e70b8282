"""A hostile host harms no author: what it sends is bounded, refused in words, and ends `bots.remote`."""

import json
import os
import signal
import socket
import subprocess
import sys
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import zmq

from bots.remote import relay
from protocol.news import PART_BYTES
from referee.wire.curve import SecureConversation
from referee.wire.keys import KeyPair, new_pair, write_pair, z85
from referee.wire.zmtp import MORE, framed
from tests.builders.bots import write_bot

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 60
MOST_DISK = 2**20
MOST_MEMORY = 300 * 2**20
SLEEPER = "import time\ntime.sleep(1_000)\n"
MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""
"""A program that runs another one and writes down the most memory that it had, in KiB. The kernel counts what a
process had before it became another program, too: started from a test, that would be the test's."""
SMALL_MEMORY = "from bots.remote import relay; relay.MOST_MEMORY = 50 * 2**20; relay.main()"
"""The author's program, with a bound that a test reaches soon."""


def said(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def part(match: str, number: int, parts: int, data: bytes) -> bytes:
    return said(type="transcript", match=match, seat=0, part=number, parts=parts, data=b64encode(data).decode())


INVITED = said(type="invited", token="t", stands=True)
REPORT = said(type="report", match="m", seat=0, seats=2, reason="r", conduct="ok", head="h")


def bombs() -> Iterator[bytes]:
    """Six transcripts of 250 MB, in parts of the right size."""
    packed = zlib.compress(bytes(250_000_000))
    pieces = [packed[start : start + PART_BYTES] for start in range(0, len(packed), PART_BYTES)]
    for match in range(6):
        for number, piece in enumerate(pieces):
            yield part(f"m{match}", number, len(pieces), piece)


def large_parts() -> Iterator[bytes]:
    for number in range(500):
        yield part("m", number, 512, os.urandom(700_000))


ATTACKS: dict[str, tuple[Callable[[], Iterator[bytes]], str]] = {
    "bombs": (bombs, "a transcript that is far larger than what was sent of it"),
    "large parts": (large_parts, "a message that cannot be read: "),
    "a frame above the bound": (lambda: iter([b"x" * (2**20 + 1)]), "a message of 1048577 bytes"),
    "a frame that ZeroMQ does not read": (
        lambda: iter([b"x" * 50_000_000]),
        "a message of more than 1048576 bytes",
    ),
    "NUL in a token": (lambda: iter([said(type="invited", token="a\0b")]), "an invitation whose token is none"),
    "a long token": (
        lambda: iter([said(type="invited", token="a" * 900_000)]),
        "an invitation whose token is none",
    ),
    "a token of 3 MB": (lambda: iter([said(type="invited", token="a" * 3_000_000)]), "a message of more than"),
    "depth": (
        lambda: iter([INVITED, b'{"type":"event","n":0,"event":' + b"[" * 200_000 + b"]" * 200_000 + b"}"]),
        "a message that is nested deeper than 64 levels",
    ),
    "reports": (lambda: iter([REPORT] * 1_000), "201 reports and transcripts, after 0 matches of this bot"),
    "junk": (lambda: iter([b"junk\x1b[2J"] * 2_000), "more than 1000 messages in one match"),
    "a negative event": (
        lambda: iter([INVITED, said(type="event", n=-(10**9), event=0)]),
        "an event whose number is not from 0",
    ),
    "invitations": (
        lambda: (said(type="invited", token=f"t{number}", stands=True) for number in range(25)),
        "invitations to 20 matches, none of which it has ended",
    ),
}


@contextmanager
def author(folder: Path, endpoint: str, host: KeyPair, *program: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the author's program, with a bot that does nothing."""
    public, _ = write_pair(folder / "host", host)
    _, secret = write_pair(folder / "alice", new_pair())
    bot = write_bot(folder / "bot", SLEEPER)
    command = [sys.executable, "-c", MEASURED, str(folder / "peak")]
    command += [sys.executable, *(program or ("-m", "bots.remote")), endpoint, str(bot)]
    command += ["--host-key", str(public), "--key", str(secret)]
    with (
        (folder / "said").open("wb") as log,
        subprocess.Popen(  # noqa: S603 - our own program
            command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=log, start_new_session=True
        ) as process,
    ):
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def hostile(host: KeyPair) -> Iterator[tuple[str, "zmq.Socket[bytes]"]]:
    """Listen as a host that lets everybody in; yield its endpoint and its socket."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    line = context.socket(zmq.PAIR)
    try:
        line.set(zmq.LINGER, 0)
        line.set(zmq.SNDTIMEO, 1_000)
        line.curve_server = True
        line.curve_publickey, line.curve_secretkey = z85(host.public).encode(), z85(host.secret).encode()
        port = line.bind_to_random_port("tcp://127.0.0.1")
        yield f"tcp://127.0.0.1:{port}", line
    finally:
        line.close(linger=0)
        context.term()


def ended(folder: Path, process: "subprocess.Popen[bytes]", most_memory: int = MOST_MEMORY) -> str:
    """Return the program's last line. Assert that it ended by itself, and took little memory and disk."""
    code = process.wait(PATIENCE_SECONDS)
    peak = int((folder / "peak").read_text()) * 1024
    assert (1, True) == (code, peak < most_memory), (code, peak)
    printed = (folder / "said").read_text()
    assert all(line.isprintable() for line in printed.splitlines())
    assert len(printed) < MOST_DISK
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < MOST_DISK
    return printed.splitlines()[-1]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_host_that_sends_too_much_is_refused_in_words_and_it_is_over(attack: str, tmp_path: Path) -> None:
    frames, why = ATTACKS[attack]
    host = new_pair()
    with hostile(host) as (endpoint, line), author(tmp_path, endpoint, host) as process:
        assert line.poll(1_000 * PATIENCE_SECONDS, zmq.POLLOUT)
        with suppress(zmq.Again):  # Nobody is there any more.
            for frame in frames():
                line.send(frame)
        assert why in ended(tmp_path, process)


def test_a_message_without_an_end_ends_the_program_before_memory_does(tmp_path: Path) -> None:
    """ZeroMQ gathers the parts of a message, and bounds only each of them."""
    host = new_pair()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_SECONDS)
        endpoint = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with author(tmp_path, endpoint, host, "-c", SMALL_MEMORY) as process:
            line, _ = listener.accept()
            with line, suppress(ConnectionError):
                line.settimeout(PATIENCE_SECONDS)
                conversation = let_in(line, host)
                while True:
                    line.sendall(framed(conversation._curve.seal(MORE, b"x" * 500_000)))
            assert "so much at once that it takes 50 MB of memory" in ended(tmp_path, process, 2**30)


def let_in(line: socket.socket, host: KeyPair) -> SecureConversation:
    """Speaks ZeroMQ until the author's program is let in."""
    conversation = SecureConversation(host, 2**16)
    while not conversation.open:
        line.sendall(conversation.answer())
        conversation.hear(line.recv(2**16), 0.0)
        assert conversation.next() is None
        if conversation.client is not None:
            conversation.let_in()
    line.sendall(conversation.answer())
    return conversation


def test_a_host_that_says_nothing_is_not_waited_for_longer_than_asked(tmp_path: Path) -> None:
    host = new_pair()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with author(tmp_path, endpoint, host, "-m", "bots.remote", "--patience", "0.0002") as process:
            assert "no message from the host for 0.0002 hours" == ended(tmp_path, process)


@pytest.mark.parametrize("hours", ["0", "-1", "nan", "inf", "x", "1e9"])
def test_a_patience_is_a_time(
    hours: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["tcp://127.0.0.1:1", str(tmp_path), "--patience", hours, "--host-key", "x", "--key", "y"]
    monkeypatch.setattr(sys, "argv", ["bots.remote", *words])
    with pytest.raises(SystemExit) as ended:
        relay.main()
    assert (2, True) == (ended.value.code, "--patience" in capsys.readouterr().err)
