"""The arena at a terminal of its own, with somebody who types what is waited for."""

import os
import pty
import select
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.real_wire.processes import PATIENCE_SECONDS, alive, family, until

ROOT = Path(__file__).parents[2]
CTRL_C = "\x03"


def typed(steps: Sequence[tuple[str, str]], *arguments: str | Path, again: str = "") -> tuple[str, int]:
    """Type answers to the arena at a terminal; return what it shows, and its exit code. `steps`: awaited, answer.

    Nothing of it is left running. `again`: typed once more, after the steps, whenever nothing came for a second:
    on a busy machine two Ctrl-C may be too far apart to end it.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(  # noqa: S606 - our own interpreter, and our own words
            sys.executable, [sys.executable, "-m", "arena", *map(str, arguments)], os.environ | {"TERM": "dumb"}
        )
    processes: set[str] = set()
    shown, seen = "", 0
    try:
        for awaited, answer in steps:
            while (at := shown.find(awaited, seen)) < 0:
                more = _more(terminal, shown)
                assert more, shown
                shown += more
            seen = at + len(awaited)
            processes |= family(pid)
            os.write(terminal, answer.encode())
        while more := _more(terminal, shown, again):
            shown += more
        _, status = os.waitpid(pid, 0)
        pid = 0
    finally:
        if pid:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(terminal)
    until(lambda: not alive(processes))
    return shown.replace("\r\n", "\n"), os.waitstatus_to_exitcode(status)


def _more(terminal: int, shown: str, again: str = "") -> str:
    """Read what is shown next; return "" once the terminal is closed."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not select.select([terminal], [], [], 1)[0]:
        assert time.monotonic() < give_up, shown
        os.write(terminal, again.encode())
    try:
        return os.read(terminal, 65_536).decode(errors="replace")
    except OSError:
        return ""
