"""Answers every window with frames that are too large, then one that costs it its connection."""

from raw import Connection

bot = Connection()
bot.hello()
while True:
    bot.hear("window")
    for _ in range(20):
        bot.say(type="note", text="x" * 100_000)
    bot.socket.send(b"x" * 2_000_000)
