"""Sends the longest frames that are no messages, as fast as it can, from before its hello, and submits nothing."""

from contextlib import suppress

from raw import Connection

bot = Connection()
with suppress(Exception):
    while True:
        for _ in range(50):
            bot.socket.send(b"[" * 65_536)
        bot.hello()
        for _ in range(50):
            bot.socket.send(b'{"type":"note","text":"' + b"\\u0000" * 10_000)
