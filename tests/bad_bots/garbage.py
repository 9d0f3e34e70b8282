"""Says hello, then bytes that mean nothing, until it is hung up on."""

from raw import Connection

bot = Connection()
bot.hello()
while True:
    bot.hear("window")
    for number in range(60):
        bot.socket.send(bytes(range(number, number + 100)))
