"""Falls over at its second window."""

from raw import Connection

bot = Connection()
bot.hello()
bot.submit(bot.hear("window"))
bot.hear("window")
raise RuntimeError("fell over")
