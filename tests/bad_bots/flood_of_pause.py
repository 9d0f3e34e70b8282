"""Asks for pauses as fast as it can."""

from raw import Connection

bot = Connection()
bot.hello()
for _ in bot.windows():
    for _ in range(1_000):
        bot.say(type="pause")
