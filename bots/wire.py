"""A bot's end of its line to the referee: one blocking ZeroMQ PAIR socket."""

import zmq

SILENCE_MS = 1_000
"""Milliseconds without a frame after which the kit checks that the referee is still connected."""
LINGER_MS = 1_000
"""Maximum milliseconds for sending the last messages when the line closes."""


class WireLine:
    """A line over the bot's ZeroMQ PAIR socket."""

    def __init__(self, endpoint: str) -> None:
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._context.socket(zmq.PAIR)
        self._socket.setsockopt(zmq.LINGER, LINGER_MS)
        self._socket.setsockopt(zmq.RCVTIMEO, SILENCE_MS)
        self._hangups: zmq.Socket[bytes] = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._socket.connect(endpoint)

    def send(self, frame: bytes) -> None:
        """Pass a frame to ZeroMQ."""
        self._socket.send(frame)

    def receive(self) -> bytes | None:
        """Wait for the next frame; return None when the referee has disconnected and all its frames are read."""
        while True:
            try:
                return self._socket.recv()
            except zmq.Again:
                if self._hangups.poll(0):
                    return self._last()

    def _last(self) -> bytes | None:
        """Return a frame that arrived between the last read and the disconnection, if any."""
        try:
            return self._socket.recv(zmq.NOBLOCK)
        except zmq.Again:
            return None

    def close(self) -> None:
        """Close the line; wait up to LINGER_MS until the last messages are sent."""
        self._socket.disable_monitor()
        self._hangups.close()
        self._socket.close()
        self._context.term()
