"""Plays matches of bots that let their time pass, and tells what was found of it; with busy programs beside it.

`python -m tests.real_wire.held_up` plays all ways at all lengths, and prints what came of them.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import trio

from referee.bot_folder.manifest import BotFolder, find_bot
from referee.host.one_match import play
from referee.host.players import SandboxedBot
from referee.match.records import Judged
from referee.sandbox import find_isolation
from referee.sandbox.host_machine import Isolation
from tests.bad_bots.excuses import WAYS
from tests.builders.plans import mist_plan, records_of
from tests.real_wire.zoo import BAD_BOTS, SHARED

NAME = "excuses"
WINDOWS = 2
MAIN_MS = (300, 1_000, 8_000)


def bot_that(way: str, folder: Path) -> BotFolder:
    """Make the bot of tests/bad_bots/excuses.py that goes this way, in a folder of its own."""
    bot = folder / f"{way}-{len(list(folder.iterdir()))}"
    bot.mkdir()
    for source, name in ((NAME, "bot.py"), (SHARED, f"{SHARED}.py")):
        shutil.copy(BAD_BOTS / f"{source}.py", bot / name)
    manifest = f'name = "{way}"\nversion = "1"\ncommand = ["python", "bot.py", "{way}"]\ngames = ["mist"]\n'
    (bot / "bot.toml").write_text(manifest)
    return find_bot(str(bot))


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Programs beside, each of which keeps a processor as busy as it can."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
        for program in programs:
            program.wait()


async def judged(way: str, main_ms: int, folder: Path, isolation: Isolation) -> list[Judged]:
    """Return the verdicts on the windows of a bot that goes this way, in a match against one that answers."""
    policy = {"main_ms": main_ms, "startup_ms": 20_000, "unfair": "note"}
    plan = mist_plan(2 * WINDOWS, policy=policy, isolation=isolation)
    players = [SandboxedBot(bot_that(way, folder)), SandboxedBot(bot_that("prompt", folder))]
    result = await play(plan, players, transcript=folder / f"{way}.jsonl")
    return [each for each in records_of(result) if isinstance(each, Judged) and each.seat == 0]


def main(words: Sequence[str] | None = None) -> None:
    """Play all ways, or some, and print a line for each."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("ways", nargs="*")
    parser.add_argument("--main-ms", type=int, nargs="*", default=MAIN_MS)
    parser.add_argument("--busy", type=int, default=0)
    given = parser.parse_args(words)
    isolation = find_isolation()
    with busy(given.busy):
        for main_ms in given.main_ms:
            for way in given.ways or ("honest", *WAYS):
                with tempfile.TemporaryDirectory() as folder:
                    found = trio.run(judged, way, main_ms, Path(folder), isolation)
                for each in found:
                    evidence = each.evidence
                    print(  # noqa: T201 - a program's output
                        f"{way:24} {main_ms:5} ms, {given.busy} busy, load {os.getloadavg()[0]:4.1f}: "
                        f"{each.verdict}: late by {evidence.late_by}, withheld {evidence.withheld}, "
                        f"slept {evidence.slept}, behind {evidence.behind}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
