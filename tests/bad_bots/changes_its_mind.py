"""Submits, undoes and submits again, over and over, within what is allowed."""

from raw import Connection

bot = Connection()
bot.hello()
for window in bot.windows():
    for _ in range(20):
        bot.submit(window, final=False)
        bot.say(type="undo", window=window["id"])
    bot.submit(window)
