"""Prints each message that it reads, as it is, and plays."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    print(line, end="")  # noqa: T201 - that is what it does
    if message["type"] == "window":
        print(json.dumps({"type": "submit", "window": message["id"], "action": message["default"]}))  # noqa: T201 - that is what it does
