"""A referee that will be killed while its bot is frozen.

Run by `command` with the words FOLDER LINE LOG ISOLATION warm|cold, and with its bot's token on standard input, it
says with a line of output that the bot stands still, and then waits for its end.
"""

import sys
from pathlib import Path

import trio
from msgspec import convert

from referee.bot_folder import find_bot
from referee.proofs.escapes.finding import How
from referee.proofs.escapes.stage import Place
from referee.proofs.escapes.subject import start
from referee.sandbox import Isolation


def command(place: Place, how: How) -> list[str]:
    """What starts it."""
    words = (place.bot.folder, place.line, place.log, how.isolation, "warm" if how.warm else "cold")
    # By `-m` Python would warn of a module that its package has imported already.
    begin = f"import sys, trio; from {__name__} import main; trio.run(main, *sys.argv[1:])"
    return [sys.executable, "-c", begin, *map(str, words)]


async def main(*words: str) -> None:
    """Stays until it is killed."""
    folder, line, log, isolation, warm = words
    how = How(isolation=convert(isolation, Isolation), warm=warm == "warm")
    place = Place(find_bot(folder), Path(line), Path(log))
    async with trio.open_nursery() as nursery:
        bot = await start(nursery, place, sys.stdin.readline().strip(), how)
        await bot.first("process")
        bot.process.freeze()
        sys.stdout.write("frozen\n")
        sys.stdout.flush()
        await trio.sleep_forever()
