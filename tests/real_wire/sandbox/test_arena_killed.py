"""Kill -9 of an arena whose bots are frozen: nothing of them is left, no process and no control group.

In version 1 of control groups a frozen process does not die before it is thawed. What thaws it is the arena's
guard, and where that is killed as well, the next arena that starts.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.bot_environment import PROJECT
from referee.sandbox import missing
from tests.real_wire.processes import alive, children, family, until

MATCHES = 3
"""At once."""
ARENA = """
import sys
from pathlib import Path

import trio
from msgspec import Raw

from referee.bot_folder import find_bot
from referee.cgroups import tree
from referee.plan import Plan, Policy
from referee.play import SandboxedBot, play

async def main(folder, start, matches):
    policy = Policy(ponder=False, main_ms=600_000)
    bots = [SandboxedBot(find_bot(f"{folder}/{name}")) for name in ("thinks", "waits")]
    async with trio.open_nursery() as nursery:
        for number in range(int(matches)):
            plan = Plan(match=f"match-{number}", game="mist", variant="contractual-obligation", seed=3,
                        options=Raw(b'{"first":0}'), policy=policy, isolation="strict", warm=start == "warm")
            path = Path(folder, f"{number}.jsonl")
            nursery.start_soon(lambda plan, path: play(plan, bots, transcript=path), plan, path)
        print(*set(tree().places.values()), flush=True)

trio.run(main, *sys.argv[1:])
"""
NEXT_ARENA = "from referee.cgroups import tree; tree()"
ENDS_ITSELF = """
import sys
from referee.cgroups import tree
print(*set(tree().places.values()), flush=True)
sys.stdin.read()
"""
THINKS = """
import time
from bots.kit import run

def decide(window):
    while True:
        time.sleep(0.01)

run(decide)
"""
WAITS = """
from bots.kit import run
run(lambda window: window.default)
"""
BOT = 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'


class Arena:
    """An arena at work, in a process of its own, with all that is to be seen of it from outside."""

    def __init__(self, folder: Path, start: str, matches: int) -> None:
        for name, program in {"thinks": THINKS, "waits": WAITS}.items():
            (folder / name).mkdir(parents=True)
            (folder / name / "bot.py").write_text(program)
            (folder / name / "bot.toml").write_text(BOT)
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
            [sys.executable, "-c", ARENA, str(folder), start, str(matches)],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(folder)},
        )
        assert self.process.stdout is not None
        self.folders = [Path(word) for word in self.process.stdout.readline().decode().split()]
        # In each match one bot thinks, and the other one is frozen meanwhile.
        until(lambda: len(self.frozen()) >= matches)
        self.family = family(self.process.pid)

    def frozen(self) -> list[Path]:
        """Groups whose processes are frozen."""
        return [
            file
            for folder in self.folders
            for name, word in (("freezer.state", "FROZEN"), ("cgroup.freeze", "1"))
            for file in folder.glob(f"[0-9]*/{name}")
            if file.read_text().strip() == word
        ]

    def guard(self) -> int:
        """The process that ends its bots if it is killed."""
        (found,) = [
            pid
            for pid in children(self.process.pid)
            if b"group_guard" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        return found

    def kill(self) -> None:
        with self.process:
            self.process.kill()

    def groups(self) -> list[Path]:
        """Those that are left."""
        return [folder for folder in self.folders if folder.exists()]

    def is_gone(self) -> bool:
        """Whether neither a process nor a group is left of it."""
        return not alive(self.family) and not self.groups()


@pytest.fixture
def folder(tmp_path: Path, sandboxed: None) -> Iterator[Path]:
    """Where an arena works. What a killed one leaves there is its own."""
    if missing():
        pytest.skip("; ".join(missing()))
    tmp_path.chmod(0o755)
    yield tmp_path
    subprocess.run([sys.executable, "-c", NEXT_ARENA], cwd=PROJECT, check=True)  # noqa: S603 - as above


START = pytest.mark.parametrize("start", ["warm", "cold"])


@START
def test_nothing_is_left_of_it(folder: Path, start: str) -> None:
    arena = Arena(folder, start, MATCHES)
    arena.kill()
    until(arena.is_gone)


@START
def test_of_an_arena_whose_guard_is_killed_too_the_next_one_leaves_nothing(folder: Path, start: str) -> None:
    arena = Arena(folder, start, MATCHES)
    os.kill(arena.guard(), signal.SIGKILL)
    arena.kill()
    assert [] != arena.groups()
    subprocess.run([sys.executable, "-c", NEXT_ARENA], cwd=PROJECT, check=True)  # noqa: S603 - as above
    until(arena.is_gone)


@pytest.mark.parametrize("within", [[], ["unshare", "--pid", "--fork", "--mount-proc"]], ids=["here", "container"])
def test_an_arena_that_lives_is_left_alone(folder: Path, within: list[str]) -> None:
    """Also by one that cannot see its processes, in another container."""
    if within and (os.geteuid() != 0 or shutil.which(within[0]) is None):
        pytest.skip("only root may make a container like that")
    lives, dies = Arena(folder / "lives", "warm", 1), Arena(folder / "dies", "cold", 1)
    os.kill(dies.guard(), signal.SIGKILL)
    dies.kill()
    frozen = lives.frozen()
    subprocess.run([*within, sys.executable, "-c", NEXT_ARENA], cwd=PROJECT, check=True)  # noqa: S603 - as above
    until(dies.is_gone)
    assert (lives.family, frozen, None) == (alive(lives.family), lives.frozen(), lives.process.poll())
    lives.kill()
    until(lives.is_gone)


def test_an_arena_that_ends_by_itself_takes_its_guard_and_its_groups_with_it(folder: Path) -> None:
    with subprocess.Popen(  # noqa: S603 - as above
        [sys.executable, "-c", ENDS_ITSELF], cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as arena:
        assert arena.stdout is not None
        groups = [Path(word) for word in arena.stdout.readline().decode().split()]
        guard = family(arena.pid)
        assert (1, True) == (len(guard), all(group.exists() for group in groups))
        arena.communicate()
    until(lambda: not alive(guard))
    assert [] == [group for group in groups if group.exists()]
