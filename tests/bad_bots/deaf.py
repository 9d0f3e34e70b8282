"""Never reads, and says hello until it is thrown out."""

import time

from raw import Connection

bot = Connection()
for _ in range(1_000):
    bot.hello()
    time.sleep(0.001)
time.sleep(3600)
