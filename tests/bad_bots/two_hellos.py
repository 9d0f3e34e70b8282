"""Says hello twice, and once more at every window."""

from raw import Connection

bot = Connection()
for _ in range(2):
    bot.hello()
for _ in range(2):
    bot.hear("welcome")
while True:
    bot.hear("window")
    bot.hello()
    bot.hear("welcome")
    bot.submit(bot.hear("window"))
