"""Sends a message of parts without end; when it is cut off, it comes again."""

import time
from contextlib import suppress

from raw import Bare, framed, hello

PARTS = framed(b"part", more=True) * 10_000
while True:
    time.sleep(0.001)
    with suppress(OSError, SystemExit):
        bot = Bare()
        bot.send(framed(hello()))
        bot.hear("welcome")
        while True:
            bot.send(PARTS)
