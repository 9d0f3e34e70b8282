"""The walls that this machine can put around a bot, and what to do where one is missing.

Finds the best level of isolation, lists the walls, and names the bounds on the arena that apply to bots too. Each
error names the missing part and the remedy.
"""

import os
import re
import resource
import subprocess
from pathlib import Path

from msgspec import Struct

from referee.bot_folder import Limits
from referee.linux import cgroups
from referee.linux.cgroups import NoGroupError
from referee.sandbox import bwrap, host_machine
from referee.sandbox.bwrap_args import NoUsersError, check_users, program, resource_limits
from referee.sandbox.host_machine import Isolation, find_layers
from referee.sandbox.unconfined import LIMITED

SHELLS = {
    "AS": ("bytes of address space", "v", 1024),
    "NPROC": ("processes", "u", 1),
    "FSIZE": ("bytes in a file", "f", 1024),
    "SIGPENDING": ("waiting signals", "i", 1),
}
"""Each bound's description, its letter in a shell's `ulimit`, and the unit of that letter. Open files are not
among them, because the process that plays needs more than any bot."""
LESS = "or ask for less: --isolation standard"
OTHERWISE = "or run bots that you trust without any isolation: --isolation none"
INSTALL = f"install bubblewrap and util-linux (apt install bubblewrap; dnf install bubblewrap), {OTHERWISE}"
AS_ORDINARY_USER = (
    "start the arena as an ordinary user (unshare --user --map-user=1000 --map-group=1000 arena ...)"
)
READABLE = (
    f"as root, bots run as users of their own: chmod -R o+rX, or start the arena as an ordinary user, {OTHERWISE}"
)
_OF_RIGHTS = re.compile(r"namespace|uid map|[Pp]ermission|not permitted")
"""Words in a complaint of bubblewrap that may be caused by a setup of the machine."""
SETTINGS = Path("/proc/sys")
CONTAINERS = ("docker", "podman", "containerd", "kubepods", "lxc")
MANY = 15_000
"""The number of user namespaces that root is advised to allow: more than the number of bots at once."""


class SandboxError(Exception):
    """This machine cannot provide the sandbox: no fault of a bot.

    The text names the missing part and the remedy.
    """


def no_sandbox(said: str) -> SandboxError:
    """Return the error for a sandbox that bubblewrap could not create, given its complaint in one line."""
    helps = f"{what_forbids()}, {OTHERWISE}" if _OF_RIGHTS.search(said) else OTHERWISE
    return SandboxError(f"no sandbox: bubblewrap says: {said}; {helps}")


def find_isolation() -> Isolation:
    """Return the best level of this machine, by trying. It is never `none`, which must be requested.

    Raises:
        SandboxError: there is no sandbox; the text is one line on how to get it.
        OSError: no process or descriptor is available.
    """
    try:
        complaint = bwrap.probe()
    except OSError as error:
        raise cannot(error) from None
    except subprocess.TimeoutExpired as error:
        raise SandboxError(
            f"no sandbox: one that was tried did not start within {error.timeout:.0f} s: this machine is too busy"
        ) from None
    if complaint is not None:
        raise no_sandbox(complaint)
    return "standard" if missing() else "strict"


def missing() -> tuple[str, ...]:
    """Return the promises of `strict` that this machine cannot keep besides bubblewrap's, each with the remedy."""
    layers = find_layers()
    return tuple(
        f"{promise}: {lack}"
        for promise, lack in (
            ("system calls cannot be bounded", layers.no_filter),
            ("memory and processor time cannot be bounded", layers.no_groups),
        )
        if lack is not None
    )


def demand(isolation: Isolation) -> None:
    """Check that a level is available, as far as possible without starting a bot.

    Raises:
        SandboxError: it is not. The text is one line with the missing part and the remedy.
    """
    if isolation == "strict" and (lacks := missing()):
        try:
            find_isolation()
            helps = LESS
        except SandboxError as error:
            helps = f"and {error}"
        except OSError:
            helps = LESS  # The machine is out of a resource at the moment.
        raise SandboxError(f"no strict sandbox: {'; '.join(lacks)}; {helps}")


def cannot(error: OSError) -> Exception:
    """Return the error to raise for an OSError in the making of a sandbox; a shortage is returned as it is."""
    match error:
        case NoGroupError():
            return SandboxError(
                f"no sandbox: {error.filename}: no control group can be made there: {error.strerror}; {LESS}"
            )
        case NoUsersError():
            return SandboxError(f"no sandbox: {error.strerror}; {AS_ORDINARY_USER}, {OTHERWISE}")
        case FileNotFoundError():
            return SandboxError(f"no sandbox: {error.filename} is not installed; {INSTALL}")
        case PermissionError():
            return SandboxError(f"no sandbox: {error.filename}: {error.strerror}; {READABLE}")
        case OSError(errno=0):
            return no_sandbox(f"{error.filename}: {error.strerror}")
        case _:
            return error


def what_forbids() -> str:
    """Return one line with the first setting that forbids user namespaces, and root's command to allow them.

    If no setting does, the line names another likely cause: a container, or a bubblewrap that is too old.
    """
    if _setting("user/max_user_namespaces") == "0":
        return f"user.max_user_namespaces is 0; as root: sysctl -w user.max_user_namespaces={MANY}"
    if os.geteuid() != 0 and _setting("kernel/unprivileged_userns_clone") == "0":
        return "kernel.unprivileged_userns_clone is 0; as root: sysctl -w kernel.unprivileged_userns_clone=1"
    if os.geteuid() != 0 and _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor allows user namespaces only to programs that it has a profile for; "
            "as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        )
    if is_container():
        return (
            "this container may make no user namespaces; start it with "
            "--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
            "--security-opt systempaths=unconfined"
        )
    return "no setting of the kernel forbids user namespaces; bubblewrap 0.8 or newer is needed"


def is_container() -> bool:
    """Return whether this process runs in a container, as far as it can be recognised."""
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return True
    groups = Path("/proc/1/cgroup").read_text() if os.access("/proc/1/cgroup", os.R_OK) else ""
    return any(name in groups for name in CONTAINERS)


def _setting(path: str) -> str:
    """Return a setting of the kernel, or "" if it has none of that name."""
    try:
        return (SETTINGS / path).read_text().strip()
    except OSError:
        return ""


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
    landlock = host_machine.landlock_version()
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
