"""Connects again and again, and says what no ZeroMQ says."""

import random
import time
from contextlib import suppress

from raw import GREETING, Bare

rng = random.Random(7)
for n in range(150):
    with suppress(OSError):
        bot = Bare(opened=False)
        bot.send(GREETING[: rng.choice((0, 10, 64))] + rng.randbytes(rng.randrange(1, 300)))
        time.sleep(0.001 * (n % 3))
        bot.socket.close()
time.sleep(3600)
