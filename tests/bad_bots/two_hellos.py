"""Says hello twice, and once more at every window."""

from raw import Connection

bot = Connection()
bot.hello()
bot.hello()
last = None
for window in bot.windows():
    if window["id"] != last:
        last = window["id"]
        bot.hello()
    else:
        bot.submit(window)
