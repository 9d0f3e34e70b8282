"""Stops itself and a child of its own: neither hears any signal but the last."""

import os
import signal

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("window")
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
