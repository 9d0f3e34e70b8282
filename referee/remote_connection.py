"""One connection of a bot on its author's own machine, and what is on its way out."""

import socket as kernel

import trio

from referee.zmtp import Conversation


class Connection:
    """One connection whose other end has proved who it is."""

    def __init__(self, socket: kernel.socket, conversation: Conversation) -> None:
        """`socket`: does not block. `conversation`: open."""
        self.socket = socket
        self.conversation = conversation
        self.leaving = bytearray(conversation.answer())
        """Sealed, and not yet with the kernel."""
        self.leaving_timed = 0
        """How many frames of it owe a `HandedOver`."""
        self.heard = trio.current_time()
        """When the last byte came."""
        self.over = trio.CancelScope()

    def end(self) -> None:
        """It is over, for whatever reason."""
        self.over.cancel()
