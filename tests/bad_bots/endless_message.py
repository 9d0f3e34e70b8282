"""Sends a message of parts without end; when it is cut off, it comes again."""

from raw import Bare, framed, hello

PARTS = framed(b"part", more=True) * 10_000
while True:
    bot = Bare()
    bot.send(framed(hello()))
    try:
        bot.hear("window")
        while True:
            bot.send(PARTS)
    except (OSError, SystemExit):
        bot.socket.close()
