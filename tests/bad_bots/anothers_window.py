"""Submits while another seat is to move: to its own last window, and to the one it has not been given yet."""

from raw import Connection

bot = Connection()
bot.hello()
while True:
    window = bot.hear("window")
    bot.submit(window)
    bot.hear("closed")
    for number in (window["id"], window["id"] + 1):
        bot.say(type="submit", window=number, action=window["default"])
