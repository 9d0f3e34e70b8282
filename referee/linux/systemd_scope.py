"""systemd scopes: a part of the control groups in which this process may create groups of its own.

An ordinary user's session has no such part, and root's session shares its part with the shell. A process requests
a scope for itself from its user's manager (root from the system's) and is moved there without a restart. systemd
removes the scope when its last process has ended.
"""

import os
import pwd
import re
import secrets
import subprocess
import time
from contextlib import suppress
from pathlib import Path

IS_RUNNING = Path("/run/systemd/system")
"""A folder that exists only where systemd is the init of this machine or container."""
RUNTIME = Path("/run/user")
LINGER = Path("/var/lib/systemd/linger")
MANAGER = ("org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
START = ("StartTransientUnit", "ssa(sv)a(sa(sv))")
ANSWER_SECONDS = 5
MOVE_SECONDS = 5.0
"""Seconds to wait until systemd has moved the process. It takes 0.1 to 0.5 s on an idle machine."""
_USER_MANAGER = re.compile(r"/user@\d+\.service/")
_SERVICE = re.compile(r"/([^/]+\.service)(?:/|$)")


class NoScopeError(Exception):
    """systemd gives this process no scope. The text is one line with the cause and the command that helps."""


def enter_scope(name: str) -> None:
    """Have systemd move this process into a scope of its own, and block until it is there.

    Args:
        name: the scope's name, which this process's number follows.

    Raises:
        NoScopeError: there is no systemd or no user manager, or it refused; or this is a system service of an
        ordinary
            user, which would escape the service's limits, and end when that user logs out.
    """
    if not IS_RUNNING.is_dir():
        raise NoScopeError("this machine or container does not run systemd")
    if os.geteuid() != 0 and (left := service()):
        raise NoScopeError(f"{left} is not left for a scope of {_user()}'s, which ends with the last logout")
    unit = f"{name}-{os.getpid()}-{secrets.token_hex(4)}.scope"
    properties = ("4", "Description", "s", name, "PIDs", "au", "1", str(os.getpid()), "Delegate", "b", "true")
    collect = ("CollectMode", "s", "inactive-or-failed")
    bus = "--system" if os.geteuid() == 0 else "--user"
    command = ["busctl", bus, f"--timeout={ANSWER_SECONDS}", "--quiet", "call", *MANAGER, *START]
    try:
        asked = subprocess.run(  # noqa: S603 - systemd's own program, and our own words
            [*command, unit, "fail", *properties, *collect, "0"],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=2 * ANSWER_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise NoScopeError("busctl, a part of systemd, is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoScopeError(f"busctl: {error}") from None
    if asked.returncode:
        raise NoScopeError(_refusal(asked.stderr))
    give_up = time.monotonic() + MOVE_SECONDS
    while unit not in _own_path():
        if time.monotonic() > give_up:
            raise NoScopeError(f"systemd did not move this process into {unit} within {MOVE_SECONDS:.0f} s")
        time.sleep(0.005)


def is_delegated(place: Path) -> bool:
    """Return whether systemd has delegated a group, or one above it, to the processes in it."""
    for folder in (place, *place.parents):
        for attribute in ("user.delegate", "trusted.delegate"):
            with suppress(OSError):
                if os.getxattr(folder, attribute) == b"1":
                    return True
    return False


def ends_with_login() -> bool:
    """Return whether systemd ends this process some seconds after its user's last logout."""
    user = _user()
    return bool(_USER_MANAGER.search(_own_path())) and user != "root" and not (LINGER / user).exists()


def service() -> str:
    """Return the system's service that this process runs in, or ""."""
    path = _own_path()
    found = _SERVICE.search(path)
    return "" if found is None or _USER_MANAGER.search(path) else found[1]


def delegate_more(missing: str) -> str:
    """Return the command by which root delegates missing controllers to users' managers. `missing` names them."""
    return (
        f"systemd does not delegate {missing} to users here. As root: "
        "mkdir -p /etc/systemd/system/user@.service.d && "
        "printf '[Service]\\nDelegate=cpu memory pids\\n' > /etc/systemd/system/user@.service.d/delegate.conf && "
        f"systemctl daemon-reload && systemctl restart user@{os.geteuid()}"
    )


def _environment() -> dict[str, str]:
    """Return the environment for busctl, with the place of the user's bus, which `su` and `sudo` drop."""
    known = {name: os.environ[name] for name in ("PATH", "DBUS_SESSION_BUS_ADDRESS") if name in os.environ}
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"{RUNTIME}/{os.geteuid()}")
    return {**known, "XDG_RUNTIME_DIR": runtime, "LC_ALL": "C"}


def _refusal(said: str) -> str:
    line = " ".join(said.split()) or "busctl failed and said nothing"
    if os.geteuid() != 0 and not Path(_environment()["XDG_RUNTIME_DIR"], "bus").exists():
        return (
            f"systemd runs no manager for {_user()}; as root: loginctl enable-linger {_user()} "
            "(or log in at a console or by ssh, not by su)"
        )
    return f"systemd gives no scope: {line}"


def _own_path() -> str:
    """Return this process's group in the tree of version 2, or ""."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            return line[3:]
    return ""


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
