"""Says hello, hears that it is welcome, goes and comes again, in a loop."""

from raw import Bare, framed, hello

while True:
    bot = Bare()
    bot.send(framed(hello()))
    try:
        bot.hear("welcome")
    finally:
        bot.socket.close()
