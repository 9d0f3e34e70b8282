"""Ends in its first window, before it has said anything."""

import sys

for line in sys.stdin:
    if '"type":"window"' in line:
        sys.exit("cannot decide")
