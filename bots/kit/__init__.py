"""The kit for bot authors: it connects, decodes messages, calls the bot and sends its answers.

A bot is a function from an open window to an action, or a `Bot`, which also receives events:

    from bots.kit import run

    def decide(window):
        return {"cells": ["C3"]}

    run(decide)
"""

from bots.kit.bot import Bot, FunctionBot, OnError, Window, after
from bots.kit.program import Transport, play, play_on, rehearse, run
from bots.kit.session import CallWatch, MessageTooLargeError, Session, error_text

__all__ = [
    "Bot",
    "CallWatch",
    "FunctionBot",
    "MessageTooLargeError",
    "OnError",
    "Session",
    "Transport",
    "Window",
    "after",
    "error_text",
    "play",
    "play_on",
    "rehearse",
    "run",
]
