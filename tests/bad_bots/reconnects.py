"""Says hello, hears that it is welcome, goes and comes again, in a loop."""

import time
from contextlib import suppress

from raw import Bare, framed, hello

while True:
    time.sleep(0.001)
    with suppress(OSError, SystemExit):
        bot = Bare()
        bot.send(framed(hello()))
        bot.hear("welcome")
        bot.socket.close()
