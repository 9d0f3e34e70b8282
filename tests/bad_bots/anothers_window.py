"""Submits while another seat is to move: to its own last window, and to the one it has not been given yet."""

from raw import Bare, framed, hello, spelled

bot = Bare()
bot.send(framed(hello()))
while True:
    window = bot.hear("window")
    submissions = [
        spelled(type="submit", window=number, action=window["default"])
        for number in (window["id"], window["id"], window["id"] + 1)
    ]
    # At one blow: the first one ends its turn, and before the others it must not be its turn again.
    bot.send(b"".join(map(framed, submissions)))
