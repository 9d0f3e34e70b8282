"""Submits before it has said hello, and to windows that are over or not yet there."""

from raw import Connection

C3 = {"cells": ["C3"]}
bot = Connection()
bot.say(type="submit", window=0, action=C3)
bot.hello()
while True:
    number = bot.hear("window")["id"]
    bot.say(type="submit", window=number - 1, action=C3)
    bot.say(type="submit", window=number + 1, action=C3)
    bot.say(type="submit", window=number, action=C3)
