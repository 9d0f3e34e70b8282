"""What starts cost: a sandboxed bot's against the same bot's started bare, and a command's against bare imports.

A bot is the kit's smallest: it imports the kit (ZeroMQ, msgspec, our words), connects and says `hello`. Bare is
one `Popen` of the same interpreter with the same environment, and nothing else.

A command is one with very short matches, in which starts are nearly all that is done. It is compared with an
interpreter that imports trio, msgspec and ZeroMQ and ends: in time, and in processor time of all its processes.
All runs are interleaved, and all modules compiled.
Run as `bench_start.py [RUNS]`; --quick for a look.
"""

import compileall
import os
import resource
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import cache, partial
from pathlib import Path

import trio
from msgspec import Struct

from protocol.codec import decode_client_message
from protocol.messages import Hello
from referee import sandbox
from referee.bot_folder import BotFolder, find_bot
from referee.sandbox import PROJECT, Isolation, environment, this_machine
from referee.wire import Arrived, Bell, LocalLine, Wire, open_wire

AT_MOST = {"sandboxed": 1.2, "warm": 0.25}
"""The ratios of medians to the bare start that are asked for."""
RUNS, QUICK = 40, 10
COMMAND_RUNS, QUICK_COMMAND_RUNS = 10, 4
COMMANDS_AT_MOST = {"tournament": 6.5}
"""Ratios of processor time to the bare imports' that are asked for."""
CUP = 'game = "mist"\nbots = ["mist_random", "mist_cautious"]\nseed = 1\noptions.max_turns = 2\n'
IMPORTS = ("-c", "import trio, msgspec, zmq")
HOUSE = Path(__file__).resolve().parents[1]
PROGRAM = "from bots.kit import run\n\nrun(lambda window: window.default)\n"
TOLD = 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n'

Start = Callable[[trio.Nursery, BotFolder, Path, Path], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def bare(_nursery: trio.Nursery, bot: BotFolder, line: Path, scratch: Path) -> AsyncIterator[None]:
    """The interpreter on the bot's file, with nothing before it."""
    machine = this_machine()
    told = environment(
        endpoint=f"ipc://{line}",
        token="",
        scratch=str(scratch),
        python_path=":".join([str(PROJECT), *map(str, machine.packages)]),
    )
    with subprocess.Popen([machine.interpreter, "bot.py"], cwd=bot.folder, env=told) as process:  # noqa: ASYNC220
        yield
        process.kill()


@asynccontextmanager
async def sandboxed(
    nursery: trio.Nursery, bot: BotFolder, line: Path, scratch: Path, *, warm: bool = False
) -> AsyncIterator[None]:
    """As matches are played; warm, as they are with bots in Python."""
    log = scratch / "log"
    process = await sandbox.start(nursery, bot, line=line, token="", isolation=level(), log=log, warm=warm)
    yield
    await process.kill()


@cache
def level() -> Isolation:
    """The best that this machine has."""
    return sandbox.find_isolation()


async def to_hello(wire: Wire, bot: BotFolder, start: Start) -> float:
    """Seconds from the start to the bot's `hello`."""
    with tempfile.TemporaryDirectory() as folder:
        async with trio.open_nursery() as nursery:
            directory, scratch = Path(tempfile.mkdtemp(dir=folder)), Path(tempfile.mkdtemp(dir=folder))
            bell = Bell()
            line = wire.open_line(nursery, bell, directory)
            began = time.perf_counter()
            async with start(nursery, bot, line.path, scratch):
                said = await heard(line, bell)
                took = time.perf_counter() - began
            assert isinstance(decode_client_message(said), Hello)  # noqa: S101 - else it measured something else
            nursery.cancel_scope.cancel()
    return took


def smallest_bot(folder: Path) -> BotFolder:
    """Made in a folder that any user may read."""
    folder.chmod(0o755)
    (folder / "bot.py").write_text(PROGRAM)
    (folder / "bot.toml").write_text(TOLD)
    return find_bot(str(folder))


async def heard(line: LocalLine, bell: Bell) -> bytes:
    """The first frame that comes."""
    while True:
        try:
            if isinstance(come := line.receive_nowait(), Arrived):
                return come.frame
        except trio.WouldBlock:
            await bell.wait()


async def main(runs: int) -> bool:
    """Prints the medians and their ratio; whether that is good enough."""
    starts: dict[str, Start] = {"bare": bare, "sandboxed": sandboxed, "warm": partial(sandboxed, warm=True)}
    took: dict[str, list[float]] = {name: [] for name in starts}
    with tempfile.TemporaryDirectory() as folder:
        bot = smallest_bot(Path(folder))
        async with open_wire() as wire:
            for run in range(-1, runs):
                for name, start in starts.items():
                    seconds = await to_hello(wire, bot, start)
                    # The first of each warms what later ones find warm.
                    if run >= 0:
                        took[name].append(seconds)
    medians = {name: statistics.median(values) for name, values in took.items()}
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    for name, median in medians.items():
        print(f"start to hello, {name:9}  {median * 1000:6.1f} ms  (median of {runs}, as {who}, {level()})")
    ratios = {name: medians[name] / medians["bare"] for name in AT_MOST}
    for name, ratio in ratios.items():
        print(f"ratio {name:9}            {ratio:6.2f}     (at most {AT_MOST[name]})")
    return all(ratio <= AT_MOST[name] for name, ratio in ratios.items())


class Cost(Struct, frozen=True):
    """What one run of a program took, in seconds."""

    whole: float
    first_line: float
    """Until it showed something."""
    processor: float
    """Processor time of the program and of all processes that it waited for."""


def run_program(arguments: Sequence[str], folder: Path) -> Cost:
    """Run this interpreter with arguments, at a terminal: commands show there how far they are.

    Raises:
        CalledProcessError: the program failed.
    """
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    reading, writing = os.openpty()
    said = bytearray()
    with subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=own, stdout=writing, stderr=writing
    ) as run:
        os.close(writing)
        select.select([reading], [], [])
        first_line = time.perf_counter() - began
        with suppress(OSError):  # This is how a terminal says that nobody has it any more.
            while words := os.read(reading, 65_536):
                said += words
    os.close(reading)
    whole, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        raise subprocess.CalledProcessError(run.returncode, run.args, bytes(said))
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(whole, first_line, processor)


def commands(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the commands that are measured, as arguments of the interpreter, by what they are called."""
    (folder / "cup.toml").write_text(CUP)
    arena, turns = ("-m", "arena"), ("--options", '{"max_turns": 2}')
    return {
        "bare imports": IMPORTS,
        "help": (*arena, "--help"),
        "match": (*arena, "match", "mist", "mist_random", "mist_cautious", *turns),
        "check": (*arena, "check", "mist_random", "--game", "mist", "--matches", "2", *turns),
        "tournament": (*arena, "tournament", "cup.toml", "--fresh"),
    }


def measure_commands(runs: int) -> bool:
    """Print what commands cost, and return whether that is within the bounds."""
    for package in ("arena", "bots", "protocol", "referee"):
        compileall.compile_dir(HOUSE / package, quiet=2)
    with tempfile.TemporaryDirectory() as name:
        measured = commands(Path(name))
        costs: dict[str, list[Cost]] = {each: [] for each in measured}
        for run in range(-1, runs):
            for each, arguments in measured.items():
                cost = run_program(arguments, Path(name))
                # The first of each warms what later ones find warm.
                if run >= 0:
                    costs[each].append(cost)
    processor = {each: statistics.median(cost.processor for cost in found) for each, found in costs.items()}
    bare_seconds = processor["bare imports"]
    load = os.getloadavg()[0]
    print(f"\ncommands, medians of {runs}, load {load:.1f} at the end:")
    print("                 seconds  first line  processor time  of bare imports")
    for each, found in costs.items():
        whole = statistics.median(cost.whole for cost in found)
        first = statistics.median(cost.first_line for cost in found)
        bound = f"  (at most {COMMANDS_AT_MOST[each]})" if each in COMMANDS_AT_MOST else ""
        ratio = processor[each] / bare_seconds
        print(f"{each:15} {whole:8.2f} {first:11.2f} {processor[each]:15.2f} {ratio:16.1f}{bound}")
    return all(processor[each] / bare_seconds <= most for each, most in COMMANDS_AT_MOST.items())


if __name__ == "__main__":
    given = dict(enumerate(sys.argv)).get(1, str(RUNS))
    quick = given == "--quick"
    bots_are_good = trio.run(main, QUICK if quick else int(given))
    commands_are_good = measure_commands(QUICK_COMMAND_RUNS if quick else COMMAND_RUNS)
    sys.exit(not (bots_are_good and commands_are_good))
