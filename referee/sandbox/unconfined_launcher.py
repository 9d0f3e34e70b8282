"""A program that becomes a bot without a sandbox: it ends with the arena, sets limits, and runs the command.

Run as `unconfined_launcher.py ARENA_PID NAME=LIMIT… -- COMMAND…`. It imports nothing of this project, to be quick.
"""

import ctypes
import os
import resource
import signal
import sys

SET_PDEATHSIG = 1
SET_CHILD_SUBREAPER = 36
SET_NO_NEW_PRIVS = 38
COMMAND_NOT_RUN = 127


def main() -> None:
    """Become the command, or exit."""
    arena, rest = int(sys.argv[1]), sys.argv[2:]
    split = rest.index("--")
    limits, command = rest[:split], rest[split + 1 :]
    prctl = ctypes.CDLL(None).prctl
    prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != arena:
        # The arena ended before this process was bound to it.
        sys.exit(1)
    # Its orphans become its children, so that they are found when it is killed.
    prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for limit in limits:
        name, value = limit.split("=")
        kind, wanted = getattr(resource, f"RLIMIT_{name}"), int(value)
        most = resource.getrlimit(kind)[1]
        # SIGXCPU shows the cause; SIGKILL follows a second later.
        bounds = wanted, wanted + (kind == resource.RLIMIT_CPU)
        if most != resource.RLIM_INFINITY:
            bounds = min(bounds[0], most), min(bounds[1], most)
        resource.setrlimit(kind, bounds)
    try:
        os.execvp(command[0], command)  # noqa: S606 - this is the door
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(COMMAND_NOT_RUN)


main()
