"""Sends messages of several parts, the first of which would be right by itself."""

from raw import Connection, spelled

bot = Connection()
bot.hello()
for window in bot.windows():
    action = spelled(type="submit", window=window["id"], action={"cells": ["C3"]})
    for parts in (2, 3, 500):
        bot.socket.send_multipart([action] + [b""] * (parts - 1))
    bot.submit(window)
