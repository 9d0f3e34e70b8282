"""Finds the setting that forbids this user to create user namespaces, which bubblewrap needs."""

import os
from pathlib import Path

SETTINGS = Path("/proc/sys")
CONTAINERS = ("docker", "podman", "containerd", "kubepods", "lxc")
MANY = 15_000
"""The number of user namespaces that root is advised to allow: more than the number of bots at once."""


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
