"""Sends messages of 131,000 empty parts and submits nothing; cut off, it comes again without a hello."""

import time
from contextlib import suppress

from raw import Bare, framed, hello

PARTS = b"\1\0" * 131_000 + b"\0\0"
said = framed(hello())
while True:
    time.sleep(0.001)
    with suppress(OSError, SystemExit):
        bot = Bare()
        bot.send(said)
        said = b""
        while True:
            bot.send(PARTS)
