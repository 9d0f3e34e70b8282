"""Leaves children behind that hold on to all it has, ignoring every signal that can be ignored."""

import os
import signal
import time

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("window")
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for ignored in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(ignored, signal.SIG_IGN)
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(0)
bot.wait()
