"""Closes its standard input, output and error, and plays on."""

import os

from raw import Connection

for descriptor in (0, 1, 2):
    os.close(descriptor)
bot = Connection()
bot.hello()
bot.play()
