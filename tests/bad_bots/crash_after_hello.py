"""Falls over as soon as it is welcome."""

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("welcome")
raise RuntimeError("fell over")
