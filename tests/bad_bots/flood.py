"""Submits as fast as it can, legal actions without end, at every window."""

from raw import Connection

bot = Connection()
bot.hello()
for window in bot.windows():
    for _ in range(1_000):
        bot.submit(window, final=False)
