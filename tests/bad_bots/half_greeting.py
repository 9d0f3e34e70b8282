"""Stops in the middle of ZeroMQ's opening."""

import time

from raw import GREETING, Bare

bot = Bare(opened=False)
bot.send(GREETING[:30])
time.sleep(3600)
