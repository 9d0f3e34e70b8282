"""Names cells that are not on the board."""

from raw import Connection

bot = Connection()
bot.hello()
for window in bot.windows():
    for cells in (["Z9"], ["A1", "A2"], ["A1"] * 4, "A1", [1]):
        bot.say(type="submit", window=window["id"], action={"cells": cells})
