"""Carries lines between standard input and output and a socket, for a person in a bot's place.

The relay runs it as a bot with `transport = "stdio"`: `python -m bots.remote.pipe SOCKET`. It starts for each
match, so it imports nothing else.
"""

import os
import socket
import sys
from threading import Thread

READ_BYTES = 65_536


def _carry(source: int, target: int) -> None:
    """Copy bytes until the source ends or the target takes no more."""
    try:
        while data := os.read(source, READ_BYTES):
            while data:
                data = data[os.write(target, data) :]
    except OSError:
        pass


def main() -> None:
    """Carry lines both ways until standard input or the socket ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as own:
        own.connect(sys.argv[1])
        Thread(target=_carry, args=(own.fileno(), sys.stdout.fileno()), daemon=True).start()
        _carry(sys.stdin.fileno(), own.fileno())


if __name__ == "__main__":
    main()
