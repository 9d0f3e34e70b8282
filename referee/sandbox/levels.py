"""Which walls this machine can put around a bot, beside bubblewrap's namespaces; found out once, by trying."""

from functools import cache
from typing import Literal

from msgspec import Struct

from referee.bot_folder import Limits
from referee.linux import cgroups, seccomp, systemd_scope

Isolation = Literal["strict", "standard", "none"]
"""How bots are shut in; `process` says what each level promises."""


class Layers(Struct, frozen=True, kw_only=True):
    """What there is; where something is not, one line on why, and what helps."""

    no_filter: str | None
    """Why system calls cannot be filtered; None: they are."""
    no_groups: str | None
    """Why there are no control groups; None: there are."""


@cache
def find_layers() -> Layers:
    """This machine's. Nothing is raised: what is missing is said in what is returned."""
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


def is_in_use() -> bool:
    """Return whether this process has looked for walls: all that starts a bot does so first."""
    return find_layers.cache_info().currsize > 0


def ends_with_login(isolation: Isolation) -> bool:
    """Return whether systemd ends this process, and its bots, some seconds after its user's last logout.

    That is so in a scope of the user's, which this call enters if bots at this level will need it.
    """
    if isolation == "none" or not systemd_scope.IS_RUNNING.is_dir():
        return False
    find_layers()
    return systemd_scope.ends_with_login()


def processes_beyond(layers: Layers) -> int:
    """Return how many processes more than the bot's own its user may have.

    Some, where there are control groups: so theirs is the bound that is met first, and they count how often.
    """
    return cgroups.OWN_PROCESSES if layers.no_groups is None else 0


def group_for(limits: Limits) -> cgroups.Group:
    """An empty control group for a bot: its scratch folders are in memory, and count as such.

    Raises:
        NoGroupsError: there are none on this machine.
        OSError: the kernel makes no more.
    """
    memory_mb = limits.memory_mb + limits.scratch_mb
    return cgroups.Group(memory_mb=memory_mb, cpus=limits.cpus, processes=limits.processes)
