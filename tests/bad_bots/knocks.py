"""Connects and hangs up again, as fast as it is let."""

import time
from contextlib import suppress

from raw import Bare

with suppress(FileNotFoundError):
    while True:
        with suppress(ConnectionError):
            Bare(opened=False).socket.close()
time.sleep(3600)
