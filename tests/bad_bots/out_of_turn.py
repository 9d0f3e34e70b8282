"""Submits before it has said hello, and to windows that are over or not yet there."""

from raw import Connection

bot = Connection()
bot.say(type="submit", window=0, action={"cells": ["C3"]})
bot.hello()
for window in bot.windows():
    for number in (window["id"] - 1, window["id"] + 1, window["id"] + 1_000_000, window["id"]):
        bot.say(type="submit", window=number, action=window["default"])
