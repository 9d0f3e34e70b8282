"""Bots' processes, and many at once: `start`, `idle`, `seats`, `load`."""

import argparse
import compileall
import gc
import os
import re
import resource
import select
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import cache, partial
from itertools import count, takewhile
from operator import attrgetter
from pathlib import Path
from typing import Any

import trio
from msgspec import Raw, Struct

from arena import event_loop
from arena.stress import resident_bytes
from benchmarks.harness import HOUSE, Judgement, bench, option
from protocol.codec import decode_client_message
from protocol.messages import Hello
from referee import sandbox
from referee.bot_folder import BotFolder, find_bot
from referee.host import Plan, SandboxedBot, play
from referee.linux.processes import descendants
from referee.match import Policy, WindowTime
from referee.sandbox import PROJECT, Isolation, environment, this_machine
from referee.transcript import read_transcript
from referee.wire import Arrived, Bell, LocalLine, Wire, open_wire

MOST_STARTS = {"sandboxed": 1.2, "warm": 0.25}
"""Maximum ratios of medians to the bare start."""
START_RUNS, QUICK_START_RUNS = 40, 10
COMMAND_RUNS, QUICK_COMMAND_RUNS = 10, 4
COMMANDS_AT_MOST = {"tournament": 6.5}
"""Maximum ratios of processor time to that of the bare imports."""
CUP = 'game = "mist"\nbots = ["mist_random", "mist_cautious"]\nseed = 1\noptions.max_turns = 2\n'
IMPORTS = ("-c", "import trio, msgspec, zmq")
PROGRAM = "from bots.kit import run\n\nrun(lambda window: window.default)\n"
TOLD = 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n'

Start = Callable[[trio.Nursery, BotFolder, Path, Path], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def bare(_nursery: trio.Nursery, bot: BotFolder, line: Path, scratch: Path) -> AsyncIterator[None]:
    """Run the interpreter on the bot's file, without a sandbox."""
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
    """Start a bot as matches do; warm, as they do with bots in Python."""
    log = scratch / "log"
    process = await sandbox.start(nursery, bot, line=line, token="", isolation=level(), log=log, warm=warm)
    yield
    await process.kill()


@cache
def level() -> Isolation:
    """Return the best isolation of this machine."""
    return sandbox.find_isolation()


async def to_hello(wire: Wire, bot: BotFolder, start: Start) -> float:
    """Return the seconds from the start to the bot's `hello`."""
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
    """Write the kit's smallest bot to a folder that any user may read."""
    folder.chmod(0o755)
    (folder / "bot.py").write_text(PROGRAM)
    (folder / "bot.toml").write_text(TOLD)
    return find_bot(str(folder))


async def heard(line: LocalLine, bell: Bell) -> bytes:
    """Return the first frame of a line."""
    while True:
        try:
            if isinstance(come := line.receive_nowait(), Arrived):
                return come.frame
        except trio.WouldBlock:
            await bell.wait()


async def measure_bots(runs: int) -> bool:
    """Print the medians and their ratios. Return whether these are within the bounds."""
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
    ratios = {name: medians[name] / medians["bare"] for name in MOST_STARTS}
    for name, ratio in ratios.items():
        print(f"ratio {name:9}            {ratio:6.2f}     (at most {MOST_STARTS[name]})")
    return all(ratio <= MOST_STARTS[name] for name, ratio in ratios.items())


class Cost(Struct, frozen=True):
    """The cost of one run of a program, in seconds."""

    whole: float
    first_line: float
    """Time until the first output."""
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
    ratios: dict[str, float] = {}
    """Processor time relative to that of the bare imports, by command."""
    bare_seconds = statistics.median(cost.processor for cost in costs["bare imports"])
    load = os.getloadavg()[0]
    print(f"\ncommands, medians of {runs}, load {load:.1f} at the end:")
    print("                 seconds  first line  processor time  of bare imports")
    for each, found in costs.items():
        whole = statistics.median(cost.whole for cost in found)
        first = statistics.median(cost.first_line for cost in found)
        bound = f"  (at most {COMMANDS_AT_MOST[each]})" if each in COMMANDS_AT_MOST else ""
        processor = statistics.median(cost.processor for cost in found)
        ratios[each] = processor / bare_seconds
        print(f"{each:15} {whole:8.2f} {first:11.2f} {processor:15.2f} {ratios[each]:16.1f}{bound}")
    return all(ratios[each] <= most for each, most in COMMANDS_AT_MOST.items())


@bench("start", option("--runs", type=int, default=START_RUNS, help="starts of each kind of bot"))
def start(options: argparse.Namespace) -> Judgement:
    """Measure starts: of a sandboxed bot against the same bot started bare, of a command against bare imports.

    The bot is the kit's smallest: it imports the kit (ZeroMQ, msgspec, our words), connects and sends `hello`.
    Bare is one `Popen` of the same interpreter with the same environment. The commands have very short
    matches, in which starts are nearly all the work. They are compared, in time and in processor time of all
    their processes, with an interpreter that imports trio, msgspec and ZeroMQ and exits. All runs are
    interleaved, and all modules compiled.
    """
    bots_are_good = trio.run(measure_bots, QUICK_START_RUNS if options.quick else options.runs)
    commands_are_good = measure_commands(QUICK_COMMAND_RUNS if options.quick else COMMAND_RUNS)
    return bots_are_good and commands_are_good


IDLE_BOTS, QUICK_IDLE_BOTS = 50, 10
MACHINE_KB = 16 * 1024 * 1024
MOST_KB = 3.5 * 1024
"""Maximum KiB of an idle warm bot, with its sandbox's own processes."""
PSS = re.compile(r"^Pss:\s+(\d+) kB$", re.MULTILINE)


def share_kb(pid: int) -> int:
    """Return a process's proportional share of memory, in KiB; 0 if it has exited."""
    with suppress(OSError):
        found = PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text())
        return int(found[1]) if found else 0
    return 0


async def idle_kb(bot: BotFolder, bots: int, folder: Path, *, warm: bool) -> tuple[float, float]:
    """Return the mean KiB of idle bots: of the bot's own process, and with the sandbox's own processes."""
    async with open_wire() as wire, trio.open_nursery() as nursery:
        processes = []
        for number in range(bots):
            directory = Path(tempfile.mkdtemp(dir=folder))
            bell = Bell()
            line = wire.open_line(nursery, bell, directory)
            log = folder / f"{number}.log"
            processes.append(
                await sandbox.start(nursery, bot, line=line.path, token="", isolation=level(), log=log, warm=warm)
            )
            await heard(line, bell)
        shares = [list(map(share_kb, (each.pid, *descendants(each.pid)))) for each in processes]
        for each in processes:
            await each.kill()
        nursery.cancel_scope.cancel()
    return sum(map(max, shares)) / bots, sum(map(sum, shares)) / bots


@bench("idle", option("--bots", type=int, default=IDLE_BOTS))
def idle(options: argparse.Namespace) -> Judgement:
    """Measure the memory of an idle bot, fresh and forked warm: the proportional share (PSS) of all its processes.

    Each bot is the kit's smallest, connected, and past its `hello`. Memory that bots share is divided among them
    all, so the number is that of many bots together.
    """
    return trio.run(measure_idle, QUICK_IDLE_BOTS if options.quick else options.bots)


async def measure_idle(bots: int) -> bool:
    """Print the memory of fresh and warm bots. Return whether a warm one is within the bound."""
    whole: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        bot = smallest_bot(Path(tempfile.mkdtemp(dir=folder)))
        Path(folder).chmod(0o755)
        for name, warm in (("fresh", False), ("warm", True)):
            own, whole[name] = await idle_kb(bot, bots, Path(folder), warm=warm)
            print(
                f"idle, {name:6} {own / 1024:6.2f} MiB PSS a bot, {whole[name] / 1024:6.2f} with its sandbox's own"
                f" processes  (of {bots}); {int(MACHINE_KB / whole[name]):,} fit in 16 GiB"
            )
    print(f"warm at most {MOST_KB / 1024:.1f} MiB, with its sandbox's own processes")
    return whole["warm"] <= MOST_KB


SEATS = 13
SEATS_RUNS, QUICK_SEATS_RUNS = 20, 5
GAMES = {"pointing": ("tempo-up", "pointing_random"), "fight-for-a-name": ("guardians", "fight_for_a_name_random")}
"""The games of 13 seats: variant, and the random bot."""
PARTS = ("start", "thinking", "referee", "ending")


async def one_match(game: str, seed: int, wire: Wire, folder: Path) -> tuple[dict[str, float], float]:
    """Return the seconds of each part of a match, and the arena's processor time while windows were open."""
    variant, name = GAMES[game]
    players = [SandboxedBot(find_bot(name))] * SEATS
    told: list[tuple[float, float]] = []

    def note(*_: Any) -> None:
        """Store the times of an event. The first is sent after the last `hello`, the last one at the end."""
        told.append((time.perf_counter(), time.process_time()))

    called = time.perf_counter()
    result = await play(
        Plan(match=f"bench-{seed}", game=game, variant=variant, seed=seed),
        players,
        transcript=folder / f"{game}-{seed}.jsonl",
        watch=note,
        wire=wire,
    )
    ended = time.perf_counter()
    if result.void is not None:
        raise RuntimeError(result.void)
    (began, cpu_began), (closed, cpu_closed) = told[0], told[-1]
    thinking = thinking_of(read_transcript(Path(result.transcript)))
    parts = (began - called, thinking, closed - began - thinking, ended - closed)
    return dict(zip(PARTS, parts, strict=True)), cpu_closed - cpu_began


def thinking_of(records: Iterable[Any]) -> float:
    """Return the seconds in which some bot had a window and had not answered it."""
    thinking_us = 0
    for record in records:
        if isinstance(record, WindowTime):
            last = max(seat.opened if seat.arrived is None else seat.arrived for seat in record.seats)
            thinking_us += last - min(seat.opened for seat in record.seats)
    return thinking_us / 1e6


async def measured(game: str, runs: int, folder: Path) -> list[tuple[dict[str, float], float]]:
    """Play some matches, one after the other, after a first one that warms caches."""
    async with open_wire() as wire:
        return [await one_match(game, seed, wire, folder) for seed in range(runs + 1)][1:]


def told_of(game: str, runs: Sequence[tuple[dict[str, float], float]]) -> bool:
    """Print the medians. Return whether the start of processes is the largest part."""
    medians = {part: statistics.median([parts[part] for parts, _ in runs]) for part in PARTS}
    total = sum(medians.values())
    print(f"{game}, {SEATS} seats: {total * 1e3:.0f} ms a match (medians of {len(runs)})")
    for part, seconds in medians.items():
        print(f"  {part:9} {seconds * 1e3:z8.1f} ms  {100 * seconds / total:z4.0f}%")
    own = statistics.median(cpu for _, cpu in runs)
    print(f"  the arena's own processor time while windows were open: {own * 1e3:.1f} ms")
    return max(medians, key=medians.__getitem__) == "start"


@bench("seats", option("--runs", type=int, default=SEATS_RUNS, help="matches of each game"))
def seats(options: argparse.Namespace) -> Judgement:
    """Measure the parts of a match of 13 seats, over the real wire, with 13 random bots in sandboxes.

    Start: from the call until the last bot has sent `hello`. Thinking: the time in which some bot has a window and
    has not answered, by the stamps of handing over and arrival. Referee: the rest until the last window has
    closed, which is rules, views, transcript and wire. Ending: until the bots have exited and the transcript
    is sealed. The start of processes must be the largest part.
    """
    runs = QUICK_SEATS_RUNS if options.quick else options.runs
    good = True
    for game in GAMES:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            found = event_loop.run(partial(measured, game, runs, Path(folder)))
        good &= told_of(game, found)
    print("start is the largest part" if good else "start is NOT the largest part")
    return good


MATCHES, AT_ONCE = 2_000, 250
SOAK_AT_ONCE = 50
MOST_KIB = 1024.0
"""Maximum memory of the referee per match at once, in KiB."""
GLANCE_SECONDS = 0.1
ROUNDS = 60
"""Number of measurements in a soak."""
GROWTH = 0.02
"""Relative growth of a median that counts as noise."""
STARTUP_MS = 120_000
LOAD_BOTS = ("mist_random", "mist_cautious")


class Look(Struct, frozen=True):
    """Resources of the referee's process at one moment."""

    memory_kib: int
    descriptors: int
    threads: int
    objects: int
    """Number of objects of the garbage collector."""


class Load:
    """Matches that are played at once, one for each seed."""

    def __init__(self, wire: Wire, folder: Path, at_once: int) -> None:
        self._wire, self._folder, self._at_once = wire, folder, at_once
        self._bots = tuple(SandboxedBot(find_bot(name)) for name in LOAD_BOTS)
        self.played = 0
        self.verdicts = Counter[str]()
        self.voids: list[str] = []

    async def play(self, seeds: Iterator[int]) -> None:
        """Play one match for each seed."""
        async with trio.open_nursery() as nursery:
            for _ in range(self._at_once):
                nursery.start_soon(self._work, seeds)

    async def _work(self, seeds: Iterator[int]) -> None:
        for seed in seeds:
            plan = Plan(
                match=f"load-{seed}",
                game="mist",
                variant="contractual-obligation",
                seed=seed,
                options=Raw(b'{"max_turns":60}'),
                policy=Policy(startup_ms=STARTUP_MS, unfair="note"),
            )
            path = self._folder / f"{seed}.jsonl"
            result = await play(plan, self._bots, transcript=path, wire=self._wire)
            for file in self._folder.glob(f"{seed}.*"):
                file.unlink()
            self.played += 1
            if result.void is not None:
                self.voids.append(result.void)
            for verdicts in result.verdicts:
                self.verdicts.update(verdicts)


def look_now() -> Look:
    """Return the present resources."""
    return Look(
        resident_bytes() // 1024,
        len([*Path("/proc/self/fd").iterdir()]),
        threading.active_count(),
        len(gc.get_objects()),
    )


async def watched(act: Callable[[], object], seconds: float) -> None:
    """Call a function periodically until cancelled."""
    while True:
        act()
        await trio.sleep(seconds)


async def burst(matches: int, at_once: int) -> bool:
    """Play some matches. Return whether no window was lost and memory is within its bound."""
    with tempfile.TemporaryDirectory(prefix="bench-load-") as folder:
        async with open_wire() as wire, trio.open_nursery() as nursery:
            under_load = Load(wire, Path(folder), at_once)
            await under_load.play(iter(range(2)))  # What all matches share is there after the first ones.
            before, most = resident_bytes(), [0]
            nursery.start_soon(watched, lambda: most.append(max(most.pop(), resident_bytes())), GLANCE_SECONDS)
            began, cpu = time.monotonic(), time.process_time()
            await under_load.play(iter(range(2, matches + 2)))
            seconds, cpu = time.monotonic() - began, time.process_time() - cpu
            nursery.cancel_scope.cancel()
    each = (most[0] - before) / 1024 / at_once
    print(
        f"{matches} matches, {at_once} at once, {2 * at_once} bots: {seconds:.0f} s, {matches / seconds:.1f} a "
        f"second; the referee's processor time {cpu / matches * 1e3:.1f} ms a match"
    )
    print(f"memory: {before / 2**20:.0f} MiB before, {each:.0f} KiB a match at once (at most {MOST_KIB:.0f})")
    return blames_bots_only(under_load) and each <= MOST_KIB


async def soak(minutes: float, at_once: int) -> bool:
    """Play matches for some time. Return whether nothing grows."""
    looks: list[Look] = []
    with tempfile.TemporaryDirectory(prefix="bench-load-") as folder:
        async with open_wire() as wire:
            under_load, seeds = Load(wire, Path(folder), at_once), count()
            began = time.monotonic()
            for number in range(1, ROUNDS + 1):
                end = began + 60 * minutes * number / ROUNDS
                await under_load.play(takewhile(partial(_before, end), seeds))
                looks.append(look_now())
    print(
        f"{under_load.played} matches in {minutes:.0f} minutes, {at_once} at once, {len(looks)} looks between them"
    )
    quarter = len(looks) // 4
    second, last = looks[quarter : 2 * quarter], looks[-quarter:]
    good = blames_bots_only(under_load)
    for name in Look.__struct_fields__:
        early = statistics.median(map(attrgetter(name), second))
        late = statistics.median(map(attrgetter(name), last))
        grew = late > early * (1 + GROWTH)
        print(f"{name:<12} {early:>10.0f} -> {late:>10.0f}{'  grew' if grew else ''}")
        good = good and not grew
    return good


def _before(end: float, _: int) -> bool:
    """Return whether it is before `end`, on the monotonic clock."""
    return time.monotonic() < end


def blames_bots_only(found: Load) -> bool:
    """Print the reasons for lost windows. Return whether none is the referee's or the machine's."""
    print(
        f"windows lost or paid for: {dict(found.verdicts) or 'none'}; void: {len(found.voids)} {found.voids[:3]}"
    )
    return not found.voids and not found.verdicts["referee"] and not found.verdicts["host"]


@bench(
    "load",
    option("--soak", type=float, metavar="MINUTES", help="play for so long, 50 at once, and look for growth"),
    option("--matches", type=int),
    option("--at-once", type=int),
)
def load(options: argparse.Namespace) -> Judgement:
    """Measure 250 matches of Mist at once: 500 bots in strict sandboxes, one referee process, 2,000 matches.

    The bots answer within their time, so no window may be lost by the referee's fault. The referee's peak memory,
    less its memory before the first match, is divided by the number of matches at once. A soak compares the median
    measurements of the last quarter with those of the second, because the first warms up. It measures sixty times,
    each time after all matches under way have ended.
    """
    if options.soak:
        return event_loop.run(partial(soak, options.soak, options.at_once or SOAK_AT_ONCE))
    matches = options.matches or (MATCHES // 10 if options.quick else MATCHES)
    at_once = options.at_once or (AT_ONCE // 5 if options.quick else AT_ONCE)
    return event_loop.run(partial(burst, matches, at_once))
