"""Lists the walls that this machine puts around a bot: the means of each, or why it is missing and the remedy."""

import os
import subprocess

from msgspec import Struct

from referee.linux import cgroups
from referee.sandbox import landlock
from referee.sandbox.bwrap_user import NoUsersError, check_users, program
from referee.sandbox.levels import find_layers
from referee.sandbox.process import AS_ORDINARY_USER, SandboxError, find_isolation


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
    landlock_version = landlock.version()
    return (
        _wall("namespaces", _bubblewrap(), no_sandbox),
        _users(),
        _wall("system calls", "a filter by libseccomp", layers.no_filter),
        _wall(
            "Landlock",
            f"version {landlock_version}",
            ""
            if landlock_version
            else "this kernel has none: Linux 5.13 or newer, with landlock in its lsm= list",
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
