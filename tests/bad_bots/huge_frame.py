"""Announces a frame of a terabyte, and begins it."""

import time

from raw import Bare, framed, hello

bot = Bare()
bot.send(framed(hello()))
bot.hear("window")
try:
    bot.send(b"\x02" + (1 << 40).to_bytes(8, "big"))
    while True:
        bot.send(bytes(1_000_000))
except OSError:
    time.sleep(3600)
