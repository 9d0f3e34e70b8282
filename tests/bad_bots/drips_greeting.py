"""Connects, and says ZeroMQ's opening so slowly that it never ends."""

import time

from raw import GREETING, Bare

bot = Bare(opened=False)
for byte in GREETING * 100:
    bot.send(bytes([byte]))
    time.sleep(0.2)
