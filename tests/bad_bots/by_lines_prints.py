"""Prints a line for each message that it reads, and plays."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    print("got", message["type"])  # noqa: T201 - that is what it does
    if message["type"] == "window":
        print(json.dumps({"type": "submit", "window": message["id"], "action": message["default"]}))  # noqa: T201 - that is what it does
