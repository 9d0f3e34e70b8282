"""The other bot: it holds secrets wherever a bot may, says where, and tells when it is signalled."""

import ctypes
import json
import os
import signal
from contextlib import suppress

from .scene import FILE


def main() -> None:
    """Stays until it is ended."""
    with open(FILE, encoding="utf-8") as file:
        mark = json.load(file)["mark"]
    # Its token is the bait.
    bait = os.environ["ARENA_TOKEN"].encode()
    kept = ctypes.create_string_buffer(bait)
    with open(os.path.join(os.environ["TMPDIR"], mark), "wb") as file_in_scratch:
        file_in_scratch.write(bait)
    signal.signal(signal.SIGURG, lambda *_: _say({"signalled": True}))
    with suppress(OSError):
        # A terminal, where there are any: it stays open. `openpty` asks more, which the filter would refuse.
        os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
    _say({"process": os.getpid(), "address": ctypes.addressof(kept), "scratch": os.environ["TMPDIR"]})
    _say({"bait": bait.decode()})
    while True:
        signal.pause()


def _say(what: dict[str, object]) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")
