"""The bot's end of the wire tests, in a process of its own: plain blocking pyzmq, as a bot would use it.

Run as `python -m tests.real_wire.peer`; `start` does that.
"""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import zmq

ROOT = Path(__file__).parents[2]
HEARTBEAT_PATIENCE_MS = 2_000
"""How long `echo` waits for a sign of life before it connects anew. `echo.c` has the same."""


@contextmanager
def start(*arguments: str | int) -> Iterator[subprocess.Popen[bytes]]:
    """Start a peer process, and kill it at the end if it has not ended."""
    command = [sys.executable, "-m", "tests.real_wire.peer", *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:  # noqa: S603 - our own program
        try:
            yield process
        finally:
            process.kill()


def connect(
    endpoint: str, context: "zmq.Context[zmq.Socket[bytes]] | None" = None, holds: int = 1000
) -> "zmq.Socket[bytes]":
    """Connect a bot's socket, whose own libzmq holds so many unread frames."""
    bot = (context or zmq.Context.instance()).socket(zmq.PAIR)
    bot.set(zmq.LINGER, 1000)
    bot.set(zmq.RCVHWM, holds)
    bot.connect(endpoint)
    return bot


def raw_connection(path: Path) -> socket.socket:
    """Connect to a line's socket file. What is sent is in the kernel when `sendall` returns."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(2)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection


GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PAIR"


def raw_pair(path: Path) -> socket.socket:
    """Connect, and say ZMTP 3.0's opening by hand, as a PAIR socket; leave the answer unread."""
    connection = raw_connection(path)
    connection.sendall(GREETING + READY)
    return connection


def raw_frame(body: bytes, *, more: bool = False) -> bytes:
    return (b"\x03" if more else b"\x02") + len(body).to_bytes(8, "big") + body


def bursts(messages: int, seed: int) -> list[tuple[int, int]]:
    """For each round, how many messages the host and the peer send; both ends know it from the seed."""
    rng = Random(seed)
    rounds = []
    while messages > 0:
        sizes = [rng.choice((1, 2, rng.randrange(50), rng.randrange(500))) for _ in range(2)]
        rounds.append((sizes[0] + 1, sizes[1] + 1))
        messages -= sum(rounds[-1])
    return rounds


def numbered(number: int, rng: Random) -> bytes:
    """Make a message of some length that begins with its number."""
    return number.to_bytes(4, "big") + bytes(rng.choice((0, 20, 200, 200, 2000)))


def stress(endpoint: str, messages: int, seed: int) -> None:
    """Send and receive every round's burst at once, and begin the next round when both are done."""
    bot = connect(endpoint)
    bot.send(b"hello")
    rng = Random(f"{seed}/peer")
    sent = heard = 0
    for of_host, of_peer in bursts(messages, seed):
        to_send, to_hear = sent + of_peer, heard + of_host
        while sent < to_send or heard < to_hear:
            wanted = (zmq.POLLOUT if sent < to_send else 0) | (zmq.POLLIN if heard < to_hear else 0)
            ready = bot.poll(60_000, wanted)
            if ready & zmq.POLLIN:
                number = int.from_bytes(bot.recv()[:4], "big")
                if number != heard:
                    sys.exit(f"heard {number} instead of {heard}")
                heard += 1
            if ready & zmq.POLLOUT:
                bot.send(numbered(sent, rng))
                sent += 1
            if not ready:
                sys.exit(f"stalled: sent {sent} of {to_send}, heard {heard} of {to_hear}")
            if rng.random() < 0.002:
                time.sleep(rng.random() * 0.002)
    bot.recv()  # the host has heard all; what it has no room for would be lost if this end left
    bot.close()


def echo(endpoint: str, heartbeat_ms: int) -> None:
    """Say hello, and send back every frame."""
    bot: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PAIR)
    if heartbeat_ms:
        bot.set(zmq.HEARTBEAT_IVL, heartbeat_ms)
        for patience in (zmq.HEARTBEAT_TTL, zmq.HEARTBEAT_TIMEOUT):
            bot.set(patience, HEARTBEAT_PATIENCE_MS)
    bot.connect(endpoint)
    bot.send(b"hello")
    while True:
        bot.send(bot.recv())


def main() -> None:
    mode, endpoint, *rest = sys.argv[1:]
    if mode == "stress":
        stress(endpoint, int(rest[0]), int(rest[1]))
    elif mode == "echo":
        echo(endpoint, int(rest[0]) if rest else 0)
    else:
        sys.exit(f"no such peer: {mode}")


if __name__ == "__main__":
    main()
