"""Ends itself by the one signal that nobody hears."""

import os
import signal

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("window")
os.kill(os.getpid(), signal.SIGKILL)
