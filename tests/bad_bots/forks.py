"""Makes as many processes as it is let."""

import os
import time

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("window")
for _ in range(1_000):
    try:
        if os.fork() == 0:
            time.sleep(3600)
    except OSError:
        break
bot.wait()
