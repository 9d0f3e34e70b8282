"""An init that is made ahead ends with the process it was made for, whatever happens first."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from referee import sandbox

SOON_SECONDS = 60


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, which imports what lies beside it."""
    monkeypatch.syspath_prepend(Path(sandbox.__file__).parent)
    return import_module("referee.sandbox.prefork_server")


@pytest.fixture
def init() -> Iterator[subprocess.Popen[bytes]]:
    """A process in an init's place."""
    with subprocess.Popen((sys.executable, "-c", "import signal; signal.pause()")) as process:
        yield process
        process.kill()


@pytest.fixture
def ways() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The two ends of the way that inits take."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        yield ours, theirs


def test_an_init_that_is_taken_stays(
    server: Any, init: subprocess.Popen[bytes], ways: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = ways
    ours.send(b"\n")
    descriptor = os.pidfd_open(init.pid)
    assert server.offer(theirs, [descriptor])
    assert init.poll() is None
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.close(descriptor)


@pytest.mark.parametrize("arrives", [True, False])
def test_an_unused_init_ends(
    server: Any, init: subprocess.Popen[bytes], ways: tuple[socket.socket, socket.socket], *, arrives: bool
) -> None:
    """Also one that could not even be sent."""
    ours, theirs = ways
    if arrives:
        ours.shutdown(socket.SHUT_WR)
    else:
        ours.close()
    assert not server.offer(theirs, [os.pidfd_open(init.pid)])
    assert -9 == init.wait(SOON_SECONDS)


def test_an_init_that_has_ended_already_is_no_error(
    server: Any, init: subprocess.Popen[bytes], ways: tuple[socket.socket, socket.socket]
) -> None:
    descriptor = os.pidfd_open(init.pid)
    init.kill()
    init.wait()
    ways[0].close()
    assert not server.offer(ways[1], [descriptor])


def test_a_failure_to_make_an_init_is_reported(server: Any, ways: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ways
    ours.send(b"\n")
    assert server.offer(theirs, [])
    assert (b"!", []) == (ours.recv(1, socket.MSG_PEEK), server.receive(ours, bytearray(1))[1])
