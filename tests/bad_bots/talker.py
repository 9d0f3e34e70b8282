"""Writes without end to standard output and error."""

import sys

from raw import Connection

bot = Connection()
bot.hello()
while True:
    number = bot.hear("window")["id"]
    for _ in range(50):
        sys.stdout.write("o" * 100_000)
        sys.stderr.write("e" * 100_000)
    bot.say(type="submit", window=number, action={"cells": ["C3"]})
