"""Submits as fast as it can, legal actions without end, at every window."""

from raw import Connection

bot = Connection()
bot.hello()
while True:
    number = bot.hear("window")["id"]
    for _ in range(1_000):
        bot.say(type="submit", window=number, action={"cells": ["C3"]}, final=False)
