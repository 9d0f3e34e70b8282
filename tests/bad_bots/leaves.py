"""Leaves in the middle, as if all were well."""

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("window")
