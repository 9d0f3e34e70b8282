"""Runs `python -m MODULE ARGUMENT…`, and ends it by a signal in the midst of it: LINES SIGNAL SECONDS MODULE ….

The signal comes so many seconds after so many lines of what plays matches were run, wherever the process is by
then: a slow machine is struck at the same places as a fast one.
"""

import runpy
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

HOUSE = Path(__file__).parents[2]
FIRST = (f"{HOUSE}/arena/tournament/results_folder.py", "held")
"""First function that touches the results; everything before it is the same each time."""
COUNTED = tuple(
    f"{HOUSE}/arena/{name}.py"
    for name in (
        "schedule/queue",
        "tournament/ledger",
        "sqlite_file",
        "tournament/results_folder",
        "tournament/runner",
        "workers/pool",
        "workers/protocol",
    )
)


class Lines:
    """Counts lines, in all threads."""

    def __init__(self, until: int, then: signal.Signals, seconds: float) -> None:
        self._left = until
        self._then = then
        self._seconds = seconds
        self._begun = False

    def call(self, frame: FrameType, event: str, argument: object) -> Any:
        """Return the function that counts lines where a call's lines are to be counted, else None."""
        code = frame.f_code
        self._begun = self._begun or (code.co_filename, code.co_name) == FIRST
        return self._line if self._begun and code.co_filename.startswith(COUNTED) else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        self._left -= 1
        if self._left == 0:
            self._strike()
        return self._line

    def _strike(self) -> None:
        if self._then is signal.SIGALRM:
            # Nobody handles it: the kernel ends the process at once, be it in the midst of a call of SQLite's.
            signal.setitimer(signal.ITIMER_REAL, self._seconds)
        else:
            signal.raise_signal(self._then)


lines = Lines(int(sys.argv[1]), signal.Signals[sys.argv[2]], float(sys.argv[3]))
sys.argv = sys.argv[4:]
threading.settrace(lines.call)
sys.settrace(lines.call)
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
