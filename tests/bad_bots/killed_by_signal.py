"""Ends itself by a signal."""

import os
import signal

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("window")
os.kill(os.getpid(), signal.SIGABRT)
