"""Submits what is against the rules, as long as a frame may be, and of what takes twice that in a transcript."""

from raw import Connection, spelled

FRAME_BYTES = 64 * 1024

bot = Connection()
bot.hello()
for window in bot.windows():
    bare = spelled(type="submit", window=window["id"], action={"cells": ["Z9"]})
    frame = bare[:-1] + b"\n" * (FRAME_BYTES - len(bare)) + b"}"
    for _ in range(1_000):
        bot.socket.send(frame)
