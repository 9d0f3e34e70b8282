"""A seat for a language model (docs/language-models.md), which plays remotely from its author's machine."""

from bots.kit import run
from bots.language_model.player import ChatSeat
from bots.language_model.settings import Settings

if __name__ == "__main__":
    run(ChatSeat(Settings.read()))
