"""Says hello with a token that it made up."""

from raw import Connection

bot = Connection()
bot.hello(token="0" * 32)
bot.wait()
