"""Says hello in a protocol that nobody speaks."""

from raw import Connection

bot = Connection()
bot.hello(protocol=99)
bot.wait()
