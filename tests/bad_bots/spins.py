"""Says hello, and thinks without end."""

from raw import Connection

bot = Connection()
bot.hello()
while True:
    pass
