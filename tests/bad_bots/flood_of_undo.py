"""Undoes what it never did as fast as it can."""

from raw import Connection

bot = Connection()
bot.hello()
for window in bot.windows():
    for _ in range(1_000):
        bot.say(type="undo", window=window["id"])
