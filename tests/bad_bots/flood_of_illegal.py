"""Submits what is against the rules as fast as it can."""

from raw import Connection

bot = Connection()
bot.hello()
for window in bot.windows():
    for _ in range(1_000):
        bot.say(type="submit", window=window["id"], action={"cells": ["Z9"]})
