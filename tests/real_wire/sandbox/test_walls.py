"""Limits of a bot under bubblewrap, each tried by a program that is started like a bot."""

import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from referee.linux.processes import descendants
from referee.sandbox.host_machine import PROJECT, this_machine
from tests.real_wire.sandbox.lab import IMPORTS, MAY_IMPORT, Lab

pytestmark = pytest.mark.usefixtures("alone")

TRY = """
import errno, json, os

def attempt(call, *arguments):
    try:
        return repr(call(*arguments))
    except OSError as error:
        return errno.errorcode[error.errno]
"""


class TestNetwork:
    async def test_there_is_none(self, lab: Lab, alone: bool) -> None:
        with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
            unix.bind(f"\0{lab.token}")
            unix.listen()
            told = await lab.told(f"""{TRY}
import socket
def connect(family, place):
    socket.socket(family).connect(place)
print(json.dumps([
    attempt(connect, socket.AF_INET, ("192.0.2.1", 53)),
    attempt(connect, socket.AF_INET, ("127.0.0.1", {tcp.getsockname()[1]})),
    attempt(connect, socket.AF_UNIX, "\\0{lab.token}"),
]))
""")
        filtered = ["EAFNOSUPPORT", "EAFNOSUPPORT", "ECONNREFUSED"]
        assert (["ENETUNREACH", "ECONNREFUSED", "ECONNREFUSED"] if alone else filtered) == told

    async def test_its_own_socket_is_there_and_nothing_beside_it(self, lab: Lab) -> None:
        told = await lab.told(f"""{TRY}
import socket
path = os.environ["ARENA_ENDPOINT"].removeprefix("ipc://")
print(json.dumps([
    attempt(socket.socket(socket.AF_UNIX).connect, path),
    os.listdir(os.path.dirname(path)),
    attempt(open, os.path.dirname(path) + "/x", "w"),
]))
""")
        assert ["None", ["referee.sock"], "EROFS"] == told


class TestFiles:
    async def test_it_starts_in_its_own_folder_which_is_read_only(self, lab: Lab) -> None:
        # Not by its permissions: the folder itself cannot be written to.
        (lab.folder / "x").write_text("")
        bot = lab.bot(f"""{TRY}
print(json.dumps([
    sorted(os.listdir()),
    attempt(open, "y", "w"),
    attempt(open, "x", "a"),
    attempt(os.remove, "x"),
    attempt(os.chmod, "x", 0o777),
]))
""")
        for path in (bot.folder, bot.folder / "x"):
            path.chmod(0o777)
        assert 0 == await lab.run(bot)
        told = json.loads(lab.log.read_text().splitlines()[-1])
        assert [["bot.py", "bot.toml", "x"], "EROFS", "EROFS", "EROFS", "EROFS"] == told

    async def test_nothing_but_its_scratch_can_be_written(self, lab: Lab) -> None:
        told = await lab.told(f"""{TRY}
found = []
for folder, folders, files in os.walk("/"):
    if folder == "/":
        folders.remove("proc")
    if os.access(folder, os.W_OK) and folder != "/dev/pts":
        found.append(folder)
print(json.dumps([sorted(found), os.environ["HOME"], os.environ["TMPDIR"]]))
""")
        scratch = "/tmp"  # noqa: S108 - the bot's own
        # In the folder of terminals nothing can be made, whoever owns it.
        assert [["/dev/shm", scratch], scratch, scratch] == told  # noqa: S108

    async def test_only_the_systems_folders_and_its_own_are_there(self, lab: Lab) -> None:
        told = await lab.told(
            f"{TRY}\nprint(json.dumps([sorted(os.listdir('/')), sorted(os.listdir('/etc')),"
            " os.listdir('/outside') if os.path.exists('/outside') else []]))"
        )
        base = this_machine().base.parts[1]
        there = {"arena", "bin", "bot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "tmp", "usr", base}
        # A warm bot's root has an empty folder where its starter has the machine's.
        assert set() == set(told[0]) - there - {"lib32", "libx32", "outside"}
        assert [] == told[2]
        assert set() == set(told[1]) - {"ld.so.cache", "alternatives"}

    @pytest.mark.parametrize(
        "path",
        [
            PROJECT / "referee",
            PROJECT / "arena",
            PROJECT / "bots" / "mist_random" / "bot.py",
            Path("/etc/shadow"),
            Path("/etc/passwd"),
            Path("/root/.profile"),
            Path("/home"),
            Path("/var"),
            Path("/sys"),
        ],
        ids=str,
    )
    async def test_a_bot_does_not_see_files_of_others(self, lab: Lab, path: Path) -> None:
        assert "ENOENT" == await lab.told(f"{TRY}\nprint(json.dumps(attempt(os.stat, {str(path)!r})))")

    async def test_bubblewraps_own_process_is_no_way_out(self, lab: Lab) -> None:
        told = await lab.told(f"{TRY}\nprint(json.dumps(attempt(os.stat, '/proc/1/root/etc/passwd')))")
        assert told in {"ENOENT", "EACCES"}

    async def test_another_bots_folder_is_not_there(self, lab: Lab, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        told = await lab.told(f"{TRY}\nprint(json.dumps(attempt(os.stat, {str(tmp_path / 'other')!r})))")
        assert "ENOENT" == told

    async def test_it_has_words_rules_and_the_kit_but_no_judge_and_no_other_bot(self, lab: Lab) -> None:
        files = {
            "code": ["bots", "protocol", "referee"],
            "referee": ["__init__.py", "encoding.py", "games", "rules"],
        }
        assert [MAY_IMPORT, files, "turn_limit"] == await lab.told(f"""{IMPORTS}
import os, referee
from referee.games import GAMES
from referee.rules import Deal, Table, ResolvedAction

place = os.path.dirname(referee.__file__)
files = {{os.path.basename(each): sorted(os.listdir(each)) for each in (os.path.dirname(place), place)}}
table = Table(GAMES["mist"], Deal("heaven-and-hell", 7))
while table.window is not None:
    (owed,) = table.owed
    table.close(tuple(ResolvedAction(table.default(seat)) if seat == owed.seat else None for seat in (0, 1)))
print(json.dumps([imported, files, table.outcome.reason]))
""")

    async def test_packages_that_the_arena_does_not_use_are_not_there(self, lab: Lab) -> None:
        paths = [str(path) for path in this_machine().foreign]
        told = await lab.told(f"import json, os; print(json.dumps([os.listdir(path) for path in {paths!r}]))")
        assert [[] for _ in paths] == told


class TestBounds:
    async def test_its_scratch_is_bounded(self, lab: Lab) -> None:
        told = await lab.told(
            f"""{TRY}
written = 0
try:
    for number in range(100):
        with open(f"/tmp/{{number}}", "wb", buffering=0) as file:
            for _ in range(7):
                written += file.write(bytes(100_000))
except OSError as error:
    print(json.dumps([errno.errorcode[error.errno], written]))
""",
            limits="scratch_mb = 2",
        )
        assert "ENOSPC" == told[0]
        assert 2 * 1024 * 1024 - 100_000 <= told[1] <= 2 * 1024 * 1024

    async def test_its_shared_memory_is_bounded(self, lab: Lab) -> None:
        told = await lab.told(
            f"{TRY}\nprint(json.dumps(attempt(open('/dev/shm/x', 'wb').write, bytes(10_000_000))))"
        )
        assert "ENOSPC" == told

    async def test_a_file_is_bounded_also_one_in_memory_alone(self, lab: Lab, alone: bool) -> None:
        told = await lab.told(
            f"""{TRY}
def grow():
    os.ftruncate(os.memfd_create("x"), 3_000_000)
print(json.dumps(attempt(grow)))
""",
            limits="scratch_mb = 2",
        )
        assert ("EFBIG" if alone else "ENOSYS") == told

    async def test_its_memory_is_bounded(self, lab: Lab) -> None:
        told = await lab.told(
            """
import json
kept, size = [], 0
try:
    while size < 1000:
        kept.append(bytearray(1024 * 1024))
        size += 1
except MemoryError:
    kept.clear()
print(json.dumps(size))
""",
            limits="memory_mb = 100",
        )
        assert 50 < told < 100

    @pytest.mark.parametrize("limit", [6, 20])
    async def test_its_processes_are_bounded_whatever_else_its_user_runs(self, lab: Lab, limit: int) -> None:
        told = await lab.told(
            f"""{TRY}
import signal
children = []
try:
    while len(children) < 200:
        if (child := os.fork()) == 0:
            signal.pause()
        children.append(child)
except OSError as error:
    print(json.dumps([errno.errorcode[error.errno], len(children)]))
""",
            limits=f"processes = {limit}",
        )
        assert ["EAGAIN", limit - 1] == told

    async def test_its_open_files_are_bounded(self, lab: Lab) -> None:
        told = await lab.told(
            f"""{TRY}
files = []
try:
    while len(files) < 1000:
        files.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    print(json.dumps([errno.errorcode[error.errno], files[-1]]))
""",
            limits="files = 40",
        )
        assert ["EMFILE", 39] == told

    @pytest.mark.parametrize(
        ("program", "by"),
        [
            ("while True: pass", signal.SIGXCPU),
            ("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", signal.SIGKILL),
        ],
    )
    async def test_its_processor_time_is_bounded_where_it_says_so(
        self, lab: Lab, program: str, by: signal.Signals
    ) -> None:
        async with lab.started(lab.bot(program, limits="cpu_seconds = 1")) as process:
            assert -by == await process.wait()
            assert "killed: more than 1 s of processor time (cpu_seconds)" == process.why_ended()


class TestPrivacy:
    async def test_its_environment_is_only_its_own(self, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SECRET", "of the arena")
        told = await lab.told(f"{TRY}\nprint(json.dumps(dict(os.environ)))")
        names = "ARENA_ENDPOINT ARENA_TOKEN HOME LANG PATH PWD PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONPATH"
        assert [*names.split(), "PYTHONUNBUFFERED", "TMPDIR"] == sorted(told)
        assert ("ipc:///run/arena/referee.sock", lab.token) == (told["ARENA_ENDPOINT"], told["ARENA_TOKEN"])

    async def test_it_holds_no_descriptor_but_its_output(self, lab: Lab) -> None:
        told = await lab.told(f"""{TRY}
fds = "/proc/self/fd/"
mapped = {{line.split()[-1] for line in open("/proc/self/maps") if " r-xp " in line}}
targets = {{name: attempt(os.readlink, fds + name) for name in os.listdir(fds)}}
# Some versions of libffi keep their own file open.
print(json.dumps({{name: target for name, target in targets.items() if target.strip("'") not in mapped}}))
""")
        listing = [name for name, target in told.items() if target == "ENOENT"]
        assert {"0", "1", "2", *listing} == set(told)
        assert "'/dev/null'" == told["0"]

    async def test_it_sees_no_process_but_its_own_and_can_signal_none(self, lab: Lab) -> None:
        told = await lab.told(f"""{TRY}
pids = sorted(int(name) for name in os.listdir("/proc") if name.isdecimal())
print(json.dumps([pids, os.getpid(), attempt(os.kill, {os.getpid()}, 0), attempt(os.kill, 1, 9)]))
""")
        # The first process is bubblewrap's: a signal to it is refused, or taken without effect. Who is forked warm
        # does not see its first one.
        assert [[2] if lab.warm else [1, 2], 2, "ESRCH"] == told[:3]
        assert told[3] in {"EPERM", "None"}

    async def test_it_sees_no_name_of_the_machine_and_is_not_root(self, lab: Lab) -> None:
        told = await lab.told(
            "import json, os; print(json.dumps([os.uname().nodename, os.getuid(), os.getgid()]))"
        )
        assert "bot" == told[0]
        assert 0 not in told[1:]


class TestPrivileges:
    async def test_it_has_none_and_gains_none(self, lab: Lab) -> None:
        told = await lab.told("""
import json
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(json.dumps([status[name] for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb", "NoNewPrivs")]))
""")
        assert ["0" * 16] * 4 + ["1"] == told

    async def test_it_makes_no_namespace_in_which_it_would_have_privileges(self, lab: Lab, alone: bool) -> None:
        told = await lab.told("""
import ctypes, errno, json
NEWUSER, NEWNS = 0x10000000, 0x00020000
libc = ctypes.CDLL(None, use_errno=True)
print(json.dumps([
    (libc.unshare(flag), errno.errorcode[ctypes.get_errno()]) for flag in (NEWUSER, NEWNS, NEWUSER | NEWNS)
]))
""")
        assert ([[-1, "ENOSPC"], [-1, "EPERM"], [-1, "ENOSPC"]] if alone else [[-1, "ENOSYS"]] * 3) == told

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root has others to be")
    async def test_roots_bots_run_as_users_of_their_own(self, lab: Lab) -> None:
        users = set()
        for _ in range(2):
            async with lab.started(lab.bot("import signal; print('here'); signal.pause()")) as process:
                await lab.wait_for("here")
                pids = (process.pid, *descendants(process.pid))
                users |= {Path(f"/proc/{pid}").stat().st_uid for pid in pids} - {0}
        assert 2 == len(users)


class TestInterpreter:
    async def test_python_is_the_arenas_own_without_a_stand_in(self, lab: Lab) -> None:
        told = await lab.told("import json, sys; print(json.dumps([sys.version, sys.executable]))")
        assert [sys.version, str(this_machine().interpreter)] == told

    async def test_a_program_of_its_own_folder_is_run(self, lab: Lab) -> None:
        (lab.folder / "engine").write_text("#!/bin/sh\necho $0 $1\n")
        (lab.folder / "engine").chmod(0o755)
        assert 0 == await lab.run(lab.bot("", command='["engine", "fast"]'))
        assert "./engine fast\n" == lab.log.read_text()

    async def test_a_program_that_cannot_be_run_says_so_in_its_log(self, lab: Lab) -> None:
        (lab.folder / "engine").write_text("#!/no/such/interpreter\n")
        (lab.folder / "engine").chmod(0o755)
        assert 127 == await lab.run(lab.bot("", command='["engine"]'))
        assert "engine" in lab.log.read_text()
