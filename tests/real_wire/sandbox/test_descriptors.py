"""Descriptors in bots: no file can be passed, locked or watched; all else still works."""

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


DESCRIPTORS = """
import fcntl, json, os
reading, writing = os.pipe()
asked = [
    fcntl.fcntl(writing, fcntl.F_GETFD) == fcntl.FD_CLOEXEC,
    fcntl.fcntl(writing, fcntl.F_SETFD, 0) == 0,
    fcntl.fcntl(writing, fcntl.F_SETFL, fcntl.fcntl(writing, fcntl.F_GETFL) | os.O_NONBLOCK) == 0,
    fcntl.fcntl(writing, fcntl.F_DUPFD, 20) >= 20,
    fcntl.fcntl(writing, fcntl.F_DUPFD_CLOEXEC, 20) >= 20,
    fcntl.fcntl(writing, fcntl.F_GETPIPE_SZ) >= 4096,
]
print(json.dumps(asked))
"""
LOCKS_IN_ITS_SCRATCH = """
import errno, fcntl, json, os
told = []
with open(os.environ["TMPDIR"] + "/own", "w") as file:
    for lock in (fcntl.flock, fcntl.lockf):
        try:
            lock(file, fcntl.LOCK_EX)
        except OSError as error:
            told.append(errno.errorcode[error.errno])
print(json.dumps(told))
"""
DATABASES = """
import json, os, sqlite3
os.chdir(os.environ["TMPDIR"])
kept = {}
for how in ("", "?nolock=1", "?vfs=unix-dotfile"):
    try:
        database = sqlite3.connect(f"file:{len(kept)}.db{how}", uri=True)
        database.executescript("create table kept (move); insert into kept values ('C5')")
        kept[how] = database.execute("select move from kept").fetchone()[0]
    except sqlite3.OperationalError as error:
        kept[how] = str(error)
kept[":memory:"] = sqlite3.connect(":memory:").execute("select 'C5'").fetchone()[0]
print(json.dumps(kept))
"""

SHARED = """
import fcntl, json, os
set_before = [fcntl.fcntl(n, fcntl.F_GETFL) & (os.O_NONBLOCK | os.O_APPEND) for n in range(3)]
for n in range(3):
    fcntl.fcntl(n, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)
print(json.dumps(set_before))
"""

CALLBACKS = """
import ctypes, os
kept = [open(os.environ["TMPDIR"] + f"/{n}", "w+b") for n in range(20)]
Function = ctypes.CFUNCTYPE(ctypes.c_int)
functions = [Function(lambda: 1) for _ in range(1_000)]
print(sum(function() for function in functions))
"""


async def test_descriptors_can_be_copied_and_set(start: How, lab: Lab) -> None:
    assert [True] * 6 == await lab.told(DESCRIPTORS, isolation=start)


async def test_there_are_no_locks_for_files(start: How, lab: Lab) -> None:
    assert ["ENOSYS", "ENOSYS"] == await lab.told(LOCKS_IN_ITS_SCRATCH, isolation=start)


async def test_sqlite_works_with_nolock_with_dot_files_and_in_memory(start: How, lab: Lab) -> None:
    told = await lab.told(DATABASES, isolation=start)
    assert {"": "disk I/O error", "?nolock=1": "C5", "?vfs=unix-dotfile": "C5", ":memory:": "C5"} == told


async def test_there_are_no_terminals(start: How, lab: Lab) -> None:
    program = 'import json, os\nprint(json.dumps([os.listdir("/dev/pts"), os.path.exists("/dev/ptmx")]))'
    assert [[], False] == await lab.told(program, isolation=start)


async def test_settings_of_a_bots_descriptors_do_not_reach_the_next_bot(start: How, lab: Lab) -> None:
    assert [[0, 0, 0]] * 2 == [await lab.told(SHARED, isolation=start) for _ in range(2)]


async def test_c_can_call_a_thousand_functions(start: How, lab: Lab) -> None:
    """Libffi may map its own file again for them, by a descriptor that it keeps."""
    assert 1_000 == await lab.told(CALLBACKS, isolation=start)
