"""Says hello, and of its first action the first half."""

import time

from raw import Bare, framed, hello, spelled

bot = Bare()
bot.send(framed(hello()))
window = bot.hear("window")
action = framed(spelled(type="submit", window=window["id"], action=window["default"]))
bot.send(action[: len(action) // 2])
time.sleep(3600)
