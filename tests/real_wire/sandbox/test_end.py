"""How a bot ends: whatever it does to live on, nothing of it is left, and its log stays small."""

import errno
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from referee import sandbox
from referee.linux.cgroups import tree
from referee.linux.processes import descendants
from referee.sandbox import bwrap, prefork
from referee.sandbox.host_machine import PROJECT, find_layers
from tests.long import cases
from tests.real_wire.sandbox.lab import IMPORTS, MAY_IMPORT, How, Lab

pytestmark = pytest.mark.usefixtures("sandboxed")

BOTH = pytest.mark.parametrize("isolation", ["strict", "warm", "none"])

STUBBORN = {
    "ignores what asks it to end": """
import signal
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
print("ready")
while True:
    signal.pause()
""",
    "leaves its family twice over": """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        print("ready")
        while True:
            signal.pause()
    os._exit(0)
time.sleep(1000)
""",
    "is stopped, with its child": """
import os, signal
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
print("ready")
os.kill(os.getpid(), signal.SIGSTOP)
""",
    "has a child that keeps the socket": """
import os, signal, socket
line = socket.socket(socket.AF_UNIX)
line.connect(os.environ["ARENA_ENDPOINT"].removeprefix("ipc://"))
line.set_inheritable(True)
if os.fork() == 0:
    os.setsid()
    print("ready")
    while True:
        signal.pause()
signal.pause()
""",
    "makes new processes without end": """
import os, time
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        print("ready")
        while True:
            try:
                if os.fork() != 0:
                    os._exit(0)
            except OSError:
                time.sleep(0.001)
time.sleep(1000)
""",
}


class TestKill:
    @BOTH
    @pytest.mark.parametrize("program", STUBBORN.values(), ids=STUBBORN)
    async def test_nothing_is_left_of_a_bot_that(self, lab: Lab, program: str, isolation: How) -> None:
        async with lab.started(lab.bot(program), isolation) as process:
            await lab.wait_for("ready")
            assert [] != lab.alive()
            await process.kill()
            assert [] == lab.alive()
            assert -signal.SIGKILL == await process.wait()

    @BOTH
    async def test_it_may_be_asked_for_again_and_of_a_bot_that_has_ended(self, lab: Lab, isolation: How) -> None:
        async with lab.started(lab.bot("exit(4)"), isolation) as process:
            assert 4 == await process.wait()
            await process.kill()
            await process.kill()
            assert 4 == await process.wait()

    @BOTH
    async def test_two_bots_die_each_by_itself(self, tmp_path: Path, isolation: How) -> None:
        labs = [Lab(tmp_path / name) for name in ("a", "b")]
        program = STUBBORN["leaves its family twice over"]
        async with (
            labs[0].started(labs[0].bot(program), isolation) as first,
            labs[1].started(labs[1].bot(program), isolation) as second,
        ):
            for lab in labs:
                await lab.wait_for("ready")
            others = sorted(labs[1].alive())
            await first.kill()
            assert ([], others) == (labs[0].alive(), sorted(labs[1].alive()))
            await second.kill()
            assert [] == labs[1].alive()
        for lab in labs:
            lab.socket.close()

    @BOTH
    async def test_the_nurserys_end_is_the_bots(self, lab: Lab, isolation: How) -> None:
        bot = lab.bot(STUBBORN["leaves its family twice over"])
        async with trio.open_nursery() as nursery:
            await lab.start(nursery, bot, isolation)
            await lab.wait_for("ready")
            nursery.cancel_scope.cancel()
        assert [] == lab.alive()

    @BOTH
    async def test_a_start_that_is_given_up_leaves_nothing(self, lab: Lab, isolation: How) -> None:
        bot = lab.bot("import time; time.sleep(1000)")
        rng = random.Random(0)
        for _ in range(10):
            async with trio.open_nursery() as nursery:
                with trio.move_on_after(rng.uniform(0, 0.03)):
                    await lab.start(nursery, bot, isolation)
                nursery.cancel_scope.cancel()
            assert [] == lab.alive()


class TestOwnEnd:
    @BOTH
    @pytest.mark.parametrize(
        ("code", "program"),
        [
            (0, "pass"),
            (3, "raise SystemExit(3)"),
            (1, "1 / 0"),
            (1, "raise SystemExit('why')"),
            (0, "import sys; sys.exit()"),
            (-signal.SIGINT, "raise KeyboardInterrupt"),
            (-signal.SIGKILL, "import os; os.kill(os.getpid(), 9)"),
            (-signal.SIGSEGV, "import ctypes; ctypes.string_at(0)"),
            (-signal.SIGABRT, "import os; os.abort()"),
        ],
    )
    async def test_its_exit_code_is_told_and_a_signal_as_a_negative_one(
        self, lab: Lab, code: int, program: str, isolation: How
    ) -> None:
        assert code == await lab.run(lab.bot(program), isolation)

    @BOTH
    @pytest.mark.parametrize("end", ["", "1 / 0", "raise SystemExit('why')"])
    async def test_before_it_ends_python_does_all_that_a_program_can_count_on(
        self, lab: Lab, end: str, isolation: How
    ) -> None:
        program = """
import atexit, threading, time

atexit.register(print, "last words", end="")

def work():
    time.sleep(0.05)
    print("thread done")

threading.Thread(target=work).start()
"""
        await lab.run(lab.bot(program + end), isolation)
        said = lab.log.read_text()
        assert [1, 1] == [said.count("thread done\n"), said.count("last words")]
        assert ("1 / 0" in end) == ("ZeroDivisionError" in said)
        assert ("why" in end) == ("why\n" in said)

    @BOTH
    async def test_with_its_program_all_it_started_ends(self, lab: Lab, isolation: How) -> None:
        program = STUBBORN["leaves its family twice over"].replace("time.sleep(1000)", "time.sleep(0.1)")
        assert 0 == await lab.run(lab.bot(program), isolation)
        assert "ready\n" == lab.log.read_text()
        assert [] == lab.alive()

    @pytest.mark.parametrize("isolation", ["strict", "warm"])
    async def test_ended_orphans_do_not_count_as_processes(self, lab: Lab, isolation: How) -> None:
        program = """
import os
for _ in range(100):
    if os.fork() == 0:
        os.fork()
        os._exit(0)
    os.wait()
"""
        assert 0 == await lab.run(lab.bot(program, limits="processes = 16"), isolation), lab.log.read_text()


ARENA = """
import sys, trio
from pathlib import Path
from referee import sandbox
from referee.bot_folder import find_bot

async def main(folder, line, token, isolation, log):
    async with trio.open_nursery() as nursery:
        print("starting", flush=True)
        level = "strict" if isolation == "warm" else isolation
        await sandbox.start(
            nursery, find_bot(folder), line=Path(line), token=token, isolation=level, log=Path(log),
            warm=isolation == "warm",
        )

trio.run(main, *sys.argv[1:])
"""


def gone(lab: Lab) -> bool:
    """Whether nothing of the bot is left before patience ends."""
    for _ in range(6000):
        if not lab.alive():
            return True
        time.sleep(0.005)
    return False


@pytest.fixture
def arena(lab: Lab) -> Callable[[How], "subprocess.Popen[bytes]"]:
    """Start an arena as a process of its own; it returns when the lab's bot is about to be started."""

    def start(isolation: How) -> "subprocess.Popen[bytes]":
        words = [str(lab.folder), str(lab.line), lab.token, isolation, str(lab.log)]
        arena = subprocess.Popen([sys.executable, "-c", ARENA, *words], stdout=subprocess.PIPE, cwd=PROJECT)  # noqa: S603
        assert arena.stdout is not None
        arena.stdout.readline()
        return arena

    return start


def end(arena: "subprocess.Popen[bytes]") -> None:
    with arena:
        arena.kill()


class TestArenasDeath:
    @pytest.mark.slow
    @pytest.mark.parametrize("program", STUBBORN.values(), ids=STUBBORN)
    @pytest.mark.parametrize("isolation", ["strict", "warm"])
    async def test_nothing_outlives_the_arena_of_a_bot_that(
        self, lab: Lab, arena: Callable[[How], "subprocess.Popen[bytes]"], program: str, isolation: How
    ) -> None:
        lab.bot(program)
        running = arena(isolation)
        with trio.fail_after(120):
            await lab.wait_for("ready")
        end(running)
        assert gone(lab), lab.alive()

    async def test_without_a_sandbox_its_program_does_not_outlive_the_arena(
        self, lab: Lab, arena: Callable[[How], "subprocess.Popen[bytes]"]
    ) -> None:
        lab.bot(STUBBORN["ignores what asks it to end"])
        running = arena("none")
        with trio.fail_after(120):
            await lab.wait_for("ready")
        end(running)
        assert gone(lab), lab.alive()

    @pytest.mark.slow
    @BOTH
    def test_the_arena_may_die_in_the_middle_of_a_start(
        self, lab: Lab, arena: Callable[[How], "subprocess.Popen[bytes]"], isolation: How
    ) -> None:
        lab.bot("import time; time.sleep(1000)")
        for step in range(cases(3, 6)):
            running = arena(isolation)
            time.sleep(step * cases(8, 4) / 1_000)
            end(running)
            assert gone(lab), lab.alive()


class TestLog:
    @BOTH
    async def test_it_holds_what_was_written_to_both_outputs_in_order(self, lab: Lab, isolation: How) -> None:
        assert 0 == await lab.run(
            lab.bot("import sys; print('a'); print('b', file=sys.stderr); print('c')"), isolation
        )
        assert "a\nb\nc\n" == lab.log.read_text()

    @BOTH
    async def test_a_full_log_has_the_first_and_the_last_half_and_counts_the_rest(
        self, lab: Lab, isolation: How
    ) -> None:
        bot = lab.bot("for n in range(20_000): print(f'{n:09d}')", limits="log_kb = 8")
        assert 0 == await lab.run(bot, isolation)
        head, tail = (
            "".join(f"{n:09d}\n" for n in range(410)),
            "".join(f"{n:09d}\n" for n in range(19_590, 20_000)),
        )
        left_out = f"\n[{200_000 - 8192} bytes left out here]\n"
        assert head[:4096] + left_out + tail[-4096:] == lab.log.read_text()

    @BOTH
    async def test_a_bot_that_writes_without_end_is_killed_like_any_other(self, lab: Lab, isolation: How) -> None:
        async with lab.started(
            lab.bot("while True: print('x' * 100_000)", limits="log_kb = 8"), isolation
        ) as process:
            await lab.wait_for("x")
            await process.kill()
        assert lab.log.stat().st_size < 8192 + 100

    async def test_a_log_that_cannot_be_made_is_an_error_of_the_start(self, lab: Lab) -> None:
        lab.log = lab.folder / "no" / "log"
        await lab.refused(lab.bot("pass"), re.escape(str(lab.log)), "none", FileNotFoundError)


class TestNoSandbox:
    async def test_a_mount_that_bubblewrap_cannot_make_is_no_fault_of_the_bot(self, lab: Lab) -> None:
        lab.line = lab.lines / "no such line" / "referee.sock"
        await lab.refused(lab.bot("pass"), r"no sandbox: bubblewrap says: bwrap: .*no such line.*; or run bots")

    @pytest.mark.parametrize(("isolation", "said"), [("strict", "did not stand"), ("warm", "start: nothing")])
    async def test_a_machine_that_is_too_slow_to_make_one_is_named(
        self, lab: Lab, isolation: How, said: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(prefork, "_starter", cache(lambda _: prefork._Starter()))
        for module in (bwrap, prefork):
            monkeypatch.setattr(module, "SET_UP_SECONDS", 0.0001)
        why = f"{said} within 0.0001 s: this machine is too busy or too slow"
        await lab.refused(lab.bot("pass"), why, isolation)

    def test_the_error_about_missing_bubblewrap_names_the_remedy(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(sandbox.SandboxError, match=r"bwrap is not installed; .*apt install bubblewrap"):
            sandbox.find_isolation()

    def test_the_error_about_failed_bubblewrap_names_cause_and_remedy(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("bwrap", "setpriv"):
            (tmp_path / name).write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(
            sandbox.SandboxError, match=r"bwrap: No permissions; .* user namespaces.*, or run bots"
        ):
            sandbox.find_isolation()

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root's bots are other users")
    @pytest.mark.parametrize("name", ["", "bot.py"])
    async def test_files_that_the_bots_user_could_not_read_are_named(self, lab: Lab, name: str) -> None:
        bot = lab.bot("pass")
        (bot.folder / name).chmod(0o700)
        await lab.refused(bot, r"/[0-9a-f]{64}/?[a-z.]*: may not be read by others; .*chmod")

    async def test_a_machine_without_bubblewrap_is_an_error_of_the_start(
        self, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bot = lab.bot("pass")
        monkeypatch.setenv("PATH", str(tmp_path))
        await lab.refused(bot, "bwrap is not installed")


async def test_a_bot_may_connect_and_be_answered(lab: Lab) -> None:
    program = """
import os, socket
line = socket.socket(socket.AF_UNIX)
line.connect(os.environ["ARENA_ENDPOINT"].removeprefix("ipc://"))
line.send(os.environ["ARENA_TOKEN"].encode())
print(line.recv(100).decode())
"""
    async with lab.started(lab.bot(program)) as process:
        connection: socket.socket
        connection, _ = await trio.to_thread.run_sync(lab.socket.accept)
        with connection:
            assert lab.token.encode() == connection.recv(1000)
            connection.send(b"answer")
            assert 0 == await process.wait()
    assert "answer\n" == lab.log.read_text()


def left_over() -> tuple[int, set[Path]]:
    """Our open descriptors, and the folders of bots' control groups."""
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    places = set(tree().places.values()) if find_layers().no_groups is None else set[Path]()
    return descriptors, {folder for place in places for folder in place.glob("[0-9]*")}


@pytest.mark.parametrize(
    ("isolation", "scarce"),
    [
        ("strict", "memfd_create"),
        ("strict", "pidfd_open"),
        ("warm", "open"),  # of its group's files
        ("none", "pidfd_open"),
    ],
)
async def test_a_bot_that_could_not_be_started_leaves_nothing_behind(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, isolation: How, scarce: str
) -> None:
    bot = lab.bot("import time\ntime.sleep(1000)\n")
    async with lab.started(bot, isolation):
        pass  # What is made once is made.
    lab.log.unlink(missing_ok=True)
    before = left_over()

    there_is: Callable[..., object] = getattr(os, scarce)

    def none_left(what: object, *given: object, **more: object) -> object:
        if scarce == "open" and not str(what).endswith(("/tasks", "/cgroup.procs")):
            return there_is(what, *given, **more)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    async with trio.open_nursery() as nursery:
        with monkeypatch.context() as scarcity, pytest.raises(OSError, match="Too many open files"):
            scarcity.setattr(os, scarce, none_left)
            await lab.start(nursery, bot, isolation)
    assert before == left_over()
    assert [] == lab.alive()


async def test_a_bot_whose_sandbox_ends_with_what_it_was_forked_from_is_started_once_more(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never stands: what it is forked from is held up, or on a busy machine it could stand before that ends.

    That is a process of a session of its own, below the one that was started.
    """
    ready, killed = prefork.PreforkedSandbox.ready, list[int]()

    async def ready_at_last(bot: prefork.PreforkedSandbox) -> None:
        if not killed:
            killed.append(bot._starter._popen.pid)
            bot._starter._popen.kill()
        await ready(bot)

    starter = prefork._living_starter()._popen.pid
    for pid in (starter, *descendants(starter)):
        os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(prefork.PreforkedSandbox, "ready", ready_at_last)
    assert (0, 1) == (await lab.run(lab.bot("print()"), "warm"), len(killed))


SIBLING = """
import ctypes, json, os, time
clone = 56 if os.uname().machine == "x86_64" else 220
made = ctypes.CDLL(None).syscall(clone, 0x8000 | 17, 0, 0, 0, 0)
if made == 0:
    os._exit(0)
time.sleep(0.2)
print(json.dumps(made > 0))
"""


@pytest.fixture
def unfiltered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Warm bots without a filter of system calls."""
    layers = replace(find_layers(), no_filter="it is left away")
    monkeypatch.setattr("referee.sandbox.prefork.find_layers", lambda: layers)
    monkeypatch.setattr(prefork, "_starter", cache(lambda _: prefork._Starter()))
    starter = prefork._living_starter()
    yield
    starter._popen.kill()
    starter._popen.wait()
    starter.control.close()


async def test_no_bot_has_siblings(lab: Lab) -> None:
    for isolation in ("strict", "warm"):
        assert not await lab.told(SIBLING, isolation=isolation)


@pytest.mark.usefixtures("unfiltered")
async def test_a_child_that_a_bot_has_made_its_parent_s_ends_no_other(lab: Lab) -> None:
    assert await lab.told(SIBLING, isolation="warm")
    assert prefork._living_starter().lives()
    assert [] == lab.alive()


TOGGLING = """
import os, signal
itself = os.getpid()
if os.fork() == 0:
    print("ready")
    while True:
        os.kill(itself, signal.SIGSTOP)
        os.kill(itself, signal.SIGCONT)
signal.pause()
"""


async def test_a_bot_that_stops_and_goes_on_all_the_time_costs_its_parent_nothing(lab: Lab) -> None:
    """That is a process of the referee's, whose time is not the bot's."""
    async with lab.started(lab.bot(TOGGLING), "warm") as bot:
        await lab.wait_for("ready")
        starter = prefork._living_starter()._popen.pid
        parent = next(each for each in descendants(starter) if bot.pid in children_of(each))
        before = scheduled(parent)
        await trio.sleep(0.5)
        # It may be asked for something by nobody meanwhile.
        assert scheduled(parent) - before < 5


def children_of(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def scheduled(process: int) -> int:
    """How often it was let run."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[2])


EATS = "held = []\nwhile True:\n    held.append(bytearray(4_000_000))\n"
CHILD_EATS = f"""
import os, sys
if os.fork() == 0:
    exec({EATS!r})
if os.wait()[1] != 9:
    sys.exit("nobody was killed")
"""


@pytest.mark.parametrize("isolation", ["strict", "warm"])
@pytest.mark.parametrize(
    ("program", "why"),
    [
        (EATS, "killed: memory over 64 MB"),
        (f"{CHILD_EATS}sys.exit(0)", "its program ended before the match was over (exit code 0)"),
        (
            f"{CHILD_EATS}raise OSError",
            "it exited with code 1; one of its processes had been killed: memory over 64 MB",
        ),
    ],
)
async def test_memory_is_the_cause_of_a_bots_end_if_its_own_process_was_killed_for_it(
    lab: Lab, program: str, why: str, isolation: How
) -> None:
    """Not if the kernel killed a child of its, and it went on."""
    bot = lab.bot(program, limits="memory_mb = 64\naddress_space_mb = 100000")
    async with lab.started(bot, isolation) as process:
        await process.wait()
    assert why == process.why_ended()


async def test_without_walls_a_bot_imports_what_bots_in_a_sandbox_may_and_no_more(lab: Lab) -> None:
    """What it imports is in a sandbox, too; and the folder of links to it is gone with the bot."""
    program = f"{IMPORTS}\nimport os\nprint(json.dumps([imported, os.environ['PYTHONPATH'].split(':')[0]]))"
    imported, links = await lab.told(program, isolation="none")
    assert MAY_IMPORT == imported
    assert not Path(links).exists()
