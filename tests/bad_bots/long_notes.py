"""Writes notes that are too long."""

from raw import Connection

bot = Connection()
bot.hello()
for window in bot.windows():
    for _ in range(10):
        bot.say(type="note", text="x" * 2_001)
    bot.submit(window)
