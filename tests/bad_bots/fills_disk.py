"""Writes to its scratch folder until that is full."""

import tempfile

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("window")
with tempfile.TemporaryFile() as file:
    while True:
        file.write(bytes(1_000_000))
