"""A seat for a language model (docs/language-models.md), which plays remotely from its author's machine."""

from bots.chat_player import ChatSeat
from bots.chat_settings import Settings
from bots.kit import run

if __name__ == "__main__":
    run(ChatSeat(Settings.read()))
