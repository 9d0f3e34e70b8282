"""Plays, and writes to standard error as fast as it is let, gigabytes if it can."""

import os
import threading

from raw import Connection


def write() -> None:
    while True:
        os.write(2, b"e" * 1_000_000)


bot = Connection()
bot.hello()
threading.Thread(target=write, daemon=True).start()
bot.play()
