"""The other bot: it stores secrets in every place open to a bot, and reports the places and any signal."""

import ctypes
import json
import os
import signal
from contextlib import suppress

from .attempt import FILE, say


def main() -> None:
    """Store the secrets, report them, and wait to be killed."""
    with open(FILE, encoding="utf-8") as file:
        mark = json.load(file)["mark"]
    # Its token is the bait.
    bait = os.environ["ARENA_TOKEN"].encode()
    kept = ctypes.create_string_buffer(bait)
    with open(os.path.join(os.environ["TMPDIR"], mark), "wb") as file_in_scratch:
        file_in_scratch.write(bait)
    signal.signal(signal.SIGURG, lambda *_: say({"signalled": True}))
    with suppress(OSError):
        # Open a terminal, if there are any. The filter would refuse the further calls of `openpty`.
        os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
    say({"process": os.getpid(), "address": ctypes.addressof(kept), "scratch": os.environ["TMPDIR"]})
    say({"bait": bait.decode()})
    while True:
        signal.pause()
