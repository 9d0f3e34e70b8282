"""Writes more than is kept to standard output and error, and plays."""

import sys

from raw import Connection

bot = Connection()
bot.hello()
for window in bot.windows():
    sys.stdout.write("o" * 100_000)
    sys.stderr.write("e" * 100_000)
    bot.submit(window)
