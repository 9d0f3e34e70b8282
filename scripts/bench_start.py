"""How much longer a sandboxed bot takes to its `hello` than the same bot started bare, in interleaved runs.

The bot is the kit's smallest: it imports the kit (ZeroMQ, msgspec, our words), connects and says `hello`. Bare is
one `Popen` of the same interpreter with the same environment, and nothing else.
Run as `bench_start.py [RUNS]`; --quick for a look.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, partial
from pathlib import Path

import trio

from protocol.codec import decode_client_message
from protocol.messages import Hello
from referee import sandbox
from referee.bot_folder import BotFolder, find_bot
from referee.sandbox import PROJECT, Isolation, environment, this_machine
from referee.wire import Arrived, Bell, LocalLine, Wire, open_wire

AT_MOST = {"sandboxed": 1.2, "warm": 0.25}
"""The ratios of medians to the bare start that are asked for."""
RUNS, QUICK = 40, 10
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


if __name__ == "__main__":
    given = dict(enumerate(sys.argv)).get(1, str(RUNS))
    sys.exit(not trio.run(main, QUICK if given == "--quick" else int(given)))
