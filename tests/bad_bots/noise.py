"""Connects again and again, and says what no ZeroMQ says."""

import random
import time
from contextlib import suppress

from raw import GREETING, Bare

luck = random.Random(7)
for n in range(150):
    with suppress(OSError):
        bot = Bare(opened=False)
        bot.send(GREETING[: luck.choice((0, 10, 64))] + luck.randbytes(luck.randrange(1, 300)))
        time.sleep(0.001 * (n % 3))
        bot.socket.close()
time.sleep(3600)
