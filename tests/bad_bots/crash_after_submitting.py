"""Falls over when its first action has been accepted."""

from raw import Connection

bot = Connection()
bot.hello()
bot.submit(bot.hear("window"))
bot.hear("accepted")
raise RuntimeError("fell over")
