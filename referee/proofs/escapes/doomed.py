"""A referee that will be killed while its bot is frozen.

`command` runs it with the arguments FOLDER LINE LOG ISOLATION warm|cold and with the bot's token on standard
input. It prints a line when the bot is frozen, and then waits to be killed.
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
    """Return the command that starts this referee."""
    words = (place.bot.folder, place.line, place.log, how.isolation, "warm" if how.warm else "cold")
    # With `-m`, Python would warn about a module that its package has already imported.
    begin = f"import sys, trio; from {__name__} import main; trio.run(main, *sys.argv[1:])"
    return [sys.executable, "-c", begin, *map(str, words)]


async def main(*words: str) -> None:
    """Start the bot, freeze it, and wait to be killed."""
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
