"""Ends as if all were well, and leaves children that hold its socket open."""

import os
import signal
import time

from raw import Bare, framed, hello

bot = Bare()
bot.socket.set_inheritable(True)
bot.send(framed(hello()))
bot.hear("window")
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)
