"""Ends in its first window, with an exit code that says that all was not well."""

from raw import Connection

bot = Connection()
bot.hello()
bot.hear("window")
raise SystemExit(77)
