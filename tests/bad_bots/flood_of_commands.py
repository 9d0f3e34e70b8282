"""Sends ZeroMQ's own commands without end and submits nothing; cut off, it comes again with a hello."""

import time
from contextlib import suppress

from raw import Bare, framed, hello

COMMANDS = b"\4\0\4\x07\4PING\0\0" * 2_000
while True:
    time.sleep(0.001)
    with suppress(OSError, SystemExit):
        bot = Bare()
        bot.send(framed(hello()))
        while True:
            bot.send(COMMANDS)
