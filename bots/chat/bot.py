"""A language model's seat: docs/language-models.md. It plays from its author's own machine, as a remote seat."""

from bots.chat_player import ChatSeat
from bots.chat_settings import Settings
from bots.kit import run

if __name__ == "__main__":
    run(ChatSeat(Settings.read()))
