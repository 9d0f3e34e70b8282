"""Checks bots' limits against the bounds of the arena's own process, which apply to bots too."""

import resource

from referee.bot_folder import Limits
from referee.sandbox.bwrap_args import resource_limits
from referee.sandbox.levels import Isolation
from referee.sandbox.unconfined import LIMITED

SHELLS = {
    "AS": ("bytes of address space", "v", 1024),
    "NPROC": ("processes", "u", 1),
    "FSIZE": ("bytes in a file", "f", 1024),
    "SIGPENDING": ("waiting signals", "i", 1),
}
"""Each bound's description, its letter in a shell's `ulimit`, and the unit of that letter. Open files are not
among them, because the process that plays needs more than any bot."""


def kept_from(limits: Limits, isolation: Isolation) -> str | None:
    """Return one line on the bound that keeps a bot from what its limits promise; None: there is none."""
    for name, promised in resource_limits(limits, others=0):
        if name not in SHELLS or (isolation == "none" and name not in LIMITED):
            continue
        hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
        if hard != resource.RLIM_INFINITY and hard < promised:
            what, letter, unit = SHELLS[name]
            return (
                f"by its limits it may have {promised} {what}, and this machine allows {hard}: "
                f"ulimit -H{letter} {-(-promised // unit)} is needed"
            )
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard != resource.RLIM_INFINITY and (limits.cpu_seconds is None or hard < limits.cpu_seconds):
        return f"this machine ends a process after {hard} s of processor time: ulimit -Ht unlimited is needed"
    return None
