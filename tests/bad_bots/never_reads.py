"""Says hello and hears nothing of what it is told."""

import time

from raw import Bare, framed, hello

bot = Bare()
bot.send(framed(hello()))
time.sleep(3600)
