"""Falls over at its first window."""

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("window")
raise RuntimeError("fell over")
