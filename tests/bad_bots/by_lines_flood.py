"""Prints lines without end, which are no messages, and reads nothing."""

import os

while True:
    os.write(1, 60 * b"x\n" + 60_000 * b"y" + b"\n")
