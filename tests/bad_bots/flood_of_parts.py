"""Sends messages of as many empty parts as are borne, one after the other, and submits nothing."""

from raw import Bare, framed, hello

MESSAGES = (b"\1\0" * 500 + b"\0\0") * 20
bot = Bare()
bot.send(framed(hello()))
bot.hear("window")
while True:
    bot.send(MESSAGES)
