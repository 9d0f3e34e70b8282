"""How much memory an idle bot takes, fresh and forked warm: the proportional share (PSS) of all its processes.

Each bot is the kit's smallest, connected, and past its `hello`. The share of what bots have in common is spread
over them all, so the number is of many bots together. Run as `bench_idle.py [BOTS]`; --quick for a look.
"""

import re
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import trio
from bench_start import heard, level, smallest_bot

from referee import sandbox
from referee.bot_folder import BotFolder
from referee.linux.processes import descendants
from referee.wire import Bell, open_wire

BOTS, QUICK = 50, 10
MACHINE_KB = 16 * 1024 * 1024
MOST_KB = 3.5 * 1024
"""Of an idle warm bot, with its sandbox's own processes."""
PSS = re.compile(r"^Pss:\s+(\d+) kB$", re.MULTILINE)


def share_kb(pid: int) -> int:
    """A process's proportional share of memory, in KiB; none once it is gone."""
    with suppress(OSError):
        found = PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text())
        return int(found[1]) if found else 0
    return 0


async def idle_kb(bot: BotFolder, bots: int, folder: Path, *, warm: bool) -> tuple[float, float]:
    """KiB of one of so many idle bots: of the bot's own process, and with the sandbox's own processes."""
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
        shares = [[share_kb(pid) for pid in (each.pid, *descendants(each.pid))] for each in processes]
        for each in processes:
            await each.kill()
        nursery.cancel_scope.cancel()
    return sum(map(max, shares)) / bots, sum(map(sum, shares)) / bots


async def main(bots: int) -> bool:
    """Prints both, and how many fit; whether a warm one is small enough."""
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


if __name__ == "__main__":
    given = dict(enumerate(sys.argv)).get(1, str(BOTS))
    sys.exit(not trio.run(main, QUICK if given == "--quick" else int(given)))
