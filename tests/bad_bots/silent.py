"""Says hello and then nothing."""

from raw import Connection

bot = Connection()
bot.hello()
bot.wait()
