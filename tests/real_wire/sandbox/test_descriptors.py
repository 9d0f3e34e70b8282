"""A bot cannot hand a file on to the referee, which would have to free what is behind it in its own time."""

import socket

import pytest
import trio

from tests.real_wire.sandbox.lab import How, Lab

pytestmark = [pytest.mark.usefixtures("all_walls"), pytest.mark.parametrize("start", ["strict", "warm"])]

GIB = 2**30
SENDS = f"""
import errno, os, socket
path = os.environ["TMPDIR"] + "/large"
with open(path, "wb") as file:
    for _ in range({GIB} >> 20):
        file.write(bytes(1 << 20))
file = os.open(path, os.O_RDONLY)
os.unlink(path)
line = socket.socket(socket.AF_UNIX)
line.connect(os.environ["ARENA_ENDPOINT"].removeprefix("ipc://"))
try:
    socket.send_fds(line, [b"here it is"], [file])
    print("sent")
except OSError as error:
    print(errno.errorcode[error.errno], os.fstat(file).st_size)
line.send(b"no more")
"""


async def test_a_deleted_file_of_a_gibibyte_stays_the_bots_own(start: How, lab: Lab) -> None:
    bot = lab.bot(SENDS, limits="scratch_mb = 1030\nmemory_mb = 256")
    async with lab.started(bot, start) as process:
        connection, _ = await trio.to_thread.run_sync(lab.socket.accept)
        with connection:
            assert 0 == await process.wait()
            assert (b"no more", []) == socket.recv_fds(connection, 100, 10)[:2]
    assert f"ENOSYS {GIB}\n" == lab.log.read_text()
