"""Takes memory until there is none to be had."""

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("window")
kept = []
while True:
    kept.append(bytearray(16_000_000))
