"""Says every byte by itself."""

import time

from raw import Bare, framed, hello, spelled


def drip(body: bytes) -> None:
    for byte in framed(body):
        bot.send(bytes([byte]))
        time.sleep(0.000_1)


bot = Bare()
drip(hello())
while True:
    window = bot.hear("window")
    drip(spelled(type="submit", window=window["id"], action=window["default"]))
