"""Falls over when the match is."""

from raw import Connection

bot = Connection()
bot.hello()
try:
    bot.play()
except SystemExit:
    raise RuntimeError("fell over") from None
