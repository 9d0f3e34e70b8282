"""Finds the walls that this machine can put around a bot besides bubblewrap's namespaces, once, by trying them."""

import ctypes
from functools import cache
from typing import Literal

from msgspec import Struct

from referee.bot_folder import Limits
from referee.linux import cgroups, seccomp, systemd_scope

CREATE_RULESET = 444
"""Landlock's system call, which has the same number on all architectures."""
ASK_FOR_VERSION = 1
Isolation = Literal["strict", "standard", "none"]
"""The level of a bot's isolation. `process` describes what each level promises."""


class Layers(Struct, frozen=True, kw_only=True):
    """The walls of this machine. For each missing one there is a line with the cause and the remedy."""

    no_filter: str | None
    """The reason why system calls cannot be filtered; None: they can."""
    no_groups: str | None
    """The reason why there are no control groups; None: there are."""


@cache
def find_layers() -> Layers:
    """Return the walls of this machine. Missing ones are reported in the result, not raised."""
    no_filter = no_groups = None
    try:
        seccomp.program()
    except seccomp.NoFilterError as error:
        no_filter = str(error)
    try:
        cgroups.tree()
    except cgroups.NoGroupsError as error:
        no_groups = str(error)
    return Layers(no_filter=no_filter, no_groups=no_groups)


@cache
def landlock_version() -> int:
    """Return the version of Landlock's interface, from 1; 0 if the kernel has none, or has it disabled."""
    answer: int = ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, ASK_FOR_VERSION)
    return max(answer, 0)


def is_in_use() -> bool:
    """Return whether this process has looked for walls, as it does before it starts a bot."""
    return find_layers.cache_info().currsize > 0


def ends_with_login(isolation: Isolation) -> bool:
    """Return whether systemd ends this process, and its bots, some seconds after its user's last logout.

    That is the case in a scope of the user, which this call enters if bots at this level need it.
    """
    if isolation == "none" or not systemd_scope.IS_RUNNING.is_dir():
        return False
    find_layers()
    return systemd_scope.ends_with_login()


def processes_beyond(layers: Layers) -> int:
    """Return how many processes the bot's user may have besides the bot's own.

    With control groups there are some, so that the group's bound is met first: it counts how often.
    """
    return cgroups.OWN_PROCESSES if layers.no_groups is None else 0


def group_for(limits: Limits) -> cgroups.ControlGroup:
    """Return an empty control group for a bot. Its scratch folders are in memory, and count as such.

    Raises:
        NoGroupsError: this machine has no control groups.
        OSError: the kernel creates no more.
    """
    memory_mb = limits.memory_mb + limits.scratch_mb
    return cgroups.ControlGroup(memory_mb=memory_mb, cpus=limits.cpus, processes=limits.processes)
