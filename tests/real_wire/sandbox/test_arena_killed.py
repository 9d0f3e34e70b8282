"""Kill -9 of an arena whose bots are frozen: nothing of them is left, no process and no control group.

In version 1 of control groups a frozen process does not die before it is thawed. What thaws it is the arena's
guard, and where that is killed as well, the next arena that starts. Each test's arenas are in control groups of
its own: an arena of another test, started meanwhile, would end what these leave.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

import pytest

from referee.linux.cgroups import PROCESSES, tree
from referee.sandbox.host_machine import PROJECT
from tests.real_wire.processes import alive, children, family, until

MATCHES = 3
"""At once."""
ARENA = """
import sys
from pathlib import Path

import trio
from msgspec import Raw

from referee.bot_folder import find_bot
from referee.host import Plan, SandboxedBot, play
from referee.linux.cgroups import tree
from referee.match import Policy

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
NEXT_ARENA = "from referee.linux.cgroups import tree; tree()"
ENDS_ITSELF = """
import sys
from referee.linux.cgroups import tree
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
ENTERS = f"""while [ "$1" != -- ]; do
    below="${{1%/*}}/{PROCESSES}/cgroup.procs"
    if [ -e "$below" ]; then echo $$ > "$below"; else echo $$ > "$1"; fi
    shift
done; shift; exec "$@\""""
"""A shell's: into the groups whose files are named before the dashes, and then the program.

Of version 2 a group in which an arena was has its processes one further down.
"""
BOT = 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'


class Place:
    """Where a test's arenas work: a folder, and control groups that no other arena looks into."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.folder = folder
        self.scratch = scratch
        """For temporary files. Its path is short: a socket's may have 107 bytes."""
        name = f"test-{token_hex(4)}"
        self.groups = [place.parent / name for place in set(tree().places.values())]
        for group in self.groups:
            group.mkdir()

    def command(self, *words: str, within: Sequence[str] = ()) -> list[str]:
        """Our own interpreter, in these groups."""
        entrances = [str(group / "cgroup.procs") for group in self.groups]
        return ["sh", "-c", ENTERS, "sh", *entrances, "--", *within, sys.executable, *words]

    def next_arena(self, within: Sequence[str] = ()) -> None:
        """One starts here, and ends."""
        subprocess.run(self.command("-c", NEXT_ARENA, within=within), cwd=PROJECT, check=True)  # noqa: S603 - ours

    def close(self) -> None:
        """Remove the groups when the last arena's guard has ended."""
        until(lambda: all(removed(each) for group in self.groups for each in (group / PROCESSES, group)))


def removed(group: Path) -> bool:
    """Whether an empty group is gone: now, or before."""
    with suppress(OSError):
        group.rmdir()
    return not group.exists()


class Arena:
    """An arena at work, in a process of its own, with all that is to be seen of it from outside."""

    def __init__(self, place: Place, start: str, matches: int, name: str = "arena") -> None:
        folder = place.folder / name
        for bot, program in {"thinks": THINKS, "waits": WAITS}.items():
            (folder / bot).mkdir(parents=True)
            (folder / bot / "bot.py").write_text(program)
            (folder / bot / "bot.toml").write_text(BOT)
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
            place.command("-c", ARENA, str(folder), start, str(matches)),
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(place.scratch)},
        )
        assert self.process.stdout is not None
        self.folders = [Path(word) for word in self.process.stdout.readline().decode().split()]
        # In each match one bot thinks, and the other one is frozen meanwhile.
        until(lambda: len(self.frozen()) >= matches)
        self.family = family(self.process.pid)

    def frozen(self) -> list[Path]:
        """Return the groups whose processes are frozen."""
        return [
            file
            for folder in self.folders
            for name, word in (("freezer.state", "FROZEN"), ("cgroup.freeze", "1"))
            for file in folder.glob(f"[0-9]*/{name}")
            if file.read_text().strip() == word
        ]

    def guard(self) -> int:
        """Return the process that ends its bots if it is killed."""
        (found,) = [
            pid
            for pid in children(self.process.pid)
            if b"/linux/guard.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
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
def place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, all_walls: None) -> Iterator[Place]:
    """Where arenas work. What a killed one leaves there is the test's own."""
    tmp_path.chmod(0o755)
    place = Place(tmp_path, tmp_path_factory.mktemp("t"))
    yield place
    place.next_arena()
    place.close()


START = pytest.mark.parametrize("start", ["warm", "cold"])


@pytest.mark.slow
@START
def test_nothing_is_left_of_it(place: Place, start: str) -> None:
    arena = Arena(place, start, MATCHES)
    arena.kill()
    until(arena.is_gone)


@pytest.mark.slow
@START
def test_the_next_arena_removes_everything_of_one_whose_guard_was_killed_too(place: Place, start: str) -> None:
    arena = Arena(place, start, MATCHES)
    os.kill(arena.guard(), signal.SIGKILL)
    arena.kill()
    assert [] != arena.groups()
    place.next_arena()
    until(arena.is_gone)


@pytest.mark.slow
@pytest.mark.parametrize("within", [[], ["unshare", "--pid", "--fork", "--mount-proc"]], ids=["here", "container"])
def test_an_arena_that_lives_is_left_alone(place: Place, within: list[str]) -> None:
    """Also by one that cannot see its processes, in another container."""
    if within and (os.geteuid() != 0 or shutil.which(within[0]) is None):
        pytest.skip("only root may make a container like that")
    lives, dies = Arena(place, "warm", 1, "lives"), Arena(place, "cold", 1, "dies")
    os.kill(dies.guard(), signal.SIGKILL)
    dies.kill()
    frozen = lives.frozen()
    place.next_arena(within)
    until(dies.is_gone)
    assert (lives.family, frozen, None) == (alive(lives.family), lives.frozen(), lives.process.poll())
    lives.kill()
    until(lives.is_gone)


def test_an_arena_that_ends_by_itself_takes_its_guard_and_its_groups_with_it(place: Place) -> None:
    with subprocess.Popen(  # noqa: S603 - as above
        place.command("-c", ENDS_ITSELF), cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as arena:
        assert arena.stdout is not None
        groups = [Path(word) for word in arena.stdout.readline().decode().split()]
        guard = family(arena.pid)
        assert (1, True) == (len(guard), all(group.exists() for group in groups))
        arena.communicate()
    until(lambda: not alive(guard))
    assert [] == [group for group in groups if group.exists()]
