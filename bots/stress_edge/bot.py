"""Test bot of `arena stress`: it answers at chosen moments around the end of its time, and prints the real times.

Each line of its output describes one window: its number, the planned moment of the answer relative to the end of
main time (ms; null: at once), the real time from the window's arrival to the answer (microseconds), and the number
of notes sent as a flood.
"""

import json
import time

from bots.kit import Window, run
from protocol.messages import Note

MOMENTS = (None, None, -20, -5, -1, 1, 5, 20)
FLOOD, HOW_OFTEN = 30, 0.2


def decide(window: Window[object]) -> None:
    """Submit at the chosen moment, because the kit's own answer would follow only after the return."""
    heard = time.monotonic()
    moment = window.rng.choice(MOMENTS)
    flood = FLOOD if window.rng.random() < HOW_OFTEN else 0
    for _ in range(flood):
        window.say(Note(text="a flood"))
    if moment is not None:
        time.sleep(max(0.0, window.deadline + moment / 1000 - time.monotonic()))
    window.submit(window.default, final=True)
    after = round((time.monotonic() - heard) * 1_000_000)
    print(json.dumps({"window": window.id, "moment": moment, "after": after, "flood": flood}), flush=True)


if __name__ == "__main__":
    run(decide)
