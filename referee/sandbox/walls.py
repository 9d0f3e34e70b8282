"""Lists the walls that this machine puts around a bot, and the bounds on the arena that apply to bots too."""

import os
import resource
import subprocess

from msgspec import Struct

from referee.bot_folder import Limits
from referee.linux import cgroups
from referee.sandbox import levels
from referee.sandbox.bwrap_args import resource_limits
from referee.sandbox.bwrap_user import NoUsersError, check_users, program
from referee.sandbox.levels import Isolation, find_layers
from referee.sandbox.process import AS_ORDINARY_USER, SandboxError, find_isolation
from referee.sandbox.unconfined import LIMITED

SHELLS = {
    "AS": ("bytes of address space", "v", 1024),
    "NPROC": ("processes", "u", 1),
    "FSIZE": ("bytes in a file", "f", 1024),
    "SIGPENDING": ("waiting signals", "i", 1),
}
"""Each bound's description, its letter in a shell's `ulimit`, and the unit of that letter. Open files are not
among them, because the process that plays needs more than any bot."""


class Wall(Struct, frozen=True, kw_only=True):
    """A wall around a bot."""

    name: str
    how: str
    """The means by which it is made here; "": it is missing."""
    lack: str
    """One line with the reason why it is missing, and the remedy; "": it is not missing."""


def find_walls() -> tuple[Wall, ...]:
    """Return the walls of this machine, which are tried out. Missing ones are reported in the result, not raised.

    Blocks for at most half a second if the machine is not busy.
    """
    try:
        find_isolation()
        no_sandbox = ""
    except (SandboxError, OSError) as error:
        no_sandbox = str(error)
    layers = find_layers()
    landlock = levels.landlock_version()
    return (
        _wall("namespaces", _bubblewrap(), no_sandbox),
        _users(),
        _wall("system calls", "a filter by libseccomp", layers.no_filter),
        _wall(
            "Landlock",
            f"version {landlock}",
            "" if landlock else "this kernel has none: Linux 5.13 or newer, with landlock in its lsm= list",
        ),
        _wall("memory, processes, processor time", _groups(layers.no_groups), layers.no_groups),
        _wall("freezer", "of the control groups", _no_freezer(layers.no_groups)),
    )


def _wall(name: str, how: str, lack: str | None) -> Wall:
    return Wall(name=name, how="" if lack else how, lack=lack or "")


def _users() -> Wall:
    """Return the wall of the bots' users."""
    if os.geteuid() != 0:
        return _wall("user of a bot", "yours, in a user namespace", "")
    try:
        check_users()
    except NoUsersError as error:
        return _wall("user of a bot", "", f"{error.strerror}; {AS_ORDINARY_USER}")
    return _wall("user of a bot", "a user id for each bot", "")


def _bubblewrap() -> str:
    try:
        told = subprocess.run([program("bwrap"), "--version"], capture_output=True, text=True, check=False)  # noqa: S603 - the sandbox's own
    except OSError:
        return "bubblewrap"
    return told.stdout.strip()


def _groups(no_groups: str | None) -> str:
    if no_groups is not None:
        return ""
    tree = cgroups.tree()
    return f"control groups of version {tree.version}, in {tree.places['memory'].parent}"


def _no_freezer(no_groups: str | None) -> str:
    if no_groups is not None:
        return "needs control groups"
    return "" if cgroups.FREEZER in cgroups.tree().places else "no control group has one"


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
