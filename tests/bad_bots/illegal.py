"""Names cells that are not on the board."""

from raw import Connection

bot = Connection()
bot.hello()
while True:
    number = bot.hear("window")["id"]
    for cells in (["Z9"], ["A1", "A2"], ["A1"] * 4, "A1", [1]):
        bot.say(type="submit", window=number, action={"cells": cells})
