"""Other ends of the wire: pyzmq as it is pinned and as old as is allowed, and libzmq from C.

Node's `zeromq` plays whole matches in `test_stdio`, bare sockets speak ZMTP in `test_wire_attacks`.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import trio
import zmq

from tests.real_wire.peer import raw_pair
from tests.real_wire.seat import Seat

pytestmark = pytest.mark.xdist_group("peers")

ROOT = Path(__file__).parents[2]
ECHO = Path(__file__).with_name("echo.c")
SIZES = (0, 1, 254, 255, 256, 8_191, 65_536)
Command = list[str]
Environment = dict[str, str]
Start = Callable[..., "subprocess.Popen[bytes]"]


def oldest_pyzmq() -> str:
    """Return the oldest version that pyproject.toml allows."""
    wanted: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return next(one.removeprefix("pyzmq>=") for one in wanted if one.startswith("pyzmq>="))


@pytest.fixture(scope="session")
def old_pyzmq(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install that version, and nothing else, into a folder."""
    folder = tmp_path_factory.mktemp("pyzmq")
    # The environment has no pip inside; the Python it was made from may.
    pip = [str(getattr(sys, "_base_executable", sys.executable)), "-m", "pip", "--disable-pip-version-check"]
    wanted = f"pyzmq=={oldest_pyzmq()}"
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--retries=1", "--timeout=15", "--target"]
    done = subprocess.run(  # noqa: S603 - our own words
        [*pip, "install", *options, str(folder), wanted], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"pip install {wanted}: {' '.join(done.stderr.split())[-200:]}")
    return folder


def compiled(folder: Path, library: Command) -> Command:
    """`echo.c` as a program; skips where it cannot be made."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    program = folder / "echo"
    command = ["gcc", "-Wall", "-Werror", "-o", str(program), str(ECHO), *library]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if done.returncode != 0:
        assert "ld" in done.stderr, done.stderr
        pytest.skip(f"libzmq: {' '.join(done.stderr.split())[-200:]}")
    return [str(program)]


def wheels_libzmq() -> Command:
    """Return what links a program with the libzmq that pyzmq brought along."""
    found = sorted(Path(zmq.__file__).parents[1].glob("pyzmq.libs/libzmq*.so*"))
    if not found:
        pytest.skip("this pyzmq has no libzmq of its own")
    return [str(found[0]), f"-Wl,-rpath,{found[0].parent}"]


@pytest.fixture(
    params=[
        "pyzmq",
        pytest.param("oldest pyzmq", marks=pytest.mark.slow),
        "C and pyzmq's libzmq",
        "C and the machine's libzmq",
    ]
)
def peer(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Command, Environment]:
    """How such a peer is started: with an endpoint, and how many milliseconds lie between its heartbeats."""
    kind = request.param
    if kind.startswith("C "):
        return compiled(tmp_path, ["-lzmq"] if "machine" in kind else wheels_libzmq()), {}
    command, environment = [sys.executable, "-m", "tests.real_wire.peer", "echo"], {}
    if kind.startswith("oldest"):
        environment = {"PYTHONPATH": str(request.getfixturevalue("old_pyzmq"))}
        told = [sys.executable, "-c", "import zmq; print(zmq.__version__)"]
        version = subprocess.run(told, capture_output=True, text=True, check=True, env=environment).stdout  # noqa: S603
        assert re.match(rf"{re.escape(oldest_pyzmq())}(\.0)*$", version.strip()), version
    return command, environment


@pytest.fixture
def start(peer: tuple[Command, Environment]) -> Iterator[Start]:
    """Start peers, and kill them at the end."""
    command, environment = peer
    with ExitStack() as processes:

        def started(seat: Seat, heartbeat_ms: int = 0) -> "subprocess.Popen[bytes]":
            words = [*command, seat.line.endpoint, str(heartbeat_ms)]
            process = processes.enter_context(
                subprocess.Popen(words, cwd=ROOT, env=os.environ | environment)  # noqa: S603 - our own programs
            )
            processes.callback(process.kill)
            return process

        yield started


async def first_frame(seat: Seat) -> bytes:
    """Return the first frame of a program, which takes its time to start."""
    with trio.fail_after(120):
        while True:
            with trio.move_on_after(1):
                return await seat.frame()


async def test_messages_of_every_length_go_both_ways_in_order(seat: Seat, start: Start) -> None:
    start(seat)
    assert b"hello" == await first_frame(seat)
    frames = [bytes([size % 251]) * size for size in SIZES] * 3
    for frame in frames:
        seat.line.send(frame)
    assert frames == [await seat.frame() for _ in frames]
    for n in range(1_000):
        seat.line.send(b"%d" % n)
    assert [b"%d" % n for n in range(1_000)] == [await seat.frame() for _ in range(1_000)]


async def test_one_whose_connection_was_closed_connects_again_by_itself(seat: Seat, start: Start) -> None:
    start(seat)
    assert b"hello" == await first_frame(seat)
    for n in range(3):
        first = seat.line._connection
        assert first is not None
        seat.line._end(first)
        with trio.fail_after(60):
            while seat.line._connection is None or not seat.line._connection.conversation.open:  # noqa: ASYNC110
                await trio.sleep(0.01)
        assert first is not seat.line._connection
        seat.line.send(b"again %d" % n)
        assert b"again %d" % n == await seat.frame()


async def test_its_heartbeats_are_answered(seat: Seat, start: Start) -> None:
    """It waits two seconds for an answer to its first, and would leave then."""
    start(seat, 100)
    assert b"hello" == await first_frame(seat)
    await trio.sleep(2.5)
    seat.line.send(b"still there?")
    assert b"still there?" == await seat.frame()
    assert 1 == seat.line.connections


@pytest.mark.parametrize(
    ("ping", "pong"),
    [
        (b"\x04PING\0\0", b"\x04PONG"),
        (b"\x04PING\0\x64", b"\x04PONG"),
        (b"\x04PING\0\x64context", b"\x04PONGcontext"),
        (b"\x04PING\0\0" + b"x" * 16, b"\x04PONG" + b"x" * 16),
        (b"\x04PING\0\0" + b"x" * 30, b"\x04PONG" + b"x" * 16),
    ],
)
async def test_a_ping_is_answered_with_its_context(seat: Seat, ping: bytes, pong: bytes) -> None:
    """Which has 16 bytes at most (rfc.zeromq.org/spec/37)."""
    with raw_pair(seat.line.path) as connection:
        connection.sendall(b"\4%c%b" % (len(ping), ping))
        expected = b"\4%c%b" % (len(pong), pong)
        came = b""
        while not came.endswith(expected):
            came += await trio.to_thread.run_sync(connection.recv, 1_000)
