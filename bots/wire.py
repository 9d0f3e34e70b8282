"""A bot's end of its line: one blocking ZeroMQ PAIR socket. The kit alone uses it."""

import zmq

SILENCE_MS = 1_000
"""After so long without a frame, the kit looks whether the referee is still there."""
LINGER_MS = 1_000
"""How long the last words may take to leave after the bot is done."""


class WireLine:
    """A line over ZeroMQ: the one PAIR socket of this bot."""

    def __init__(self, endpoint: str) -> None:
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._context.socket(zmq.PAIR)
        self._socket.setsockopt(zmq.LINGER, LINGER_MS)
        self._socket.setsockopt(zmq.RCVTIMEO, SILENCE_MS)
        self._hangups: zmq.Socket[bytes] = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._socket.connect(endpoint)

    def send(self, frame: bytes) -> None:
        """Gives a frame to ZeroMQ."""
        self._socket.send(frame)

    def receive(self) -> bytes | None:
        """Waits for the next frame; None when the referee is gone and all it sent is read."""
        while True:
            try:
                return self._socket.recv()
            except zmq.Again:
                if self._hangups.poll(0):
                    return self._last()

    def _last(self) -> bytes | None:
        """What came before the referee went, and after we last looked."""
        try:
            return self._socket.recv(zmq.NOBLOCK)
        except zmq.Again:
            return None

    def close(self) -> None:
        """Closes. Returns when what was said last has left, after at most LINGER_MS."""
        self._socket.disable_monitor()
        self._hangups.close()
        self._socket.close()
        self._context.term()
